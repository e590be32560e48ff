package ledger

import "context"

// Forgetter deletes rehearsal sales: every item of the sale, its trail included.
type Forgetter interface {
	// ForgetRehearsal deletes everything that the ledger keeps of a sale whose id
	// is marked (sale.IsRehearsal); of any other it deletes nothing and returns an
	// error. The control item and the sale's place in the list go last, so a walk
	// that broke off is found again and the same call finishes it. removed counts
	// the items of this call; a sale that is not there is no error.
	ForgetRehearsal(ctx context.Context, saleID string) (removed int, err error)
}

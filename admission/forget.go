package admission

import "context"

// Forgetter deletes rehearsal sales from Redis.
type Forgetter interface {
	// ForgetRehearsal deletes every key of a sale whose id is marked
	// (sale.IsRehearsal); of any other it deletes nothing and returns an error.
	// Without an error nothing of the sale was left. Safe to call again: it goes on
	// where it broke off.
	ForgetRehearsal(ctx context.Context, saleID string) (removed int, err error)
}

package dynamo

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
)

// PutStatus implements ledger.StatusStore.
func (s *Store) PutStatus(ctx context.Context, saleID string, epoch, n int64, doc []byte) error {
	it := saleKey(saleID, statusRow).item()
	it["epoch"], it["n"], it["doc"] = num(epoch), num(n), binary(doc)
	e := newExpression()
	newer := either(e.compare("epoch", "<", num(epoch)), both(e.compare("epoch", "=", num(epoch)), e.compare("n", "<", num(n))))
	e.require(either(e.absent(PartitionKey), newer))
	err := s.putIf(ctx, "publish the status of sale "+saleID, it, e)
	if conditionalFailure(err) {
		return fmt.Errorf("status %d.%d of sale %s: %w", epoch, n, saleID, ledger.ErrStale)
	}
	return err
}

// StatusDoc implements ledger.StatusStore.
func (s *Store) StatusDoc(ctx context.Context, saleID string) (doc []byte, epoch, n int64, err error) {
	it, err := s.get(ctx, saleKey(saleID, statusRow))
	if err != nil {
		return nil, 0, 0, err
	}
	r := &reader{item: it}
	return r.binary("doc"), r.num("epoch"), r.num("n"), r.err
}

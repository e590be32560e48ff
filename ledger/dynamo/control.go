package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
)

// Sales implements ledger.ControlStore; in the order of their names.
func (s *Store) Sales(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.rows(ctx, directory, "", func(it item) error {
		r := &reader{item: it}
		ids = append(ids, r.str(SortKey))
		return r.err
	})
	return ids, err
}

// Control implements ledger.ControlStore.
func (s *Store) Control(ctx context.Context, saleID string) (ledger.Control, error) {
	it, err := s.get(ctx, saleKey(saleID, controlRow))
	if err != nil {
		return ledger.Control{}, err
	}
	return readControl(it, saleID)
}

// CreateControl implements ledger.ControlStore; the directory of sales gets its
// entry in the same write.
func (s *Store) CreateControl(ctx context.Context, c ledger.Control) error {
	writer := rand.Text()
	c.Rev = 1
	it, err := controlItem(c, writer)
	if err != nil {
		return err
	}
	e := newExpression()
	e.require(e.absent(PartitionKey))
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		s.put(it, e),
		{Put: &types.Put{TableName: s.table, Item: key{directory, c.Sale}.item()}},
	}}
	err = s.patiently(ctx, "create the control item of sale "+c.Sale, func() error {
		_, err := s.client.TransactWriteItems(ctx, in)
		return err
	})
	if !conditionFailed(reasons(err)) {
		return err
	}
	if ours, err := s.wrote(ctx, c.Sale, writer); ours || err != nil {
		return err
	}
	return fmt.Errorf("sale %s: %w", c.Sale, ledger.ErrExists)
}

// rounds bounds the tries of an update against others. Each round that is lost
// is another update that was made.
const rounds = 100

// UpdateControl implements ledger.ControlStore.
func (s *Store) UpdateControl(ctx context.Context, saleID string, change func(*ledger.Control) error) (ledger.Control, error) {
	for round := 1; round <= rounds; round++ {
		c, err := s.Control(ctx, saleID)
		if err != nil {
			return ledger.Control{}, err
		}
		rev := c.Rev
		if err := change(&c); err != nil {
			return ledger.Control{}, err
		}
		c.Sale, c.Rev = saleID, rev+1
		c.RebuilderUntil = ledger.Instant(c.RebuilderUntil)
		if c.CapIntent != nil {
			c.CapIntent.At = ledger.Instant(c.CapIntent.At)
		}
		if written, err := s.replaceControl(ctx, c, rev); written || err != nil {
			return c, err
		}
		if err := s.pause(ctx, backoff(round)); err != nil {
			return ledger.Control{}, err
		}
	}
	return ledger.Control{}, fmt.Errorf("update the control item of sale %s: others were faster %d times: %w", saleID, rounds, ledger.ErrBusy)
}

// replaceControl writes c if the item is still at revision rev.
func (s *Store) replaceControl(ctx context.Context, c ledger.Control, rev int64) (written bool, err error) {
	writer := rand.Text()
	it, err := controlItem(c, writer)
	if err != nil {
		return false, err
	}
	e := newExpression()
	e.require(e.compare("rev", "=", num(rev)))
	err = s.putIf(ctx, "update the control item of sale "+c.Sale, it, e)
	if !conditionalFailure(err) {
		return err == nil, err
	}
	return s.wrote(ctx, c.Sale, writer)
}

// wrote reports whether the control item is this writer's: a write that an
// attempt of the SDK repeated fails on its own success (protocol.md 1.7).
func (s *Store) wrote(ctx context.Context, saleID, writer string) (bool, error) {
	it, err := s.get(ctx, saleKey(saleID, controlRow))
	if err != nil {
		return false, err
	}
	r := &reader{item: it}
	return r.str("writer") == writer, r.err
}

// putIf puts one row if the condition holds.
func (s *Store) putIf(ctx context.Context, what string, it item, e *expression) error {
	in := &dynamodb.PutItemInput{TableName: s.table, Item: it, ConditionExpression: e.condition()}
	if in.ConditionExpression != nil {
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
	}
	return s.patiently(ctx, what, func() error {
		_, err := s.client.PutItem(ctx, in)
		return err
	})
}

func conditionalFailure(err error) bool {
	var failed *types.ConditionalCheckFailedException
	return errors.As(err, &failed)
}

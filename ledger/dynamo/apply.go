package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
)

// Apply implements ledger.Store with one TransactWriteItems. No outcome leans
// on ClientRequestToken, which the SDK fills anew for each call: after a lost
// answer the repeat meets its own work and says so in Found.
func (s *Store) Apply(ctx context.Context, t ledger.Transition) error {
	actions := s.actions(t)
	in := &dynamodb.TransactWriteItemsInput{}
	for _, a := range actions {
		in.TransactItems = append(in.TransactItems, a.write)
	}
	what := fmt.Sprintf("write %s of booking %s", t.Name, t.BookingID())
	err := s.patiently(ctx, what, func() error {
		_, err := s.client.TransactWriteItems(ctx, in)
		return err
	})
	met := reasons(err)
	if !conditionFailed(met) {
		return err
	}
	found, err := s.found(ctx, actions, met)
	if err != nil {
		return fmt.Errorf("%s: a condition does not hold, but what is there cannot be read: %w", what, err)
	}
	return &ledger.ConditionError{Name: t.Name, Found: found}
}

func conditionFailed(all []types.CancellationReason) bool {
	for _, r := range all {
		if aws.ToString(r.Code) == "ConditionalCheckFailed" {
			return true
		}
	}
	return false
}

// found tells what every item of the transition was. Those whose condition
// failed came with the answer; the others, and those that the answer lacks
// because the item is absent or the service sends none, are read in one
// consistent snapshot.
func (s *Store) found(ctx context.Context, actions []action, met []types.CancellationReason) (ledger.Found, error) {
	f := ledger.Found{Seats: map[string]string{}}
	var unknown []action
	for i, a := range actions {
		if i >= len(met) || len(met[i].Item) == 0 {
			unknown = append(unknown, a)
			continue
		}
		if err := a.into(&f, met[i].Item); err != nil {
			return f, err
		}
	}
	if len(unknown) == 0 {
		return f, nil
	}
	keys := make([]key, len(unknown))
	for i, a := range unknown {
		keys[i] = a.key
	}
	items, err := s.snapshot(ctx, keys)
	if err != nil {
		return f, err
	}
	for i, a := range unknown {
		if err := a.into(&f, items[i]); err != nil {
			return f, err
		}
	}
	return f, nil
}

// snapshot reads up to 100 rows as they were at one moment; nil where there is
// none.
func (s *Store) snapshot(ctx context.Context, keys []key) ([]item, error) {
	in := &dynamodb.TransactGetItemsInput{}
	for _, k := range keys {
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: s.table, Key: k.item()}})
	}
	items := make([]item, len(keys))
	err := s.patiently(ctx, "read what is there", func() error {
		out, err := s.client.TransactGetItems(ctx, in)
		if err != nil {
			return err
		}
		if len(out.Responses) != len(keys) {
			return fmt.Errorf("%d rows for %d keys", len(out.Responses), len(keys))
		}
		for i, r := range out.Responses {
			if len(r.Item) > 0 {
				items[i] = r.Item
			}
		}
		return nil
	})
	return items, err
}

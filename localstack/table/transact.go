package table

import (
	"errors"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/localstack/fault"
)

// DynamoDB's limits on one transaction: actions, bytes of all items, and
// characters of its token.
const (
	maxActions          = 100
	maxToken            = 36
	maxTransactionBytes = 4 << 20
)

// TransactWriteItems applies all actions or none. Errors: CodeTransactionCanceled
// with one Reason per action, CodeTokenMismatch, CodeValidation.
func (db *DB) TransactWriteItems(in TransactWriteItemsInput) (TransactWriteItemsOutput, error) {
	var out TransactWriteItemsOutput
	if n := len(in.TransactItems); n == 0 || n > maxActions {
		return out, invalid("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100 and greater than or equal to 1; it has %d", n)
	}
	if len(in.ClientRequestToken) > maxToken {
		return out, invalid("1 validation error detected: Value at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36")
	}
	requests := make([]writeRequest, len(in.TransactItems))
	for i, action := range in.TransactItems {
		var err error
		if requests[i], err = action.request(); err != nil {
			return out, err
		}
	}
	return call(db, "TransactWriteItems", requests[0].table, len(requests), func(fault.Verdict) (TransactWriteItemsOutput, error) {
		writes, err := db.prepareAll(requests)
		if err != nil {
			return out, err
		}
		for _, r := range requests {
			if c := capacity(in.ReturnConsumedCapacity, r.table, 2); c != nil {
				out.ConsumedCapacity = append(out.ConsumedCapacity, *c)
			}
		}
		return out, db.transact(writes, requests, in.ClientRequestToken)
	})
}

func (db *DB) prepareAll(requests []writeRequest) ([]*write, error) {
	writes := make([]*write, len(requests))
	seen := map[string]bool{}
	for i, request := range requests {
		w, err := db.prepare(request)
		if err != nil {
			return nil, err
		}
		id := w.state.name + "\x00" + w.storage
		if seen[id] {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[id] = true
		writes[i] = w
	}
	return writes, nil
}

func (db *DB) transact(writes []*write, requests []writeRequest, token string) error {
	states := make([]*state, len(writes))
	for i, w := range writes {
		states[i] = w.state
	}
	defer lockAll(states)()
	if token != "" {
		done, err := db.tokens.reserve(token, fingerprint(requests), db.options.Now())
		if done || err != nil {
			return err
		}
	}
	if err := evaluateAll(writes); err != nil {
		if token != "" {
			db.tokens.release(token)
		}
		return err
	}
	for _, w := range writes {
		w.commit(db)
	}
	return nil
}

// evaluateAll evaluates every action, so that each gets its reason. Nothing is
// written yet, and no two actions share an item, so their order is no matter.
func evaluateAll(writes []*write) error {
	reasons, failed, size := make([]Reason, len(writes)), false, 0
	for i, w := range writes {
		reasons[i].Code = ReasonNone
		var refusal *Error
		if errors.As(w.evaluate(), &refusal) {
			failed = true
			reasons[i] = Reason{Code: ReasonValidation, Message: refusal.Message}
			if refusal.Code == CodeConditionFailed {
				reasons[i] = Reason{Code: ReasonConditionFailed, Message: refusal.Message, Item: refusal.Item}
			}
		}
		if w.now != nil {
			size += w.now.size
		}
	}
	if failed {
		return canceled(reasons)
	}
	if size > maxTransactionBytes {
		return invalid("Transaction request cannot exceed the aggregated item size of 4194304 bytes; it has %d", size)
	}
	return nil
}

// lockAll locks each table once, in the order of names so that no two
// transactions wait for each other.
func lockAll(states []*state) (unlock func()) {
	states = distinct(states)
	for _, t := range states {
		t.mu.Lock()
	}
	return func() {
		for _, t := range states {
			t.mu.Unlock()
		}
	}
}

func distinct(states []*state) []*state {
	states = slices.Clone(states)
	slices.SortFunc(states, func(a, b *state) int { return strings.Compare(a.name, b.name) })
	return slices.Compact(states)
}

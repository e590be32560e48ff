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

// Put is the action of a transaction that writes a whole item.
type Put struct {
	TableName                           string
	Item                                Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// Update is the action that changes attributes of an item.
type Update struct {
	TableName                           string
	Key                                 Item
	UpdateExpression                    string
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// Delete is the action that removes an item.
type Delete struct {
	TableName                           string
	Key                                 Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// ConditionCheck is the action that writes nothing, but must hold.
type ConditionCheck struct {
	TableName                           string
	Key                                 Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// TransactWriteItem is one action; exactly one field is set.
type TransactWriteItem struct {
	Put            *Put
	Update         *Update
	Delete         *Delete
	ConditionCheck *ConditionCheck
}

// TransactWriteItemsInput is up to 100 actions on different items.
type TransactWriteItemsInput struct {
	TransactItems []TransactWriteItem
	// ClientRequestToken makes the same call succeed without effect for 10
	// minutes after it succeeded. Empty: no such protection.
	ClientRequestToken     string
	ReturnConsumedCapacity string
}

// TransactWriteItemsOutput answers a transaction that was applied.
type TransactWriteItemsOutput struct {
	ConsumedCapacity []Capacity `json:",omitempty"`
}

func (a TransactWriteItem) request() (writeRequest, error) {
	var all []writeRequest
	if p := a.Put; p != nil {
		all = append(all, writeRequest{kind: writePut, table: p.TableName, item: p.Item, condition: p.ConditionExpression,
			names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues, returnOld: p.ReturnValuesOnConditionCheckFailure})
	}
	if u := a.Update; u != nil {
		if u.UpdateExpression == "" {
			return writeRequest{}, invalid("1 validation error detected: Value null at 'updateExpression' failed to satisfy constraint: Member must not be null")
		}
		all = append(all, writeRequest{kind: writeUpdate, table: u.TableName, key: u.Key, update: u.UpdateExpression, condition: u.ConditionExpression,
			names: u.ExpressionAttributeNames, values: u.ExpressionAttributeValues, returnOld: u.ReturnValuesOnConditionCheckFailure})
	}
	if d := a.Delete; d != nil {
		all = append(all, writeRequest{kind: writeDelete, table: d.TableName, key: d.Key, condition: d.ConditionExpression,
			names: d.ExpressionAttributeNames, values: d.ExpressionAttributeValues, returnOld: d.ReturnValuesOnConditionCheckFailure})
	}
	if c := a.ConditionCheck; c != nil {
		all = append(all, writeRequest{kind: writeCheck, table: c.TableName, key: c.Key, condition: c.ConditionExpression,
			names: c.ExpressionAttributeNames, values: c.ExpressionAttributeValues, returnOld: c.ReturnValuesOnConditionCheckFailure})
	}
	if len(all) != 1 {
		return writeRequest{}, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return all[0], nil
}

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

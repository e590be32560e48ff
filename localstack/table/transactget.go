package table

import "github.com/holdfast/holdfast/localstack/fault"

// Get is the action of a TransactGetItems.
type Get struct {
	TableName                string
	Key                      Item
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
}

// TransactGetItem wraps a Get, as the API does.
type TransactGetItem struct{ Get *Get }

// TransactGetItemsInput reads up to 100 items as of one instant.
type TransactGetItemsInput struct {
	TransactItems          []TransactGetItem
	ReturnConsumedCapacity string
}

// ItemResponse has a nil Item if there is none.
type ItemResponse struct {
	Item Item `json:",omitzero"`
}

// TransactGetItemsOutput has one response per Get, in order.
type TransactGetItemsOutput struct {
	Responses        []ItemResponse
	ConsumedCapacity []Capacity `json:",omitempty"`
}

// TransactGetItems reads a snapshot: no transaction is seen half-applied.
func (db *DB) TransactGetItems(in TransactGetItemsInput) (TransactGetItemsOutput, error) {
	var out TransactGetItemsOutput
	if n := len(in.TransactItems); n == 0 || n > maxActions {
		return out, invalid("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100 and greater than or equal to 1; it has %d", n)
	}
	for _, action := range in.TransactItems {
		if action.Get == nil {
			return out, invalid("1 validation error detected: Value null at 'transactItems.member.get' failed to satisfy constraint: Member must not be null")
		}
	}
	table := in.TransactItems[0].Get.TableName
	return call(db, "TransactGetItems", table, len(in.TransactItems), func(fault.Verdict) (TransactGetItemsOutput, error) {
		return db.transactGet(in)
	})
}

func (db *DB) transactGet(in TransactGetItemsInput) (out TransactGetItemsOutput, err error) {
	gets := make([]get, len(in.TransactItems))
	states := make([]*state, len(gets))
	seen := map[string]bool{}
	for i, action := range in.TransactItems {
		gets[i], err = db.prepareGet(GetItemInput{
			TableName: action.Get.TableName, Key: action.Get.Key, ConsistentRead: true,
			ProjectionExpression: action.Get.ProjectionExpression, ExpressionAttributeNames: action.Get.ExpressionAttributeNames,
		})
		if err != nil {
			return out, err
		}
		states[i] = gets[i].state
		id := states[i].name + "\x00" + gets[i].storage
		if seen[id] {
			return out, invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[id] = true
	}
	for _, t := range distinct(states) {
		t.mu.RLock()
		defer t.mu.RUnlock()
	}
	size := 0
	for i, g := range gets {
		item := g.read()
		size += item.Size()
		out.Responses = append(out.Responses, ItemResponse{item})
		if c := capacity(in.ReturnConsumedCapacity, in.TransactItems[i].Get.TableName, 2); c != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, *c)
		}
	}
	if size > maxTransactionBytes {
		return TransactGetItemsOutput{}, invalid("Transaction request cannot exceed the aggregated item size of 4194304 bytes; it has %d", size)
	}
	return out, nil
}

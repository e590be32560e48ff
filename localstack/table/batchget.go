package table

import "github.com/holdfast/holdfast/localstack/fault"

// KeysAndAttributes are the keys to read from one table.
type KeysAndAttributes struct {
	Keys                     []Item
	ConsistentRead           bool              `json:",omitempty"`
	ProjectionExpression     string            `json:",omitempty"`
	ExpressionAttributeNames map[string]string `json:",omitempty"`
}

// BatchGetItemInput is up to 100 keys, by table.
type BatchGetItemInput struct {
	RequestItems           map[string]KeysAndAttributes
	ReturnConsumedCapacity string
}

// BatchGetItemOutput has the items that exist, in the order of their keys, and
// the keys that were not read (16 MB of items, or a fault); ask for them again.
type BatchGetItemOutput struct {
	Responses        map[string][]Item
	UnprocessedKeys  map[string]KeysAndAttributes
	ConsumedCapacity []Capacity `json:",omitempty"`
}

// BatchGetItem reads each item on its own: it is not a snapshot.
func (db *DB) BatchGetItem(in BatchGetItemInput) (BatchGetItemOutput, error) {
	return call(db, "BatchGetItem", firstKey(in.RequestItems), 0, func(verdict fault.Verdict) (BatchGetItemOutput, error) {
		out := BatchGetItemOutput{Responses: map[string][]Item{}, UnprocessedKeys: map[string]KeysAndAttributes{}}
		gets, err := db.prepareGets(in)
		if err != nil {
			return out, err
		}
		size, at := 0, 0
		for _, table := range sortedKeys(in.RequestItems) {
			asked := in.RequestItems[table]
			out.Responses[table] = []Item{}
			left := KeysAndAttributes{nil, asked.ConsistentRead, asked.ProjectionExpression, asked.ExpressionAttributeNames}
			for _, key := range asked.Keys {
				if verdict.Fails(at) || size > maxBatchBytes {
					left.Keys = append(left.Keys, key)
				} else if item := gets[at].run(db); item != nil {
					size += item.Size()
					out.Responses[table] = append(out.Responses[table], item)
				}
				at++
			}
			if len(left.Keys) > 0 {
				out.UnprocessedKeys[table] = left
			}
			if c := capacity(in.ReturnConsumedCapacity, table, float64(len(asked.Keys))/2); c != nil {
				out.ConsumedCapacity = append(out.ConsumedCapacity, *c)
			}
		}
		return out, nil
	})
}

// run is a whole read of its own.
func (g get) run(db *DB) Item {
	unlock := g.state.readLock(db)
	defer unlock()
	return g.read()
}

func (db *DB) prepareGets(in BatchGetItemInput) ([]get, error) {
	var gets []get
	seen := map[string]bool{}
	for _, table := range sortedKeys(in.RequestItems) {
		asked := in.RequestItems[table]
		for _, key := range asked.Keys {
			g, err := db.prepareGet(GetItemInput{
				TableName: table, Key: key, ConsistentRead: asked.ConsistentRead,
				ProjectionExpression: asked.ProjectionExpression, ExpressionAttributeNames: asked.ExpressionAttributeNames,
			})
			if err != nil {
				return nil, err
			}
			id := g.state.name + "\x00" + g.storage
			if seen[id] {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
			seen[id] = true
			gets = append(gets, g)
		}
	}
	if len(gets) == 0 || len(gets) > maxBatchKeys {
		return nil, invalid("1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to 100, Member must have length greater than or equal to 1]; it has %d", len(gets))
	}
	return gets, nil
}

// firstKey names the table of a batch for the fault plan.
func firstKey[V any](m map[string]V) string {
	if keys := sortedKeys(m); len(keys) > 0 {
		return keys[0]
	}
	return ""
}

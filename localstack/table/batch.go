package table

import "github.com/holdfast/holdfast/localstack/fault"

// DynamoDB's limits on batches.
const (
	maxBatchWrites = 25
	maxBatchKeys   = 100
	maxBatchBytes  = 16 << 20
)

// WriteRequest is one entry of a batch; exactly one field is set.
type WriteRequest struct {
	PutRequest    *PutRequest    `json:",omitempty"`
	DeleteRequest *DeleteRequest `json:",omitempty"`
}

// PutRequest writes a whole item.
type PutRequest struct{ Item Item }

// DeleteRequest removes an item.
type DeleteRequest struct{ Key Item }

// BatchWriteItemInput is up to 25 unconditional writes, by table.
type BatchWriteItemInput struct {
	RequestItems           map[string][]WriteRequest
	ReturnConsumedCapacity string
}

// BatchWriteItemOutput lists what a fault left undone; send it again.
type BatchWriteItemOutput struct {
	UnprocessedItems map[string][]WriteRequest
	ConsumedCapacity []Capacity `json:",omitempty"`
}

// BatchWriteItem applies each write on its own: it is not a transaction.
func (db *DB) BatchWriteItem(in BatchWriteItemInput) (BatchWriteItemOutput, error) {
	return call(db, "BatchWriteItem", firstKey(in.RequestItems), 0, func(verdict fault.Verdict) (BatchWriteItemOutput, error) {
		out := BatchWriteItemOutput{UnprocessedItems: map[string][]WriteRequest{}}
		writes, err := db.prepareBatch(in)
		if err != nil {
			return out, err
		}
		at := 0
		for _, table := range sortedKeys(in.RequestItems) {
			for _, request := range in.RequestItems[table] {
				if verdict.Fails(at) {
					out.UnprocessedItems[table] = append(out.UnprocessedItems[table], request)
				} else if err := writes[at].run(db); err != nil {
					return BatchWriteItemOutput{}, err
				}
				at++
			}
			if c := capacity(in.ReturnConsumedCapacity, table, float64(len(in.RequestItems[table]))); c != nil {
				out.ConsumedCapacity = append(out.ConsumedCapacity, *c)
			}
		}
		return out, nil
	})
}

// run is a whole write of its own.
func (w *write) run(db *DB) error {
	w.state.mu.Lock()
	defer w.state.mu.Unlock()
	err := w.evaluate()
	if err == nil {
		w.commit(db)
	}
	return err
}

func (db *DB) prepareBatch(in BatchWriteItemInput) ([]*write, error) {
	var writes []*write
	seen := map[string]bool{}
	for _, table := range sortedKeys(in.RequestItems) {
		for _, request := range in.RequestItems[table] {
			r := writeRequest{table: table}
			switch {
			case request.PutRequest != nil && request.DeleteRequest == nil:
				r.kind, r.item = writePut, request.PutRequest.Item
			case request.DeleteRequest != nil && request.PutRequest == nil:
				r.kind, r.key = writeDelete, request.DeleteRequest.Key
			default:
				return nil, invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of PutRequest and DeleteRequest")
			}
			w, err := db.prepare(r)
			if err != nil {
				return nil, err
			}
			id := w.state.name + "\x00" + w.storage
			if seen[id] {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
			seen[id] = true
			writes = append(writes, w)
		}
	}
	if len(writes) == 0 || len(writes) > maxBatchWrites {
		return nil, invalid("1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]; it has %d", len(writes))
	}
	return writes, nil
}

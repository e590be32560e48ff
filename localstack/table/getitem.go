package table

import "github.com/holdfast/holdfast/localstack/fault"

// GetItemInput reads one item by its key.
type GetItemInput struct {
	TableName                string
	Key                      Item
	ConsistentRead           bool
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
	ReturnConsumedCapacity   string
}

// GetItemOutput has a nil Item if there is none.
type GetItemOutput struct {
	Item             Item      `json:",omitzero"`
	ConsumedCapacity *Capacity `json:",omitempty"`
}

// GetItem reads one item. Without ConsistentRead it may be as old as Options.Lag
// makes it.
func (db *DB) GetItem(in GetItemInput) (GetItemOutput, error) {
	return call(db, "GetItem", in.TableName, 0, func(fault.Verdict) (GetItemOutput, error) {
		g, err := db.prepareGet(in)
		if err != nil {
			return GetItemOutput{}, err
		}
		unlock := g.state.readLock(db)
		defer unlock()
		return GetItemOutput{g.read(), capacity(in.ReturnConsumedCapacity, in.TableName, 1)}, nil
	})
}

// get is a well-formed read of one item.
type get struct {
	state      *state
	storage    string
	consistent bool
	shown      *projection
}

func (db *DB) prepareGet(in GetItemInput) (get, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return get{}, err
	}
	b := bind(in.ExpressionAttributeNames, nil)
	shown, err := parseProjection(in.ProjectionExpression, b)
	if err == nil {
		err = b.checkUsed()
	}
	if err == nil {
		err = t.main.schema.checkKey(in.Key)
	}
	storage, _ := t.main.schema.storageKey(in.Key)
	return get{t, storage, in.ConsistentRead, shown}, err
}

// read finds the item; the table must be locked.
func (g get) read() Item {
	v, _ := g.state.view("", g.consistent) // the table itself is always there
	if r := v.rows.get(g.storage); r != nil {
		return g.shown.of(r.item)
	}
	return nil
}

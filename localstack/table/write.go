package table

// maxItem is DynamoDB's limit on an item, in bytes.
const maxItem = 400 << 10

type writeKind uint8

const (
	writePut writeKind = iota
	writeUpdate
	writeDelete
	writeCheck // only in a transaction
)

// writeRequest is what all writes have in common.
type writeRequest struct {
	kind       writeKind
	table      string
	item       Item // put
	key        Item // the others
	condition  string
	update     string
	names      map[string]string
	values     Item
	returnOld  string // ReturnValuesOnConditionCheckFailure
	returnWhat string // ReturnValues
}

// write is a request that was found well-formed, on its way through
// prepare (no lock), evaluate (table locked) and commit (still locked).
type write struct {
	writeRequest
	state    *state
	storage  string
	when     condition
	actions  []action
	old, now *row
}

func (db *DB) prepare(request writeRequest) (*write, error) {
	w := &write{writeRequest: request}
	var err error
	if w.state, err = db.table(w.table); err != nil {
		return nil, err
	}
	if err = checkChoice("returnValuesOnConditionCheckFailure", w.returnOld, "ALL_OLD", "NONE"); err != nil {
		return nil, err
	}
	if err = w.parse(); err != nil {
		return nil, err
	}
	key := w.key
	if w.kind == writePut {
		key, err = w.item, w.state.main.schema.check(w.item)
	} else {
		err = w.state.main.schema.checkKey(w.key)
	}
	if err != nil {
		return nil, err
	}
	w.storage, _ = w.state.main.schema.storageKey(key)
	return w, Map(w.item).check(0)
}

func (w *write) parse() (err error) {
	b := bind(w.names, w.values)
	if w.condition != "" {
		if w.when, err = parseCondition("ConditionExpression", w.condition, b); err != nil {
			return err
		}
	} else if w.kind == writeCheck {
		return invalid("1 validation error detected: Value null at 'conditionExpression' failed to satisfy constraint: Member must not be null")
	}
	if w.update != "" {
		if w.actions, err = parseUpdate(w.update, b); err != nil {
			return err
		}
	}
	for _, a := range w.actions {
		if name := a.path[0].name; w.state.main.schema.has(name) {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	for _, value := range sortedKeys(w.values) {
		if err := w.values[value].check(0); err != nil {
			return err
		}
	}
	return b.checkUsed()
}

// evaluate checks the condition and computes the new row.
func (w *write) evaluate() error {
	w.old = w.state.main.rows.get(w.storage)
	var present Item
	if w.old != nil {
		present = w.old.item
	}
	if w.when != nil && !w.when.holds(present) {
		if w.returnOld == "ALL_OLD" {
			return conditionFailed(present)
		}
		return conditionFailed(nil)
	}
	switch w.kind {
	case writePut:
		return w.become(w.item)
	case writeUpdate:
		if present == nil {
			present = w.key
		}
		changed, err := apply(present, w.actions)
		if err != nil {
			return err
		}
		return w.become(changed)
	}
	return nil // a delete leaves no row; a check writes none
}

// become makes item the new row if the table's indexes and limits allow it.
func (w *write) become(item Item) error {
	for _, index := range w.state.indexes {
		for _, attribute := range index.schema.attributes() {
			v, ok := item[attribute.name]
			if !ok {
				continue
			}
			if v.kind != attribute.kind {
				return invalid("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", attribute.name, attribute.kind, v.kind, index.name)
			}
			if err := attribute.check(v); err != nil {
				return err
			}
		}
	}
	w.now = &row{item: item, size: item.Size()}
	if w.now.size > maxItem {
		if w.kind == writeUpdate {
			return invalid("Item size to update has exceeded the maximum allowed size")
		}
		return invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

func (w *write) commit(db *DB) {
	if w.kind != writeCheck {
		w.state.put(db, w.storage, w.old, w.now)
	}
}

func (db *DB) writeOne(request writeRequest) (*write, error) {
	w, err := db.prepare(request)
	if err != nil {
		return nil, err
	}
	w.state.mu.Lock()
	defer w.state.mu.Unlock()
	if err := w.evaluate(); err != nil {
		return nil, err
	}
	w.commit(db)
	return w, nil
}

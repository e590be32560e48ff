package table

import "time"

// view is one ordered copy of a table's rows: the table itself, an index, or
// the stale copy that eventually consistent reads see. Changes reach a view
// with a lag at their time, in the order in which they were made.
type view struct {
	name       string // "" for the table
	definition IndexDefinition
	schema     schema
	shown      *projection // nil: all attributes
	rows       ordered
	pending    []change
}

// change is a write that has not reached the view yet. A nil row removes.
type change struct {
	due time.Time
	key string
	row *row
}

// keyFor is the row's storage key in this view; primary is its key in the
// table. Index keys end with it, so that equal sort keys don't collide.
func (v *view) keyFor(r *row, primary string) (string, bool) {
	if r == nil {
		return "", false
	}
	if v.name == "" {
		return primary, true
	}
	key, ok := v.schema.storageKey(r.item)
	return key + primary, ok
}

// apply moves the view from the old row to the new one; either may be nil.
// due is when readers shall see it (zero: at once).
func (v *view) apply(primary string, old, now *row, due time.Time) {
	oldKey, had := v.keyFor(old, primary)
	newKey, has := v.keyFor(now, primary)
	if had && (!has || oldKey != newKey) {
		v.put(change{due, oldKey, nil})
	}
	if has {
		v.put(change{due, newKey, now})
	}
}

func (v *view) put(c change) {
	if c.due.IsZero() && len(v.pending) == 0 {
		v.write(c)
		return
	}
	v.pending = append(v.pending, c)
}

func (v *view) write(c change) {
	if c.row == nil {
		v.rows.remove(c.key)
	} else {
		v.rows.set(c.key, c.row)
	}
}

// settle applies what is due, in order: nothing overtakes a change before it.
func (v *view) settle(now time.Time) {
	n := 0
	for n < len(v.pending) && !v.pending[n].due.After(now) {
		v.write(v.pending[n])
		n++
	}
	if n > 0 {
		v.pending = append([]change(nil), v.pending[n:]...)
	}
}

// lastKey is the LastEvaluatedKey for a page that ended at this item.
func (v *view) lastKey(table schema, item Item) Item {
	key := table.keyOf(item)
	for _, attribute := range v.schema.attributes() {
		key[attribute.name] = item[attribute.name]
	}
	return key
}

// startKey is the storage key of an ExclusiveStartKey.
func (v *view) startKey(table schema, start Item) (string, error) {
	wrong := invalid("The provided starting key is invalid")
	names := map[string]bool{}
	for _, attribute := range append(table.attributes(), v.schema.attributes()...) {
		names[attribute.name] = true
		if start[attribute.name].kind != attribute.kind {
			return "", wrong
		}
	}
	if len(start) != len(names) {
		return "", wrong
	}
	primary, _ := table.storageKey(start)
	key, _ := v.keyFor(&row{item: start}, primary)
	return key, nil
}

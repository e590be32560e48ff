package table

import (
	"maps"
	"slices"
)

// actionKind is the section of an update expression that an action stands in.
type actionKind uint8

const (
	actionSet actionKind = iota
	actionRemove
	actionAdd
	actionDelete
)

// action is one change of an update expression.
type action struct {
	kind  actionKind
	path  path
	value updateValue // nil for actionRemove
}

// updateValue computes a value from the item as it was before the update.
type updateValue interface{ from(Item) (Value, error) }

type (
	literalValue Value
	pathValue    path
	ifNotExists  struct {
		path     path
		fallback updateValue
	}
	listAppend struct{ left, right updateValue }
	sum        struct {
		left, right updateValue
		minus       bool
	}
)

func (v literalValue) from(Item) (Value, error) { return Value(v), nil }

func (p pathValue) from(item Item) (Value, error) {
	v := path(p).in(item)
	if v.absent() {
		return v, noAttribute
	}
	return v, nil
}

func (f ifNotExists) from(item Item) (Value, error) {
	if v := f.path.in(item); !v.absent() {
		return v, nil
	}
	return f.fallback.from(item)
}

func (f listAppend) from(item Item) (Value, error) {
	left, right, err := both(f.left, f.right, item)
	if err != nil {
		return Value{}, err
	}
	if left.kind != KindL || right.kind != KindL {
		return Value{}, wrongOperand
	}
	return List(slices.Concat(left.Values(), right.Values())...), nil
}

func (f sum) from(item Item) (Value, error) {
	left, right, err := both(f.left, f.right, item)
	if err != nil {
		return Value{}, err
	}
	if left.kind != KindN || right.kind != KindN {
		return Value{}, wrongOperand
	}
	d := right.decimal()
	if f.minus {
		d = d.negated()
	}
	return addNumbers(left.decimal(), d)
}

func addNumbers(a, b decimal) (Value, error) {
	d, err := a.plus(b)
	return Value{kind: KindN, text: d.String()}, err
}

func both(left, right updateValue, item Item) (l, r Value, err error) {
	if l, err = left.from(item); err == nil {
		r, err = right.from(item)
	}
	return l, r, err
}

// apply is the item after the actions. All values are computed from the item
// as it was; then SET, ADD and DELETE happen, and REMOVE last, with the
// indexes that list elements had before.
func apply(old Item, actions []action) (Item, error) {
	changed := Map(maps.Clone(old))
	var removed []path
	for _, a := range actions {
		if a.kind == actionRemove {
			removed = append(removed, a.path)
			continue
		}
		v, err := a.result(old)
		if err != nil {
			return nil, err
		}
		if v.absent() { // a set that lost its last member
			removed = append(removed, a.path)
			continue
		}
		var ok bool
		if changed, ok = changed.withChild(a.path, v); !ok {
			return nil, wrongPath
		}
	}
	slices.SortStableFunc(removed, func(p, q path) int { // the highest index first
		return q[len(q)-1].index - p[len(p)-1].index
	})
	for _, p := range removed {
		var ok bool
		if changed, ok = changed.withChild(p, Value{}); !ok {
			return nil, wrongPath
		}
	}
	return changed.Attributes(), nil
}

// result is what the action puts at its path; absent means "remove it".
func (a action) result(old Item) (Value, error) {
	v, err := a.value.from(old)
	if err != nil || a.kind == actionSet {
		return v, err
	}
	present := a.path.in(old)
	switch {
	case a.kind == actionAdd && v.kind == KindN:
		if present.absent() {
			return v, nil
		}
		if present.kind != KindN {
			return v, wrongOperand
		}
		return addNumbers(present.decimal(), v.decimal())
	case present.absent():
		if a.kind == actionDelete {
			return present, nil
		}
		return v, nil
	case present.kind != v.kind:
		return v, wrongOperand
	case a.kind == actionAdd:
		return withMembers(v.kind, slices.Concat(present.Members(), v.Members())), nil
	}
	kept := slices.DeleteFunc(slices.Clone(present.Members()), func(member string) bool {
		return slices.Contains(v.Members(), member)
	})
	return withMembers(v.kind, kept), nil
}

// withMembers is a set of canonical members, repeats allowed; absent if empty.
func withMembers(kind Kind, members []string) Value {
	if len(members) == 0 {
		return Value{}
	}
	slices.Sort(members)
	return Value{kind: kind, box: &box{set: slices.Compact(members)}}
}

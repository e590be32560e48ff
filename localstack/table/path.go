package table

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// step goes into a map by name, or into a list by index.
type step struct {
	name    string
	index   int
	isIndex bool
}

// path is a document path; its first step is an attribute of the item.
type path []step

func (p path) String() string {
	var text strings.Builder
	for i, s := range p {
		switch {
		case s.isIndex:
			text.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			text.WriteString("." + s.name)
		default:
			text.WriteString(s.name)
		}
	}
	return text.String()
}

// in is the value at the path in the item, or the absent Value.
func (p path) in(item Item) Value {
	v := item[p[0].name]
	for _, s := range p[1:] {
		v = v.child(s)
	}
	return v
}

func (v Value) child(s step) Value {
	switch {
	case s.isIndex && v.kind == KindL && s.index < len(v.box.list):
		return v.box.list[s.index]
	case !s.isIndex && v.kind == KindM:
		return v.box.item[s.name]
	}
	return Value{}
}

// within tells whether p is q, or lies below it.
func (p path) within(q path) bool {
	return len(p) >= len(q) && slices.Equal(p[:len(q)], q)
}

// checkOverlap refuses paths of which one lies within another, as DynamoDB does.
func checkOverlap(what string, paths []path) error {
	for i, p := range paths {
		for _, q := range paths[:i] {
			if p.within(q) || q.within(p) {
				return invalid("Invalid %s: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [%s], path two: [%s]",
					what, q.listed(), p.listed())
			}
		}
	}
	return nil
}

// listed is how DynamoDB prints a path in an error: "a, b, [1]".
func (p path) listed() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = path{s}.String()
	}
	return strings.Join(parts, ", ")
}

// withChild is v with the value at the path below it replaced, or removed if
// the new value is absent. v itself stays as it is. A list grows by one when
// the index is beyond its end. ok is false where the path leads nowhere.
func (v Value) withChild(below path, value Value) (changed Value, ok bool) {
	if len(below) == 0 {
		return value, true
	}
	s := below[0]
	switch {
	case s.isIndex && v.kind == KindL:
		return v.withElement(s.index, below, value)
	case !s.isIndex && v.kind == KindM:
		child, ok := v.box.item[s.name].withChild(below[1:], value)
		if !ok {
			return v, false
		}
		return Map(v.box.item.with(s.name, child)), true
	}
	return v, false
}

func (v Value) withElement(index int, below path, value Value) (Value, bool) {
	list := v.box.list
	if index >= len(list) {
		if len(below) > 1 {
			return v, false
		}
		if value.absent() {
			return v, true // nothing there to remove
		}
		return List(append(slices.Clone(list), value)...), true
	}
	element, ok := list[index].withChild(below[1:], value)
	if !ok {
		return v, false
	}
	list = slices.Clone(list)
	if element.absent() {
		return List(slices.Delete(list, index, index+1)...), true
	}
	list[index] = element
	return List(list...), true
}

// with is a copy of the item with one attribute replaced, or removed if v is
// absent.
func (it Item) with(name string, v Value) Item {
	changed := maps.Clone(it)
	if changed == nil {
		changed = Item{}
	}
	if v.absent() {
		delete(changed, name)
	} else {
		changed[name] = v
	}
	return changed
}

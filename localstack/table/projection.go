package table

import "slices"

// projection is a tree of the paths to keep. A node without children keeps
// everything below it.
type projection struct {
	names   map[string]*projection
	indexes map[int]*projection
}

// parseProjection reads a projection expression; "" keeps all (nil).
func parseProjection(source string, b *bindings) (*projection, error) {
	if source == "" {
		return nil, nil
	}
	p := newParser("ProjectionExpression", source, b)
	paths := []path{p.path()}
	for p.accept(",") {
		paths = append(paths, p.path())
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return projectPaths(paths), checkOverlap("ProjectionExpression", paths)
}

func projectPaths(paths []path) *projection {
	root := &projection{}
	for _, p := range paths {
		node := root
		for _, s := range p {
			node = node.child(s)
		}
	}
	return root
}

func (t *projection) child(s step) *projection {
	if s.isIndex {
		if t.indexes == nil {
			t.indexes = map[int]*projection{}
		}
		return childOf(t.indexes, s.index)
	}
	if t.names == nil {
		t.names = map[string]*projection{}
	}
	return childOf(t.names, s.name)
}

func childOf[K comparable](children map[K]*projection, key K) *projection {
	if children[key] == nil {
		children[key] = &projection{}
	}
	return children[key]
}

// of is the part of the item that the projection keeps; a nil projection
// keeps the item itself.
func (t *projection) of(item Item) Item {
	if t == nil || item == nil {
		return item
	}
	kept := Item{}
	for name, child := range t.names {
		if v := child.part(item[name]); !v.absent() {
			kept[name] = v
		}
	}
	return kept
}

// part is what is kept of a value; absent if that is nothing. The elements
// kept of a list move together, in their order.
func (t *projection) part(v Value) Value {
	switch {
	case v.absent() || t.names == nil && t.indexes == nil:
		return v
	case v.kind == KindM && t.names != nil:
		if kept := t.of(v.Attributes()); len(kept) > 0 {
			return Map(kept)
		}
	case v.kind == KindL && t.indexes != nil:
		return t.elements(v.Values())
	}
	return Value{}
}

func (t *projection) elements(list []Value) Value {
	indexes := make([]int, 0, len(t.indexes))
	for index := range t.indexes {
		indexes = append(indexes, index)
	}
	slices.Sort(indexes)
	var kept []Value
	for _, index := range indexes {
		if index < len(list) {
			if v := t.indexes[index].part(list[index]); !v.absent() {
				kept = append(kept, v)
			}
		}
	}
	if kept == nil {
		return Value{}
	}
	return List(kept...)
}

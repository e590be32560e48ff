package table

import (
	"slices"
	"strings"
)

// condition is a parsed condition or filter. Evaluating it never fails: what
// doesn't fit (an absent attribute, another type) makes it false.
type condition interface{ holds(Item) bool }

type (
	andCondition     struct{ left, right condition }
	orCondition      struct{ left, right condition }
	notCondition     struct{ inner condition }
	compareCondition struct {
		operator    string
		left, right operand
	}
	betweenCondition struct{ value, low, high operand }
	inCondition      struct {
		value operand
		list  []operand
	}
	existsCondition struct {
		path path
		want bool
	}
	typeCondition struct {
		path path
		kind Kind
	}
	beginsCondition   struct{ value, prefix operand }
	containsCondition struct{ value, part operand }
)

// operand is a literal, a path, or size(path).
type operand struct {
	path    path
	literal Value
	isSize  bool
}

func (o operand) in(item Item) Value {
	v := o.literal
	if o.path != nil {
		v = o.path.in(item)
	}
	if !o.isSize {
		return v
	}
	if n, ok := v.length(); ok {
		return Int(int64(n))
	}
	return Value{}
}

func (c andCondition) holds(item Item) bool { return c.left.holds(item) && c.right.holds(item) }
func (c orCondition) holds(item Item) bool  { return c.left.holds(item) || c.right.holds(item) }
func (c notCondition) holds(item Item) bool { return !c.inner.holds(item) }

func (c compareCondition) holds(item Item) bool {
	left, right := c.left.in(item), c.right.in(item)
	switch c.operator {
	case "=":
		return left.Equal(right)
	case "<>": // an absent attribute differs from everything, another absent one included
		return !left.Equal(right)
	}
	order, ok := left.compare(right)
	return ok && ordersAs(c.operator, order)
}

func ordersAs(operator string, order int) bool {
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func (c betweenCondition) holds(item Item) bool {
	v := c.value.in(item)
	low, lowOK := v.compare(c.low.in(item))
	high, highOK := v.compare(c.high.in(item))
	return lowOK && highOK && low >= 0 && high <= 0
}

func (c inCondition) holds(item Item) bool {
	v := c.value.in(item)
	return slices.ContainsFunc(c.list, func(o operand) bool { return v.Equal(o.in(item)) })
}

func (c existsCondition) holds(item Item) bool { return !c.path.in(item).absent() == c.want }

func (c typeCondition) holds(item Item) bool { return c.path.in(item).kind == c.kind }

func (c beginsCondition) holds(item Item) bool {
	v, prefix := c.value.in(item), c.prefix.in(item)
	return v.kind == prefix.kind && (v.kind == KindS || v.kind == KindB) && strings.HasPrefix(v.text, prefix.text)
}

func (c containsCondition) holds(item Item) bool {
	return c.value.in(item).contains(c.part.in(item))
}

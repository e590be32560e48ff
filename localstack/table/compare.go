package table

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Equal tells whether two values are the same to DynamoDB: same type, numbers
// by value, sets without regard to order.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind || v.absent() {
		return false
	}
	switch v.kind {
	case KindBool:
		return v.flag == w.flag
	case KindSS, KindNS, KindBS:
		return slices.Equal(v.box.set, w.box.set)
	case KindL:
		return slices.EqualFunc(v.Values(), w.Values(), Value.Equal)
	case KindM:
		return v.Attributes().Equal(w.Attributes())
	}
	return v.text == w.text // canonical, so numbers too
}

// Equal tells whether two items hold the same attributes.
func (it Item) Equal(other Item) bool { return maps.EqualFunc(it, other, Value.Equal) }

// compare orders two strings, numbers or binaries; ok is false for anything
// that DynamoDB does not order.
func (v Value) compare(w Value) (order int, ok bool) {
	if v.kind != w.kind {
		return 0, false
	}
	switch v.kind {
	case KindS, KindB:
		return strings.Compare(v.text, w.text), true
	case KindN:
		return v.decimal().compare(w.decimal()), true
	}
	return 0, false
}

// decimal reads the canonical text of an N, which cannot fail.
func (v Value) decimal() decimal {
	d, _ := parseDecimal(v.text)
	return d
}

// contains is DynamoDB's contains(): a substring, a set member, a list element.
func (v Value) contains(w Value) bool {
	switch {
	case v.kind == KindS && w.kind == KindS, v.kind == KindB && w.kind == KindB:
		return strings.Contains(v.text, w.text)
	case v.kind == KindSS && w.kind == KindS, v.kind == KindNS && w.kind == KindN, v.kind == KindBS && w.kind == KindB:
		return slices.Contains(v.box.set, w.text)
	case v.kind == KindL:
		return slices.ContainsFunc(v.Values(), w.Equal)
	}
	return false
}

// length is DynamoDB's size(): characters, bytes, members, elements or entries.
func (v Value) length() (n int, ok bool) {
	switch v.kind {
	case KindS:
		return utf8.RuneCountInString(v.text), true
	case KindB:
		return len(v.text), true
	case KindSS, KindNS, KindBS:
		return len(v.box.set), true
	case KindL:
		return len(v.Values()), true
	case KindM:
		return len(v.Attributes()), true
	}
	return 0, false
}

// maxDepth is DynamoDB's limit on nested lists and maps.
const maxDepth = 32

// check refuses what no item may hold: absent values and too deep nesting.
func (v Value) check(depth int) error {
	if v.absent() {
		return invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	if depth > maxDepth {
		return invalid("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
	}
	for _, element := range v.Values() {
		if err := element.check(depth + 1); err != nil {
			return err
		}
	}
	for name, element := range v.Attributes() {
		if name == "" && depth == 0 {
			return invalid("One or more parameter values were invalid: An attribute name may not be empty")
		}
		if err := element.check(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// Size is the number of bytes that DynamoDB counts for the item: names and
// values, with its documented overheads.
func (it Item) Size() int {
	n := 0
	for name, v := range it {
		n += len(name) + v.size()
	}
	return n
}

func (v Value) size() int {
	switch v.kind {
	case KindS, KindB:
		return len(v.text)
	case KindN:
		return numberSize(v.text)
	case KindSS, KindBS, KindNS:
		n := 0
		for _, member := range v.box.set {
			if v.kind == KindNS {
				n += numberSize(member)
			} else {
				n += len(member)
			}
		}
		return n
	case KindL:
		n := 3
		for _, element := range v.Values() {
			n += 1 + element.size()
		}
		return n
	case KindM:
		return 3 + len(v.Attributes()) + v.Attributes().Size()
	}
	return 1 // BOOL, NULL
}

// numberSize is one byte per two significant digits and one more (one more
// again below zero).
func numberSize(text string) int {
	d, _ := parseDecimal(text)
	n := (len(d.digits)+1)/2 + 1
	if d.negative {
		n++
	}
	return n
}

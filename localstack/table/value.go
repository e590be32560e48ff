package table

import (
	"slices"
	"sort"
	"strconv"
)

// Kind is the type of an attribute value. The zero Kind means "absent".
type Kind uint8

// The kinds of an attribute value, in the order of DynamoDB's documentation.
const (
	KindNone Kind = iota
	KindS
	KindN
	KindB
	KindBool
	KindNull
	KindSS
	KindNS
	KindBS
	KindL
	KindM
)

var kindNames = [...]string{"", "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}

// String is the kind's name on the wire ("S", "N", "BOOL", ...).
func (k Kind) String() string { return kindNames[k] }

// kindOf is the reverse of Kind.String; KindNone for an unknown name.
func kindOf(name string) Kind {
	if i := slices.Index(kindNames[:], name); i > 0 {
		return Kind(i)
	}
	return KindNone
}

// Value is one attribute value. It is immutable once built, so values are
// shared freely between versions of an item, indexes and answers.
type Value struct {
	kind Kind
	flag bool
	text string // S, N in canonical form, B as raw bytes
	box  *box   // only sets, lists and maps: keeps a Value at 32 bytes
}

type box struct {
	set  []string // sorted; numbers canonical, binaries raw
	list []Value
	item Item
}

// Item maps attribute names to values. An Item given to the engine, or got
// from it, must not be changed afterwards: versions share their values.
type Item map[string]Value

// S is a string value.
func S(text string) Value { return Value{kind: KindS, text: text} }

// B is a binary value; it copies raw.
func B(raw []byte) Value { return Value{kind: KindB, text: string(raw)} }

// Bool is a boolean value.
func Bool(flag bool) Value { return Value{kind: KindBool, flag: flag} }

// Null is the NULL value (an attribute that exists and holds nothing).
func Null() Value { return Value{kind: KindNull} }

// Int is a number value.
func Int(n int64) Value {
	d, _ := parseDecimal(strconv.FormatInt(n, 10))
	return Value{kind: KindN, text: d.String()}
}

// N is a number value in any notation that DynamoDB reads. It is stored in
// canonical form ("1e3" becomes "1000"); more than 38 significant digits or
// a magnitude outside 1e-130..9.9e125 is an error.
func N(text string) (Value, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return Value{}, err
	}
	return Value{kind: KindN, text: d.String()}, nil
}

// List is a list value; it keeps values.
func List(values ...Value) Value {
	return Value{kind: KindL, box: &box{list: values}}
}

// Map is a map value; it keeps attributes.
func Map(attributes Item) Value {
	return Value{kind: KindM, box: &box{item: attributes}}
}

// StringSet, NumberSet and BinarySet refuse an empty set and repeated members.
func StringSet(members ...string) (Value, error) { return newSet(KindSS, members) }

// NumberSet is a set of numbers, equal numbers in any notation being repeats.
func NumberSet(members ...string) (Value, error) { return newSet(KindNS, members) }

// BinarySet is a set of binaries, each given as a string of raw bytes.
func BinarySet(members ...string) (Value, error) { return newSet(KindBS, members) }

func newSet(kind Kind, members []string) (Value, error) {
	if len(members) == 0 {
		return Value{}, invalid("One or more parameter values were invalid: An %s set  may not be empty", setNames[kind])
	}
	set := slices.Clone(members)
	if kind == KindNS {
		for i, member := range set {
			d, err := parseDecimal(member)
			if err != nil {
				return Value{}, err
			}
			set[i] = d.String()
		}
	}
	sort.Strings(set)
	if len(slices.Compact(slices.Clone(set))) != len(set) {
		return Value{}, invalid("One or more parameter values were invalid: Input collection contains duplicates.")
	}
	return Value{kind: kind, box: &box{set: set}}, nil
}

var setNames = map[Kind]string{KindSS: "string", KindNS: "number", KindBS: "binary"}

// Kind tells which accessor below holds the value.
func (v Value) Kind() Kind { return v.kind }

// Text is the content of an S, the canonical form of an N, the bytes of a B.
func (v Value) Text() string { return v.text }

// Flag is the content of a BOOL.
func (v Value) Flag() bool { return v.flag }

// Members are the members of a set, sorted as byte strings. Do not change them.
func (v Value) Members() []string {
	if v.box == nil {
		return nil
	}
	return v.box.set
}

// Values are the elements of a list. Do not change them.
func (v Value) Values() []Value {
	if v.box == nil {
		return nil
	}
	return v.box.list
}

// Attributes are the entries of a map. Do not change them.
func (v Value) Attributes() Item {
	if v.box == nil {
		return nil
	}
	return v.box.item
}

func (v Value) absent() bool { return v.kind == KindNone }

func (v Value) isSet() bool { return v.kind >= KindSS && v.kind <= KindBS }

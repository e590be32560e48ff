package table

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

func (r *reader) item(depth int) (Item, error) {
	item := Item{}
	err := r.object(func(name string) error {
		v, err := r.value(depth)
		item[name] = v
		return err
	})
	return item, err
}

// value reads {"<kind>": content}, exactly one kind.
func (r *reader) value(depth int) (v Value, err error) {
	if depth > maxDepth {
		return v, Value{kind: KindNull}.check(depth)
	}
	err = r.object(func(name string) error {
		if !v.absent() {
			return invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
		}
		var err error
		v, err = r.content(kindOf(name), depth)
		return err
	})
	if err == nil && v.absent() {
		err = v.check(depth)
	}
	return v, err
}

func (r *reader) content(kind Kind, depth int) (Value, error) {
	switch kind {
	case KindS, KindN, KindB:
		return r.scalar(kind)
	case KindBool:
		flag, err := r.flag()
		return Bool(flag), err
	case KindNull:
		flag, err := r.flag()
		if err == nil && !flag {
			err = invalid("One or more parameter values were invalid: Null attribute value types must have the value of true")
		}
		return Null(), err
	case KindSS, KindNS, KindBS:
		return r.set(kind)
	case KindL:
		list := []Value{}
		err := r.array(func() error {
			v, err := r.value(depth + 1)
			list = append(list, v)
			return err
		})
		return List(list...), err
	case KindM:
		item, err := r.item(depth + 1)
		return Map(item), err
	}
	return Value{}, malformed("one of S, N, B, BOOL, NULL, SS, NS, BS, L, M")
}

func (r *reader) scalar(kind Kind) (Value, error) {
	if kind == KindB {
		raw, err := r.binary()
		return Value{kind: KindB, text: raw}, err
	}
	text, err := r.text()
	if err != nil || kind == KindS {
		return S(text), err
	}
	return N(text)
}

func (r *reader) set(kind Kind) (Value, error) {
	var members []string
	err := r.array(func() error {
		read := r.text
		if kind == KindBS {
			read = r.binary
		}
		member, err := read()
		members = append(members, member)
		return err
	})
	if err != nil {
		return Value{}, err
	}
	return newSet(kind, members)
}

// MarshalJSON writes the item in DynamoDB's JSON, names in order.
func (it Item) MarshalJSON() ([]byte, error) { return it.appendJSON(nil), nil }

// MarshalJSON writes the value in DynamoDB's JSON.
func (v Value) MarshalJSON() ([]byte, error) { return v.appendJSON(nil), nil }

func (it Item) appendJSON(out []byte) []byte {
	names := make([]string, 0, len(it))
	for name := range it {
		names = append(names, name)
	}
	slices.Sort(names)
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, name)
		out = append(out, ':')
		out = it[name].appendJSON(out)
	}
	return append(out, '}')
}

func (v Value) appendJSON(out []byte) []byte {
	out = append(out, `{"`...)
	out = append(out, v.kind.String()...)
	out = append(out, `":`...)
	switch v.kind {
	case KindS, KindN:
		out = appendText(out, v.text)
	case KindB:
		out = appendBinary(out, v.text)
	case KindBool, KindNull:
		if v.flag || v.kind == KindNull {
			out = append(out, "true"...)
		} else {
			out = append(out, "false"...)
		}
	case KindSS, KindNS:
		out = appendList(out, v.box.set, appendText)
	case KindBS:
		out = appendList(out, v.box.set, appendBinary)
	case KindL:
		out = appendList(out, v.Values(), func(out []byte, v Value) []byte { return v.appendJSON(out) })
	case KindM:
		out = v.Attributes().appendJSON(out)
	}
	return append(out, '}')
}

func appendList[T any](out []byte, list []T, one func([]byte, T) []byte) []byte {
	out = append(out, '[')
	for i, element := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = one(out, element)
	}
	return append(out, ']')
}

func appendBinary(out []byte, raw string) []byte {
	out = append(out, '"')
	out = base64.StdEncoding.AppendEncode(out, []byte(raw))
	return append(out, '"')
}

// appendText quotes text; what needs an escape goes the slow, safe way.
func appendText(out []byte, text string) []byte {
	special := strings.ContainsFunc(text, func(c rune) bool {
		return c < ' ' || c == '"' || c == '\\' || c >= 0x7f
	})
	if special {
		quoted, _ := json.Marshal(text) // a string always marshals
		return append(out, quoted...)
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}

package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUpdates(t *testing.T) {
	old := Item{"pk": S("a"), "n": Int(5), "s": S("t"), "l": List(Int(0), Int(1), Int(2)), "m": Map(Item{"a": Int(1)}), "ss": set(t, "x", "y")}
	values := Item{
		":1": Int(1), ":s": S("new"), ":l": List(Int(9)), ":xz": set(t, "x", "z"), ":xy": set(t, "x", "y"), ":big": number(t, "9e125"),
		":ns": func() Value { v, _ := NumberSet("1"); return v }(),
	}
	names := map[string]string{"#dot": "d.o.t"}
	for _, c := range []struct {
		source string
		want   Item // changed attributes; absent values were removed
		err    string
	}{
		{source: "SET n = n + :1", want: Item{"n": Int(6)}},
		{source: "SET n = n - :1", want: Item{"n": Int(4)}},
		{source: "set s = :s, n = :1 remove m", want: Item{"s": S("new"), "n": Int(1), "m": {}}},
		{source: "SET a = n, n = :1", want: Item{"a": Int(5), "n": Int(1)}}, // the old n
		{source: "SET c = if_not_exists(c, :1) + :1", want: Item{"c": Int(2)}},
		{source: "SET n = if_not_exists(n, :1) + :1", want: Item{"n": Int(6)}},
		{source: "SET l = list_append(l, :l)", want: Item{"l": List(Int(0), Int(1), Int(2), Int(9))}},
		{source: "SET l = list_append(:l, l)", want: Item{"l": List(Int(9), Int(0), Int(1), Int(2))}},
		{source: "SET q = list_append(if_not_exists(q, :l), :l)", want: Item{"q": List(Int(9), Int(9))}},
		{source: "SET l[1] = :s", want: Item{"l": List(Int(0), S("new"), Int(2))}},
		{source: "SET l[9] = :s", want: Item{"l": List(Int(0), Int(1), Int(2), S("new"))}},
		{source: "SET m.b = :s, m.#dot = :1", want: Item{"m": Map(Item{"a": Int(1), "b": S("new"), "d.o.t": Int(1)})}},
		{source: "REMOVE l[0], l[2]", want: Item{"l": List(Int(1))}}, // indexes as they were
		{source: "REMOVE m.a, gone, l[7]", want: Item{"m": Map(Item{})}},
		{source: "ADD n :1, fresh :1", want: Item{"n": Int(6), "fresh": Int(1)}},
		{source: "ADD ss :xz", want: Item{"ss": set(t, "x", "y", "z")}},
		{source: "ADD fresh :xz", want: Item{"fresh": set(t, "x", "z")}},
		{source: "DELETE ss :xz", want: Item{"ss": set(t, "y")}},
		{source: "DELETE ss :xy", want: Item{"ss": {}}}, // no empty set remains
		{source: "DELETE gone :xy", want: Item{}},

		{source: "SET n = s + :1", err: "incorrect data type"},
		{source: "SET n = gone + :1", err: "attribute that does not exist"},
		{source: "SET n = gone", err: "attribute that does not exist"},
		{source: "SET n = list_append(n, :l)", err: "incorrect data type"},
		{source: "SET gone.b = :1", err: "document path provided in the update expression is invalid"},
		{source: "SET s.b = :1", err: "document path provided in the update expression is invalid"},
		{source: "SET m[0] = :1", err: "document path provided in the update expression is invalid"},
		{source: "REMOVE gone.b", err: "document path provided in the update expression is invalid"},
		{source: "ADD s :1", err: "incorrect data type"},
		{source: "ADD ss :ns", err: "incorrect data type"},
		{source: "ADD n :s", err: "operator: ADD, operand type: STRING"},
		{source: "DELETE n :1", err: "operator: DELETE, operand type: NUMBER"},
		{source: "SET n = :s + :1", err: "function: +, operand type: S"},
		{source: "SET n = n + :big, s = :1", err: "overflow"},
		{source: "SET n = :1, n = :1", err: "overlap"},
		{source: "SET m = :1, m.a = :1", err: "overlap"},
		{source: "SET n = :1 SET s = :1", err: `"SET" section can only be used once`},
		{source: "SET n = :1 + :1 + :1", err: "Syntax error"},
		{source: "SET n", err: "Syntax error"},
		{source: "SET n :1", err: "Syntax error"},
		{source: "FROB n", err: "Syntax error"},
		{source: "SET status = :1", err: "reserved keyword"},
		{source: "SET n = size(s)", err: "not allowed in an update"},
		{source: "SET n = foo(s)", err: "Invalid function name"},
		{source: " ", err: "can not be empty"},
	} {
		before := old.with("", Value{})
		actions, err := parseUpdate(c.source, bind(names, values))
		var got Item
		if err == nil {
			got, err = apply(old, actions)
		}
		if !old.Equal(before) {
			t.Fatalf("%q changed the old item", c.source)
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v; want an error with %q", c.source, err, c.err)
			}
			continue
		}
		want := old
		for name, v := range c.want {
			want = want.with(name, v)
		}
		if err != nil {
			t.Errorf("%q: %v", c.source, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", c.source, diff)
		}
	}
}

func TestProjections(t *testing.T) {
	item := Item{"a": Int(1), "b": Int(2), "m": Map(Item{"x": Int(1), "y": List(Int(0), Int(1), Int(2))})}
	for source, want := range map[string]Item{
		"a":                 {"a": Int(1)},
		"a, b":              {"a": Int(1), "b": Int(2)},
		"m.x":               {"m": Map(Item{"x": Int(1)})},
		"m.y[2], m.y[0]":    {"m": Map(Item{"y": List(Int(0), Int(2))})},
		"gone, m.gone, a.b": {},
	} {
		p, err := parseProjection(source, bind(nil, nil))
		if err != nil {
			t.Errorf("%q: %v", source, err)
		} else if diff := cmp.Diff(want, p.of(item)); diff != "" {
			t.Errorf("%q: %s", source, diff)
		}
	}
	for source, want := range map[string]string{"a,": "Syntax", "a a": "Syntax", "m, m.x": "overlap", "name": "reserved"} {
		if _, err := parseProjection(source, bind(nil, nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %q", source, err, want)
		}
	}
}

package table

import (
	"encoding/json"
	"testing"
)

// No text makes a parser panic, and what parses evaluates without panic.
func FuzzExpressions(f *testing.F) {
	for _, seed := range []string{
		"a = :v AND (b <> #n OR NOT size(c[1].d) < :v)", "a BETWEEN :v AND :w", "a IN (:v,:w)", "attribute_type(a, :s)",
		"SET a = if_not_exists(a, :v) + :v, b = list_append(:l, l) REMOVE c[0] ADD d :v DELETE e :ss", "a, b.c[1], #n", "((a = :v))", "pk = :s AND begins_with(sk, :s)",
	} {
		f.Add(seed)
	}
	strings, _ := StringSet("x")
	item := Item{"a": Int(1), "b": Map(Item{"c": List(Int(1), S("x"))}), "c": List(Map(Item{"d": S("x")})), "e": strings, "l": List(), "n": S("x")}
	names := map[string]string{"#n": "n", "#b": "b"}
	values := Item{":v": Int(1), ":w": Int(2), ":s": S("S"), ":l": List(Int(1)), ":ss": strings}
	s := schema{keyAttribute{"pk", KindS}, keyAttribute{"sk", KindS}}
	f.Fuzz(func(t *testing.T, source string) {
		before := item.with("", Value{})
		if c, err := parseCondition("ConditionExpression", source, bind(names, values)); err == nil {
			c.holds(item)
			c.holds(nil)
			keyNameIn(c, s)
		}
		if r, err := parseKeyCondition(source, s, bind(names, values)); err == nil && r.high != "" && r.high < r.low {
			t.Errorf("an upside-down range %+v", r)
		}
		if actions, err := parseUpdate(source, bind(names, values)); err == nil {
			if changed, err := apply(item, actions); err == nil {
				changed.Size()
			}
		}
		if p, err := parseProjection(source, bind(names, values)); err == nil {
			p.of(item)
		}
		if !item.Equal(before) {
			t.Error("the item changed")
		}
	})
}

// What decodes encodes to JSON that decodes to the same.
func FuzzItemJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"S":"x\u0000\n"},"b":{"N":"1e3"},"c":{"B":"AAE="},"d":{"BOOL":false},"e":{"NULL":true}}`,
		`{"a":{"SS":["b","a"]},"b":{"NS":["1","2.0"]},"c":{"BS":["AA=="]},"d":{"L":[{"M":{"x":{"L":[]}}}]},"":{"M":{}}}`,
		`{"a":{"S":"x","N":"1"}}`, `{"a":{}}`, `{"a":{"N":5}}`, `{"a":{"SS":[]}}`, `null`, `{`, `[]`, `{"a":{"X":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var direct Item
		_ = direct.UnmarshalJSON(data) // must stay in bounds even without encoding/json before it
		var item Item
		if json.Unmarshal(data, &item) != nil || item == nil {
			return
		}
		encoded, err := json.Marshal(item)
		if err != nil {
			t.Fatalf("encode %v: %v", item, err)
		}
		var again Item
		if err := json.Unmarshal(encoded, &again); err != nil || !again.Equal(item) {
			t.Errorf("%s became %s: %v", data, encoded, err)
		}
	})
}

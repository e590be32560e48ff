package table

import (
	"strings"
	"testing"
)

func set(t testing.TB, members ...string) Value {
	t.Helper()
	v, err := StringSet(members...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestConditions(t *testing.T) {
	item := Item{
		"st": S("held"), "n": Int(5), "bin": B([]byte("abc")), "yes": Bool(true), "nil": Null(), "ss": set(t, "x", "y"),
		"l": List(Int(1), S("two"), Map(Item{"deep": S("z")})), "m": Map(Item{"a": Int(1), "b.c": Int(2)}), "e": S("é"),
	}
	names := map[string]string{"#s": "st", "#bc": "b.c", "#status": "status"}
	values := Item{
		":held": S("held"), ":he": S("he"), ":n4": Int(4), ":n5": number(t, "5.0"), ":n6": Int(6), ":yes": Bool(true),
		":ss": set(t, "y", "x"), ":x": S("x"), ":two": S("two"), ":S": S("S"), ":ab": B([]byte("ab")), ":l1": List(Int(1)),
		":z": S("z"), ":one": Int(1), ":bad": S("BAD"), ":m": Map(Item{"b.c": Int(2), "a": Int(1)}), ":three": Int(3), ":null": Null(),
	}
	for source, want := range map[string]any{
		"st = :held":              true,
		"#s = :held":              true,
		"st <> :held":             false,
		"st = :n5":                false, // another type
		"n = :n5":                 true,  // numbers by value
		"n < :n6 AND n > :n4":     true,
		"n <= :n5 and n >= :n5":   true,
		"st < :n6":                false, // types without order between them
		"absent < :n6":            false,
		"absent = :n6":            false,
		"absent <> :n6":           true, // an absent attribute differs from everything
		"absent <> gone":          true,
		"absent = gone":           false,
		"NOT absent = :n6":        true,
		"NOT n < :n4 AND n = :n5": true,
		"NOT n = :n4 AND st = :x": false, // NOT binds tighter than AND
		"n = :n4 OR n = :n5":      true,
		"n = :n4 OR n = :n5 AND yes = :yes OR st = :x": true,
		"n = :n5 OR n = :n5 AND st = :x":               true, // AND binds tighter than OR
		"(n = :n5 OR n = :n5) AND st = :x":             false,
		"n BETWEEN :n4 AND :n6":                        true,
		"n BETWEEN :n5 AND :n5":                        true,
		"st BETWEEN :n4 AND :n6":                       false,
		"NOT n BETWEEN :n5 AND :n6":                    false,
		"n IN (:n4, :n6, :n5)":                         true,
		"st IN (:n4)":                                  false,
		"attribute_exists(m.a)":                        true,
		"attribute_exists(m.#bc)":                      true,
		"attribute_exists(m.gone)":                     false,
		"attribute_not_exists(l[3])":                   true,
		"attribute_exists(l[2].deep)":                  true,
		"attribute_exists(st.below)":                   false,
		"attribute_exists(nil)":                        true,
		"nil = :null":                                  true,
		"attribute_type(st, :S)":                       true,
		"attribute_type(n, :S)":                        false,
		"begins_with(st, :he)":                         true,
		"begins_with(bin, :ab)":                        true,
		"begins_with(n, :he)":                          false,
		"contains(st, :he)":                            true,
		"contains(ss, :x)":                             true,
		"contains(l, :two)":                            true,
		"contains(l, :x)":                              false,
		"contains(m, :x)":                              false,
		"ss = :ss":                                     true,
		"m = :m":                                       true,
		"size(st) = :n4":                               true,
		"size(e) = :one":                               true, // characters, not bytes
		"size(l) = :three":                             true,
		"size(n) = :one":                               false,
		"size(absent) < :one":                          false,
		"size(st) < size(e)":                           false,
		"l[2].deep = :z":                               true,
		":held = st":                                   true,
		"yes = :yes":                                   true,

		"":                                 "The expression can not be empty",
		"st =":                             `Syntax error; token: "<EOF>", near: "="`,
		"st":                               "Syntax error",
		"st == :x":                         `Syntax error; token: "="`,
		"st = :x extra":                    `Syntax error; token: "extra"`,
		"(st = :x":                         "Syntax error",
		"st = :x)":                         "Syntax error",
		"((st = :x))":                      "redundant parentheses",
		"(st = :x) AND (((n = :n5)))":      "redundant parentheses",
		"status = :x":                      "reserved keyword: status",
		"#nope = :x":                       "attribute name: #nope",
		"st = :nope":                       "attribute value: :nope",
		"st = st":                          "first operand must be distinct",
		"st < :yes":                        "operand type: BOOL",
		"st BETWEEN :l1 AND :l1":           "operand type: L",
		"n BETWEEN :n6 AND :n4":            "upper bound to be greater than or equal to lower bound",
		"n BETWEEN :n4 AND :x":             "same data type",
		"attribute_exists(:x)":             "requires a document path",
		"attribute_exists(st, n)":          "number of operands: 2",
		"attribute_type(st, :bad)":         "Invalid attribute type name",
		"begins_with(st, :n5)":             "operand type: N",
		"contains(st, st)":                 "first operand must be distinct",
		"Attribute_Exists(st)":             "Invalid function name; function: Attribute_Exists",
		"if_not_exists(st, :x)":            "not allowed in a condition",
		"size(:n5) = :one":                 "function: size, operand type: N",
		"size(size(st)) = :one":            "not allowed to be used this way",
		"st = attribute_exists(n)":         "not allowed to be used this way",
		"l[x] = :one":                      "Syntax error",
		"l[99999999999999999999] = :one":   "Syntax error",
		"st = 'held'":                      "Syntax error",
		"1st = :x":                         "Syntax error",
		"st = :x AND":                      "Syntax error",
		"NOT":                              "Syntax error",
		"n IN ()":                          "Syntax error",
		strings.Repeat("st = :x OR ", 500): "Expression size has exceeded",
	} {
		c, err := parseCondition("ConditionExpression", source, bind(names, values))
		if text, ok := want.(string); ok {
			if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "Invalid ConditionExpression: ") {
				t.Errorf("%q: %v; want an error with %q", source, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", source, err)
		} else if got := c.holds(item); got != want {
			t.Errorf("%q = %v", source, got)
		}
	}
}

func TestUnusedBindingsAreRefused(t *testing.T) {
	for _, c := range []struct {
		b    *bindings
		want string
	}{
		{bind(map[string]string{"#a": "a"}, Item{":v": Int(1)}), ""},
		{bind(map[string]string{"#a": "a", "#b": "b"}, Item{":v": Int(1)}), "ExpressionAttributeNames unused in expressions: keys: {#b}"},
		{bind(map[string]string{"#a": "a"}, Item{":v": Int(1), ":w": Int(1)}), "ExpressionAttributeValues unused in expressions: keys: {:w}"},
	} {
		if _, err := parseCondition("FilterExpression", "#a = :v", c.b); err != nil {
			t.Fatal(err)
		}
		if err := c.b.checkUsed(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if err := bind(nil, Item{}).checkUsed(); err == nil {
		t.Error("an empty map of values was accepted")
	}
}

package table

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestItemJSON(t *testing.T) {
	const canonical = `{"b":{"B":"AAE="},"bs":{"BS":["AA==","AQ=="]},"f":{"BOOL":false},"l":{"L":[{"N":"1000"},{"M":{"x":{"L":[]}}}]},"n":{"NULL":true},"ns":{"NS":["1","2"]},"s":{"S":"quote \" and é"},"ss":{"SS":["a","b"]},"t":{"BOOL":true}}`
	for _, text := range []string{
		canonical,
		` { "t" : {"BOOL": true}, "ss": {"SS":["b","a"]}, "s":{"S":"quote \u0022 and \u00e9"}, "ns":{"NS":["2.0","1"]}, "n":{"NULL":true},
		"l":{"L":[{"N":"1e3"},{"M":{"x":{"L":[ ]}}}]},"f":{"BOOL":false},"bs":{"BS":["AQ==","AA=="]},"b":{"B":"AAE="} }`,
	} {
		var item Item
		if err := json.Unmarshal([]byte(text), &item); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(item)
		if err != nil || string(got) != canonical {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
}

func TestItemJSONRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"S":"x","N":"1"}}`:  "more than one datatypes",
		`{"a":{}}`:                 "is empty",
		`{"a":{"N":1}}`:            CodeSerialization,
		`{"a":{"S":null}}`:         CodeSerialization,
		`{"a":{"BOOL":"true"}}`:    CodeSerialization,
		`{"a":{"B":"!"}}`:          CodeSerialization,
		`{"a":{"Q":"x"}}`:          CodeSerialization,
		`{"a":"x"}`:                CodeSerialization,
		`[]`:                       CodeSerialization,
		`{"a":{"NULL":false}}`:     "must have the value of true",
		`{"a":{"SS":[]}}`:          "may not be empty",
		`{"a":{"NS":["1","1.0"]}}`: "duplicates",
		`{"a":{"N":"x"}}`:          "numeric value",
		strings.Repeat(`{"a":{"M":`, 40) + `{}` + strings.Repeat(`}}`, 40): "Nesting Levels",
	} {
		var item Item
		if err := json.Unmarshal([]byte(text), &item); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

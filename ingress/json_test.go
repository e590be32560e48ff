package ingress

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// decoded is what encoding/json makes of a body; ok says whether it is one JSON
// object.
func decoded(raw []byte) (doc map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil || doc == nil {
		return nil, false
	}
	_, err := d.Token()
	return doc, errors.Is(err, io.EOF)
}

// Our own reader and encoding/json agree about what JSON is, and about what a
// well-formed request says.
func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{
		`{"code":"A-1","email":"a@b.example","level":"N1","seats":2,"website":""}`, `{"seats":["a","b"]}`, `{}`, ` { } `, `{"a":{"b":[1,2,{"c":null}]}}`,
		`{"code":"\ud83d\ude00\u0041\n\"\\\/"}`, `{"code":"\ud800x"}`, `{"code":"\ud800\u0041"}`, `{"seats":-0}`, `{"seats":1e3}`, `{"seats":01}`, `{"seats":1.}`,
		`{"code":null,"website":[]}`, `{"code":"a","code":"b"}`, `{"a":tru}`, `{"a":"`, `{"a":1,}`, `[1]`, `{"website":{"x":"y"}}`, "{\"code\":\"\x7f\"}", `{"level":"é"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > maxBody || !utf8.Valid(raw) || bytes.Count(raw, []byte("[")) > maxDepth || bytes.Count(raw, []byte("{")) > maxDepth {
			return
		}
		got, err := decodeJSON(string(raw))
		doc, ok := decoded(raw)
		if (err == nil) != ok {
			t.Fatalf("%q: error %v, encoding/json says %t", raw, err, ok)
		}
		if err != nil || len(got.faults) > 0 {
			return
		}
		for _, field := range []struct{ name, value string }{{"code", got.code}, {"email", got.email}, {"level", got.level}} {
			if want, _ := doc[field.name].(string); want != field.value {
				t.Errorf("%q: %s is %q, want %q", raw, field.name, field.value, want)
			}
		}
		checkSeats(t, raw, got, doc["seats"])
	})
}

func checkSeats(t *testing.T, raw []byte, got bookingBody, want any) {
	t.Helper()
	switch want := want.(type) {
	case nil:
		if got.count != 0 || got.names != nil {
			t.Errorf("%q: seats %d %v", raw, got.count, got.names)
		}
	case json.Number:
		if n, err := strconv.Atoi(want.String()); err != nil || n != got.count {
			t.Errorf("%q: seats %d, want %s", raw, got.count, want)
		}
	case []any:
		if len(want) != len(got.names) {
			t.Fatalf("%q: %d names, want %d", raw, len(got.names), len(want))
		}
		for i, n := range want {
			if n != got.names[i] {
				t.Errorf("%q: name %q, want %q", raw, got.names[i], n)
			}
		}
	default:
		t.Errorf("%q: seats of kind %T are taken", raw, want)
	}
}

// A filled honeypot is seen whatever it is filled with, and an empty one is not.
func TestHoneypotIsSeen(t *testing.T) {
	for body, filled := range map[string]bool{
		`{"website":"x"}`: true, `{"website":" "}`: true, `{"website":1}`: true, `{"website":[]}`: true, `{"website":{}}`: true, `{"website":true}`: true,
		`{"website":"","website":"x"}`: true, `{"website":"x","website":""}`: true,
		`{"website":""}`: false, `{"website":null}`: false, `{}`: false,
	} {
		b, err := decodeJSON(body)
		if err != nil || (b.website != "") != filled {
			t.Errorf("%s: filled %q, %v", body, b.website, err)
		}
	}
}

// appendText writes what encoding/json reads back.
func TestAppendText(t *testing.T) {
	for _, s := range []string{"", "N1-1", `"quoted"\`, "https://a.example/?a=b&c=<d>", "é\u2028\x00\x7f", strings.Repeat("x", 5000)} {
		var back string
		if err := json.Unmarshal(appendText(nil, s), &back); err != nil || back != s {
			t.Errorf("%q comes back as %q, %v", s, back, err)
		}
	}
}

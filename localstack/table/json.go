package table

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// UnmarshalJSON reads an item in DynamoDB's JSON ({"name":{"S":"text"}}). It is
// written by hand because it is nine tenths of the work of decoding a request.
func (it *Item) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	r := reader{data: data}
	item, err := r.item(0)
	if err == nil {
		*it = item
	}
	return err
}

// UnmarshalJSON reads one value in DynamoDB's JSON ({"S":"text"}).
func (v *Value) UnmarshalJSON(data []byte) error {
	r := reader{data: data}
	value, err := r.value(0)
	if err == nil {
		*v = value
	}
	return err
}

// reader walks over JSON that encoding/json has already found well-formed;
// it checks shapes only, yet stays within bounds whatever it is given.
type reader struct {
	data []byte
	pos  int
}

func malformed(want string) *Error {
	return &Error{Code: CodeSerialization, Message: "The request can't be read: expected " + want}
}

// next skips white space and takes the byte c if it comes next.
func (r *reader) next(c byte) bool {
	for r.pos < len(r.data) && strings.IndexByte(" \t\r\n", r.data[r.pos]) >= 0 {
		r.pos++
	}
	if r.pos < len(r.data) && r.data[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

// object calls field for every name of an object.
func (r *reader) object(field func(name string) error) error {
	if !r.next('{') {
		return malformed("an object")
	}
	for first := true; !r.next('}'); first = false {
		if !first && !r.next(',') {
			return malformed("a comma")
		}
		name, err := r.text()
		if err != nil {
			return err
		}
		if !r.next(':') {
			return malformed("a colon")
		}
		if err := field(name); err != nil {
			return err
		}
	}
	return nil
}

// array calls element at every element of an array.
func (r *reader) array(element func() error) error {
	if !r.next('[') {
		return malformed("an array")
	}
	for first := true; !r.next(']'); first = false {
		if !first && !r.next(',') {
			return malformed("a comma")
		}
		if err := element(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) text() (string, error) {
	if !r.next('"') {
		return "", malformed("a string")
	}
	start := r.pos
	for plain := true; r.pos < len(r.data); r.pos++ {
		switch r.data[r.pos] {
		case '\\':
			plain = false
			r.pos++
		case '"':
			raw := r.data[start:r.pos]
			r.pos++
			if plain && utf8.Valid(raw) {
				return string(raw), nil
			}
			var text string
			if json.Unmarshal(r.data[start-1:r.pos], &text) != nil {
				return "", malformed("a string")
			}
			return text, nil
		}
	}
	return "", malformed("the end of a string")
}

func (r *reader) flag() (bool, error) {
	for _, word := range []string{"true", "false"} {
		if r.next(word[0]) && bytes.HasPrefix(r.data[r.pos:], []byte(word[1:])) {
			r.pos += len(word) - 1
			return word == "true", nil
		}
	}
	return false, malformed("true or false")
}

func (r *reader) binary() (string, error) {
	text, err := r.text()
	if err != nil {
		return "", err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", malformed("base64")
	}
	return string(raw), nil
}

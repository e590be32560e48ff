package ingress

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeJSON reads the one object that a booking request is. It is a reader of
// our own because this is the hot path: it makes one string for each field and
// nothing else, and is as strict as encoding/json about what JSON is. A fuzz
// test holds it to that.
func decodeJSON(raw []byte) (bookingBody, error) {
	s := &scanner{raw: raw}
	if err := s.object(); err != nil {
		return bookingBody{}, err
	}
	if s.space(); s.at != len(s.raw) {
		return bookingBody{}, errJSON
	}
	return s.body, nil
}

var errJSON = errors.New("the body is not one JSON object")

// maxDepth bounds unknown values inside one another.
const maxDepth = 16

type scanner struct {
	raw  []byte
	at   int
	body bookingBody
	seen uint8 // one bit for each known field
}

// peek is the next byte, 0 at the end (which no JSON value has).
func (s *scanner) peek() byte {
	if s.at < len(s.raw) {
		return s.raw[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.raw) {
		switch s.raw[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.space(); s.peek() != c {
		return false
	}
	s.at++
	return true
}

// object reads the outermost object.
func (s *scanner) object() error {
	if !s.take('{') {
		return errJSON
	}
	if s.take('}') {
		return nil
	}
	for {
		s.space()
		field, err := s.text()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return errJSON
		}
		if err := s.field(field); err != nil {
			return err
		}
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return errJSON
		}
	}
}

// known is the bit of a known field.
func known(field string) uint8 {
	switch field {
	case "code":
		return 1
	case "email":
		return 2
	case "level":
		return 4
	case "website":
		return 8
	case "seats":
		return 16
	}
	return 0
}

// field reads the value of a field. What is no JSON is an error; what is JSON
// but not what the field takes is a fault of the field.
func (s *scanner) field(name string) error {
	s.space()
	bit := known(name)
	if bit == 0 {
		s.body.fault(shown(name), "is not a field of a booking")
		return s.skip(0)
	}
	if s.seen&bit != 0 && name != "website" {
		s.body.fault(name, "is given twice")
		return s.skip(0)
	}
	s.seen |= bit
	if name == "seats" {
		return s.seats()
	}
	target := s.body.text(name)
	switch s.peek() {
	case '"':
		v, err := s.text()
		if err == nil && (name != "website" || v != "") {
			*target = v
		}
		return err
	case 'n':
		return s.word("null")
	}
	if name == "website" { // filled with something: nobody who sees the page can do that
		*target = "filled"
	} else {
		s.body.fault(name, "must be text")
	}
	return s.skip(0)
}

// seats is a whole number or a list of names.
func (s *scanner) seats() error {
	switch c := s.peek(); {
	case c == '[':
		return s.list()
	case c == '-' || c >= '0' && c <= '9':
		from := s.at
		if err := s.number(); err != nil {
			return err
		}
		n, err := strconv.Atoi(string(s.raw[from:s.at]))
		if err != nil {
			s.body.fault("seats", "must be a whole number or a list of names")
			return nil
		}
		s.body.seatCount(n)
		return nil
	case c == 'n':
		return s.word("null")
	}
	s.body.fault("seats", "must be a whole number or a list of names")
	return s.skip(0)
}

func (s *scanner) list() error {
	s.at++
	s.body.names = []string{}
	if s.take(']') {
		return nil
	}
	for {
		if s.space(); s.peek() == '"' {
			v, err := s.text()
			if err != nil {
				return err
			}
			s.body.names = append(s.body.names, v)
		} else {
			s.body.fault("seats", "must be a list of names")
			if err := s.skip(1); err != nil {
				return err
			}
		}
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return errJSON
		}
	}
}

// skip reads any value and forgets it.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return errors.New("the body is nested too deeply")
	}
	s.space()
	switch c := s.peek(); {
	case c == '"':
		_, err := s.text()
		return err
	case c == '{' || c == '[':
		return s.skipInside(c, depth)
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) skipInside(open byte, depth int) error {
	end := open + 2 // '[' and ']', '{' and '}' are two apart
	s.at++
	if s.take(end) {
		return nil
	}
	for {
		if open == '{' {
			if s.space(); s.peek() != '"' {
				return errJSON
			}
			if _, err := s.text(); err != nil {
				return err
			}
			if !s.take(':') {
				return errJSON
			}
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		if s.take(end) {
			return nil
		}
		if !s.take(',') {
			return errJSON
		}
	}
}

func (s *scanner) word(w string) error {
	if len(s.raw)-s.at < len(w) || string(s.raw[s.at:s.at+len(w)]) != w {
		return errJSON
	}
	s.at += len(w)
	return nil
}

// number is -?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?
func (s *scanner) number() error {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if s.digits() == 0 {
		return errJSON
	}
	if s.peek() == '.' {
		s.at++
		if s.digits() == 0 {
			return errJSON
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		if s.digits() == 0 {
			return errJSON
		}
	}
	return nil
}

func (s *scanner) digits() int {
	from := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at - from
}

// text reads a string. Nearly all have no escape: those are copied once.
func (s *scanner) text() (string, error) {
	if s.peek() != '"' {
		return "", errJSON
	}
	s.at++
	from := s.at
	for s.at < len(s.raw) {
		switch c := s.raw[s.at]; {
		case c == '"':
			s.at++
			return string(s.raw[from : s.at-1]), nil
		case c == '\\':
			return s.escaped(append(make([]byte, 0, 64), s.raw[from:s.at]...))
		case c < ' ':
			return "", errJSON
		}
		s.at++
	}
	return "", errJSON
}

// escaped goes on with a string that has escapes; out is what came before.
func (s *scanner) escaped(out []byte) (string, error) {
	for s.at < len(s.raw) {
		c := s.raw[s.at]
		s.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < ' ':
			return "", errJSON
		case c != '\\':
			out = append(out, c)
			continue
		}
		e := s.peek()
		s.at++
		switch e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b', 'f', 'n', 'r', 't':
			out = append(out, "\b\f\n\r\t"[strings.IndexByte("bfnrt", e)])
		case 'u':
			r, ok := s.hex()
			if !ok {
				return "", errJSON
			}
			out = utf8.AppendRune(out, s.pair(r))
		default:
			return "", errJSON
		}
	}
	return "", errJSON
}

// pair completes a surrogate pair; half of one is no character.
func (s *scanner) pair(r rune) rune {
	if !utf16.IsSurrogate(r) {
		return r
	}
	back := s.at
	if s.peek() == '\\' && s.at+1 < len(s.raw) && s.raw[s.at+1] == 'u' {
		s.at += 2
		if low, ok := s.hex(); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both
			}
		}
		s.at = back
	}
	return utf8.RuneError
}

func (s *scanner) hex() (rune, bool) {
	if len(s.raw)-s.at < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s.raw[s.at : s.at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.at += 4
	return r, true
}

package ingress

import (
	"errors"
	"strconv"
)

// decodeJSON reads the one object that a booking request is. It is a reader of
// our own because this is the hot path: it makes no string, the fields are parts
// of the body, and it is as strict as encoding/json about what JSON is. A fuzz
// test holds it to that.
func decodeJSON(raw string) (bookingBody, error) {
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
	raw  string
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
	case "hold_id":
		return 32
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
		n, err := strconv.Atoi(s.raw[from:s.at])
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

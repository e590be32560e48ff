package ingress

import (
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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
	if !strings.HasPrefix(s.raw[s.at:], w) {
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

// text reads a string. Nearly all have no escape: those are parts of the body.
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
			return s.raw[from : s.at-1], nil
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
	for _, c := range []byte(s.raw[s.at : s.at+4]) {
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

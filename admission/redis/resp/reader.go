package resp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Kind is what a Value is.
type Kind byte

// The kinds of a value.
const (
	Text Kind = iota + 1 // a bulk or simple string
	Int
	List // Value.Int values follow, each with all that follows it
	Nil
	Fault // an error reply, Value.Text
)

// Value is one part of a reply.
type Value struct {
	Kind     Kind
	Int      int64
	Text     string
	from, to int // of Text, until the reply is complete
}

// Error is an error reply of the server. It is an Error of go-redis too.
type Error string

func (e Error) Error() string { return string(e) }

// RedisError marks an error reply.
func (Error) RedisError() {}

// ErrProtocol is an answer that is not RESP2, or beyond the limits. The
// connection is of no use any more.
var ErrProtocol = errors.New("resp: not a reply")

// Limits of one reply. No script of ours comes near; a server that sends more is
// not the one we think it is.
const (
	maxParts = 1 << 16
	maxText  = 1 << 24
	maxDepth = 8
)

// Reader reads replies. It is not safe for concurrent use.
type Reader struct {
	in   *bufio.Reader
	flat []Value
	text []byte
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 16<<10)} }

// Next reads one reply as a flat list: the reply itself, and after each List the
// values in it. The slice is valid until the next call, its strings for ever. A
// reply that is an error comes back as an Error; after any other error the
// connection is of no use.
func (r *Reader) Next() ([]Value, error) {
	r.flat, r.text = r.flat[:0], r.text[:0]
	if err := r.read(0); err != nil {
		return nil, err
	}
	all := string(r.text) // one allocation for all strings of the reply
	for i := range r.flat {
		v := &r.flat[i]
		v.Text = all[v.from:v.to]
	}
	if r.flat[0].Kind == Fault {
		return nil, Error(r.flat[0].Text)
	}
	return r.flat, nil
}

func (r *Reader) read(depth int) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	mark := len(r.text)
	switch line[0] {
	case '+', '-':
		kind := Text
		if line[0] == '-' {
			kind = Fault
		}
		r.text = append(r.text, line[1:]...)
		r.add(Value{Kind: kind, from: mark, to: len(r.text)})
		return r.room()
	}
	n, err := number(line[1:])
	if err != nil {
		return err
	}
	switch line[0] {
	case ':':
		r.add(Value{Kind: Int, Int: n})
		return r.room()
	case '$':
		return r.bulk(n)
	case '*':
		return r.list(n, depth)
	}
	return fmt.Errorf("%w: it begins with %q", ErrProtocol, line[0])
}

func (r *Reader) add(v Value) { r.flat = append(r.flat, v) }

// room says whether the reply is still within the limits.
func (r *Reader) room() error {
	if len(r.flat) > maxParts || len(r.text) > maxText {
		return fmt.Errorf("%w: more than %d parts or %d bytes", ErrProtocol, maxParts, maxText)
	}
	return nil
}

func (r *Reader) bulk(n int64) error {
	if n == -1 {
		r.add(Value{Kind: Nil})
		return r.room()
	}
	mark := len(r.text)
	if n < 0 || int64(mark)+n > maxText {
		return fmt.Errorf("%w: a string of %d bytes", ErrProtocol, n)
	}
	r.text = append(r.text, make([]byte, int(n)+2)...)
	if _, err := io.ReadFull(r.in, r.text[mark:]); err != nil {
		return err
	}
	end := mark + int(n)
	if r.text[end] != '\r' || r.text[end+1] != '\n' {
		return fmt.Errorf("%w: a string does not end", ErrProtocol)
	}
	r.text = r.text[:end]
	r.add(Value{Kind: Text, from: mark, to: end})
	return r.room()
}

func (r *Reader) list(n int64, depth int) error {
	if n == -1 {
		r.add(Value{Kind: Nil})
		return r.room()
	}
	if n < 0 || n > maxParts || depth == maxDepth {
		return fmt.Errorf("%w: a list of %d at depth %d", ErrProtocol, n, depth)
	}
	r.add(Value{Kind: List, Int: n})
	for range n {
		if err := r.read(depth + 1); err != nil {
			return err
		}
	}
	return r.room()
}

// line reads up to CRLF, without it; never an empty line.
func (r *Reader) line() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("%w: a line without end", ErrProtocol)
		}
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("%w: the line %q", ErrProtocol, line)
	}
	return line[:len(line)-2], nil
}

func number(digits []byte) (int64, error) {
	minus := len(digits) > 0 && digits[0] == '-'
	if minus {
		digits = digits[1:]
	}
	if len(digits) < 1 || len(digits) > 18 {
		return 0, fmt.Errorf("%w: the number %q", ErrProtocol, digits)
	}
	var n int64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, fmt.Errorf("%w: the number %q", ErrProtocol, digits)
		}
		n = n*10 + int64(d-'0')
	}
	if minus {
		n = -n
	}
	return n, nil
}

// Any is the first value of flat as go-redis gives it ([]any, string, int64,
// nil, an error inside a list), and what follows it.
func Any(flat []Value) (any, []Value) {
	v, rest := flat[0], flat[1:]
	switch v.Kind {
	case Text:
		return v.Text, rest
	case Int:
		return v.Int, rest
	case Fault:
		return Error(v.Text), rest
	case List:
		list := make([]any, v.Int)
		for i := range list {
			list[i], rest = Any(rest)
		}
		return list, rest
	}
	return nil, rest
}

package redis

import (
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
)

// errMalformed is an answer that the script's contract doesn't have. Asking again
// would not help, so it is never retried.
var errMalformed = errors.New("redis: malformed answer")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errMalformed}, args...)...)
}

// reply walks through a script's answer. The first thing that is not as the
// contract says ends the walk: an unknown answer is an error, never a default.
type reply struct {
	script string
	list   []any
	at     int
	err    error
}

func newReply(script string, raw any) *reply {
	list, ok := raw.([]any)
	r := &reply{script: script, list: list}
	if !ok {
		r.err = malformed("%s answered %T, want a list", script, raw)
	}
	return r
}

func (r *reply) next(kind string) any {
	if r.err == nil && r.at >= len(r.list) {
		r.err = malformed("%s answered %d parts, want a %s more", r.script, len(r.list), kind)
	}
	if r.err != nil {
		return nil
	}
	r.at++
	return r.list[r.at-1]
}

func (r *reply) str() string {
	v := r.next("string")
	s, ok := v.(string)
	if !ok && r.err == nil {
		r.err = malformed("%s: part %d is %T, want a string", r.script, r.at, v)
	}
	return s
}

// strOrNone reads a string that may be absent.
func (r *reply) strOrNone() string {
	if r.err == nil && (r.at >= len(r.list) || r.list[r.at] == nil) {
		r.at++
		return ""
	}
	return r.str()
}

func (r *reply) num() int64 {
	v := r.next("number")
	n, ok := v.(int64)
	if !ok && r.err == nil {
		r.err = malformed("%s: part %d is %T, want a number", r.script, r.at, v)
	}
	return n
}

func (r *reply) more() bool { return r.err == nil && r.at < len(r.list) }

func (r *reply) stage() admission.Stage {
	s := r.str()
	if r.err != nil {
		return ""
	}
	g, err := parseStage(s)
	if err != nil {
		r.err = malformed("%s: %w", r.script, err)
	}
	return g
}

// end reports the fault of the walk, or parts that nobody asked for.
func (r *reply) end() error {
	if r.err == nil && r.at < len(r.list) {
		r.err = malformed("%s answered %d parts, want %d", r.script, len(r.list), r.at)
	}
	return r.err
}

func (r *reply) unknown(name string) error {
	if r.err != nil {
		return r.err
	}
	return malformed("%s: unknown answer %q", r.script, name)
}

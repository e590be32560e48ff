package redis

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// layout numbers the form of a sale's keys. An install writes it into cfg, and
// everything that reads or writes a sale refuses one with another number, or with
// none (admission.ErrLayout): to a build of another form its keys would look like
// those of a sale without bookings. Raise it with every change of form that the
// build before would read wrongly, and say here what is new. The numbers so far:
//
//	1  Every record is in bk, pending names bookings by candidate, every level's
//	   seat map is the hash seat, and a payment's page is a key of its own. Its
//	   builds wrote no number.
//	2  decisions/0008: a record is in pending until the ledger knows it; the owners
//	   of a counted level are a table of slots; the page is in the record.
//
// What goes by payment or process and not by seat (execute guards, tokens, the
// mark of Prove) has had one form in all of them.
const layout = 2

const (
	layoutField = "layout"
	shownField  = "ver" // cfg has it from the first step of an install on, in every layout
)

var layoutText = strconv.Itoa(layout)

// guard is what a guarded script begins with: KEYS[cfg] is the sale's. A sale that
// is not in Redis has no layout and is the script's to judge.
func guard(cfg int) string {
	return fmt.Sprintf("do local f = redis.call('HMGET', KEYS[%d], '%s', '%s') if f[1] ~= '%s' and f[2] then return redis.error_reply('%s ' .. (f[1] or '')) end end",
		cfg, layoutField, shownField, layoutText, layoutWord)
}

// layoutWord begins the guard's answer.
const layoutWord = "LAYOUT"

// layoutError is the refusal of a sale of another layout, before anything was read
// or written: admission.ErrLayout. The wire that brought it is as good as before.
type layoutError struct{ found string }

func (e *layoutError) Error() string {
	found := "no layout"
	if e.found != "" {
		found = "layout " + e.found
	}
	return fmt.Sprintf("%v (%s, this one has %d): go back to that build, or rebuild the sale with this one", admission.ErrLayout, found, layout)
}

// RedisError makes it a goredis.Error.
func (*layoutError) RedisError() {}

func (*layoutError) Unwrap() error { return admission.ErrLayout }

// judgeLayout takes the two fields of cfg, "" for one that is not there.
func judgeLayout(found, shown string) error {
	if found == layoutText || shown == "" {
		return nil
	}
	return &layoutError{found}
}

// fault names the script that failed, and understands its guard.
func fault(script string, err error) error {
	if hasPrefix(err, layoutWord) {
		var reply goredis.Error
		errors.As(err, &reply) // it has the prefix
		err = &layoutError{strings.TrimSpace(strings.TrimPrefix(reply.Error(), layoutWord))}
	}
	return fmt.Errorf("redis: %s: %w", script, err)
}

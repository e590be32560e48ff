package ledgertest

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/holdfast/holdfast/ledger"
)

// Fault is what goes wrong with one call.
type Fault int

// The faults.
const (
	NoFault    Fault = iota
	FailBefore       // ErrFailed, and nothing is done
	LoseAnswer       // everything is done as usual, but the caller gets ErrAnswerLost
	Busy             // ledger.ErrBusy, and nothing is done
)

// What a caller gets from an injected fault.
var (
	ErrFailed     = errors.New("ledgertest: injected: failed before anything was done")
	ErrAnswerLost = errors.New("ledgertest: injected: the answer was lost")
)

func (f Fault) before() error {
	switch f {
	case FailBefore:
		return ErrFailed
	case Busy:
		return fmt.Errorf("injected: %w", ledger.ErrBusy)
	}
	return nil
}

// Calls returns how often each method was called ("Booking", "Apply:T1", ...),
// failed calls included.
func (s *Store) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// Reads is the number of calls of anything that reads and does not write:
// everything but Apply:..., Put..., Drop..., Park and the like.
func (s *Store) Reads() int {
	n := 0
	for op, c := range s.Calls() {
		if !writes(op) {
			n += c
		}
	}
	return n
}

func writes(op string) bool {
	for _, prefix := range []string{"Apply:", "Put", "Drop", "Park", "ResolveParked", "Create", "Update", "Note", "Append"} {
		if op != "Parked" && strings.HasPrefix(op, prefix) {
			return true
		}
	}
	return false
}

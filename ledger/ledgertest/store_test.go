package ledgertest

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

func TestStore(t *testing.T) {
	Suite(t, func(*testing.T) ledger.Store { return NewStore(func() time.Time { return start }) })
}

func TestStoreInjectsFaults(t *testing.T) {
	for _, c := range []struct {
		fault   Fault
		err     error
		written bool
	}{{FailBefore, ErrFailed, false}, {LoseAnswer, ErrAnswerLost, true}, {Busy, ledger.ErrBusy, false}} {
		s := NewStore(func() time.Time { return start })
		fault := c.fault
		s.Fault = func(op string) Fault {
			if op == "Apply:T1" {
				return fault
			}
			return NoFault
		}
		hold, _ := ledger.Hold(booking(1), "worker", start)
		if err := s.Apply(t.Context(), hold); !errors.Is(err, c.err) {
			t.Errorf("fault %d: error %v, want %v", c.fault, err, c.err)
		}
		if _, err := s.Booking(t.Context(), booking(1).ID); errors.Is(err, ledger.ErrNotFound) == c.written {
			t.Errorf("fault %d: written is not %v", c.fault, c.written)
		}
		fault = NoFault
		err := s.Apply(t.Context(), hold)
		var failed *ledger.ConditionError
		if errors.As(err, &failed) != c.written {
			t.Errorf("fault %d: the repeat got %v", c.fault, err)
		}
	}
}

func TestStoreCountsReads(t *testing.T) {
	s := NewStore(func() time.Time { return start })
	hold, _ := ledger.Hold(booking(1), "worker", start)
	_ = s.Apply(t.Context(), hold)
	_ = s.PutStatus(t.Context(), theSale, 1, 1, nil)
	_ = s.Park(t.Context(), ledger.InboxItem{Sale: theSale, ID: "x"})
	if got := s.Reads(); got != 0 {
		t.Errorf("%d reads after writes only", got)
	}
	_, _ = s.Booking(t.Context(), "b")
	_ = s.Parked(t.Context(), theSale, nil)
	if got, calls := s.Reads(), s.Calls(); got != 2 || calls["Booking"] != 1 || calls["Apply:T1"] != 1 {
		t.Errorf("%d reads, calls %v", got, calls)
	}
}

package dynamo_test

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/table"
)

// A store that stays busy says so, and has decided nothing.
func TestBusy(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Throttle, fault.Conflict} {
		faults := &fault.Script{}
		s := newStore(t, dial(t, serve(t, table.Options{Faults: faults}), plain, true))
		hold, err := ledger.Hold(booking(), "worker", start)
		if err != nil {
			t.Fatal(err)
		}
		faults.Inject(fault.Point{Op: "TransactWriteItems"}, 0, -1, fault.Verdict{Kind: kind})
		if err := s.Apply(t.Context(), hold); !errors.Is(err, ledger.ErrBusy) {
			t.Errorf("%s: %v, want %v", kind, err, ledger.ErrBusy)
		}
		if n := faults.Fired(kind); n < 2 || n > 10 {
			t.Errorf("%s: %d attempts, want a few", kind, n)
		}
		faults.Heal()
		if _, err := s.Booking(t.Context(), booking().ID); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s: after a busy answer the booking is there (%v)", kind, err)
		}
		if err := s.Apply(t.Context(), hold); err != nil {
			t.Errorf("%s: the repeat: %v", kind, err)
		}
	}
}

// A failed condition that cannot be read back is no verdict.
func TestFoundThatCannotBeRead(t *testing.T) {
	faults := &fault.Script{}
	s := newStore(t, dial(t, serve(t, table.Options{Faults: faults}), plain, true))
	pay, err := ledger.Confirm(in(booking(), ledger.Held), ledger.Capture{Key: booking().Payment, At: start}, "worker", start)
	if err != nil {
		t.Fatal(err)
	}
	faults.Once(fault.Point{Op: "TransactGetItems"}, fault.Verdict{Kind: fault.FailBefore})
	var failed *ledger.ConditionError
	if err := s.Apply(t.Context(), pay); err == nil || errors.As(err, &failed) || faults.Fired(fault.FailBefore) != 1 {
		t.Errorf("%v, want an error that is no failed condition", err)
	}
}

// Rows that the table leaves unprocessed are written by the next attempt.
func TestUnprocessedRowsAreWritten(t *testing.T) {
	faults := &fault.Script{}
	s := newStore(t, dial(t, serve(t, table.Options{Faults: faults}), plain, true))
	faults.Inject(fault.Point{Op: "BatchWriteItem"}, 0, 2, fault.FailEntries(0, 1, 2))
	var rows []ledger.RosterRow
	for _, c := range []string{"a", "b", "c", "d"} {
		rows = append(rows, ledger.RosterRow{Candidate: c})
	}
	if err := s.PutRoster(t.Context(), "spring", rows); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := s.Scan(t.Context(), "spring", ledger.Visitor{Roster: func(ledger.RosterRow) error { n++; return nil }})
	if err != nil || n != len(rows) || faults.Fired(fault.Partial) != 2 {
		t.Errorf("%d rows (%v) after %d partial batches", n, err, faults.Fired(fault.Partial))
	}
	faults.Inject(fault.Point{Op: "BatchWriteItem"}, 0, -1, fault.FailEntries(0))
	if err := s.PutRoster(t.Context(), "spring", rows); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("a row that is never written: %v, want %v", err, ledger.ErrBusy)
	}
}

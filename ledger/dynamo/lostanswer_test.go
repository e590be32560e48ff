package dynamo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/dynamo"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/table"
	"github.com/holdfast/holdfast/sale"
)

// Each write is made and its answer lost. The caller repeats it, with a new
// token of the SDK's, and has to find out that it was his own (protocol.md 1.7).

type lost struct {
	*testing.T
	faults *fault.Script
	store  *dynamo.Store
}

func newLost(t *testing.T) *lost {
	faults := &fault.Script{}
	return &lost{t, faults, newStore(t, dial(t, serve(t, table.Options{Faults: faults}), plain, true))}
}

// twice runs call with its answer lost, then again, and returns the second
// outcome.
func (l *lost) twice(op string, call func() error) error {
	l.Helper()
	before := l.faults.Fired(fault.LoseAnswer)
	l.faults.Once(fault.Point{Service: "dynamodb", Op: op}, fault.Verdict{Kind: fault.LoseAnswer})
	err := call()
	var failed *ledger.ConditionError
	if err == nil || errors.As(err, &failed) || errors.Is(err, ledger.ErrBusy) {
		l.Fatalf("%s without an answer: %v, want an unknown outcome", op, err)
	}
	if l.faults.Fired(fault.LoseAnswer) != before+1 {
		l.Fatalf("%s: no answer was lost", op)
	}
	return call()
}

// found wants the repeat of a transition to fail a condition.
func (l *lost) found(t ledger.Transition, err error) ledger.Found {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
	err = l.twice("TransactWriteItems", func() error { return l.store.Apply(l.Context(), t) })
	var failed *ledger.ConditionError
	if !errors.As(err, &failed) {
		l.Fatalf("repeat of %s: %v, want a failed condition", t.Name, err)
	}
	return failed.Found
}

func booking() ledger.Booking {
	return ledger.Booking{ID: "b1", Sale: "spring", Candidate: "c1", Level: "N1", Seats: []ledger.Seat{{Token: "N1-1", Score: 1}},
		Payment: ledger.PaymentKey{Gateway: "sandbox", ID: "p1"}, Price: sale.Money{AmountMinor: 100, Currency: "BDT"},
		AdmittedAt: start, HoldUntil: start.Add(10 * time.Minute)}
}

func in(b ledger.Booking, s ledger.State) ledger.Booking {
	b.State = s
	return b
}

func TestLostAnswersOfABookingsLife(t *testing.T) {
	l, b := newLost(t), booking()
	c := ledger.Capture{Key: b.Payment, AmountMinor: 100, Currency: "BDT", At: start}
	if v := ledger.ReadHold(b, l.found(ledger.Hold(b, "worker", start))); v != ledger.VerdictDone {
		t.Errorf("T1: verdict %d", v)
	}
	later := b.HoldUntil.Add(time.Minute)
	if f := l.found(ledger.AskAgain(in(b, ledger.Held), later, "reaper", start)); f.Booking.ReleaseAsks != 1 || !f.Booking.HoldUntil.Equal(later) {
		t.Errorf("release-ask: %d asks, hold until %v", f.Booking.ReleaseAsks, f.Booking.HoldUntil)
	}
	if v := ledger.ReadPay(b, b.Payment, l.found(ledger.Confirm(in(b, ledger.Held), c, "worker", start))); v != ledger.VerdictDone {
		t.Errorf("T2: verdict %d", v)
	}
	if f := l.found(ledger.Cancel(in(b, ledger.Paid), "operator:ann", start)); f.Booking.State != ledger.Released || f.Payment.Refund != ledger.RefundDue {
		t.Errorf("T8: %+v", f)
	}
	p, err := l.store.Payment(t.Context(), b.Payment)
	if err != nil {
		t.Fatal(err)
	}
	if f := l.found(ledger.RefundNext(p, start)); f.Payment.Refund != ledger.RefundSent {
		t.Errorf("T6: refund %s", f.Payment.Refund)
	}
	undo, err := ledger.UndoDone(in(b, ledger.Released), start)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.twice("TransactWriteItems", func() error { return l.store.Apply(t.Context(), undo) }); err != nil {
		t.Errorf("T5 again: %v", err)
	}
	got, err := l.store.Booking(t.Context(), b.ID)
	if err != nil || len(got.History) != 4 {
		t.Errorf("history of %d entries, want 4: %v (%v)", len(got.History), got.History, err)
	}
}

func TestLostAnswerOfALateApply(t *testing.T) {
	l, b := newLost(t), booking()
	c := ledger.Capture{Key: b.Payment, AmountMinor: 100, Currency: "BDT", At: start}
	if f := l.found(ledger.Tombstone(b, ledger.ReasonOrphan, "reaper", start)); f.Booking.State != ledger.Released {
		t.Errorf("T4: %s", f.Booking.State)
	}
	late := b
	late.ID = sale.LateBookingID(b.ID)
	if v := ledger.ReadLate(late, l.found(ledger.ApplyLate(late, b.ID, c, "worker", start))); v != ledger.VerdictDone {
		t.Errorf("late apply: verdict %d", v)
	}
}

func TestLostAnswersOfTheOtherWrites(t *testing.T) {
	l := newLost(t)
	ctx, s := t.Context(), l.store
	for _, c := range []struct {
		op   string
		call func() error
		want error // of the repeat
	}{
		{"TransactWriteItems", func() error { return s.CreateControl(ctx, ledger.Control{Sale: "spring"}) }, ledger.ErrExists},
		{"PutItem", func() error {
			_, err := s.UpdateControl(ctx, "spring", func(c *ledger.Control) error { c.Frozen = true; return nil })
			return err
		}, nil},
		{"PutItem", func() error { return s.PutStatus(ctx, "spring", 1, 1, []byte("{}")) }, ledger.ErrStale},
		{"PutItem", func() error { return s.NoteSweep(ctx, "spring", ledger.SweepNote{Kind: "sweep", At: start}) }, nil},
		{"PutItem", func() error { return s.AppendAudit(ctx, "spring", ledger.AuditEntry{At: start, Action: "open"}) }, nil},
		{"PutItem", func() error { return s.Park(ctx, ledger.InboxItem{Sale: "spring", ID: "x"}) }, nil},
		{"UpdateItem", func() error { return s.ResolveParked(ctx, "spring", "x", "operator:ann") }, nil},
		{"BatchWriteItem", func() error { return s.PutRoster(ctx, "spring", []ledger.RosterRow{{Candidate: "c"}}) }, nil},
	} {
		if err := l.twice(c.op, c.call); !errors.Is(err, c.want) {
			t.Errorf("%s again: %v, want %v", c.op, err, c.want)
		}
	}
	n := 0
	if err := s.Audit(ctx, "spring", func(ledger.AuditEntry) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d audit entries (%v), want 1", n, err)
	}
}

// The SDK repeats a conditional put whose answer was lost, and the repeat fails
// on its own success: that is a success (protocol.md 3A row 41).
func TestAnAttemptOfTheSDKMeetsItself(t *testing.T) {
	faults := &fault.Script{}
	s := newStore(t, dial(t, serve(t, table.Options{Faults: faults}), plain, false))
	ctx := t.Context()
	if err := s.CreateControl(ctx, ledger.Control{Sale: "spring"}); err != nil {
		t.Fatal(err)
	}
	faults.Once(fault.Point{Op: "PutItem"}, fault.Verdict{Kind: fault.LoseAnswer})
	changes := 0
	got, err := s.UpdateControl(ctx, "spring", func(c *ledger.Control) error { changes++; c.Gen++; return nil })
	if err != nil || got.Gen != 1 || changes != 1 || faults.Fired(fault.LoseAnswer) != 1 {
		t.Errorf("gen %d after %d changes (%v), want one of each", got.Gen, changes, err)
	}
}

package operator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/operator"
)

// These acts are on the world's own sale, with bookings that went the whole way.
const spring = lifecycletest.Sale

// held books and writes the booking to the ledger, as a worker does.
func (b *bench) held(candidate, level string) lifecycletest.Booked {
	b.t.Helper()
	k := b.Book(candidate, level, b.Page)
	hold, err := ledger.Hold(lifecycle.BookingFromHeld(k.Held), "worker", b.World.Now())
	b.must(err)
	b.must(b.World.Store.Apply(b.ctx, hold))
	b.must(b.World.Steps.Settle(b.ctx, b.World.Booking(k.ID)))
	return k
}

// paid pays it and confirms, as gateway and worker do.
func (b *bench) paid(candidate, level string) lifecycletest.Booked {
	b.t.Helper()
	k := b.held(candidate, level)
	if !b.Page.Pay(k.PaymentID) {
		b.t.Fatal("the page takes no money")
	}
	booking := b.World.Booking(k.ID)
	confirm, err := ledger.Confirm(booking, ledger.Capture{Key: k.Key, AmountMinor: booking.Price.AmountMinor, Currency: booking.Price.Currency, At: b.World.Now()}, "worker", b.World.Now())
	b.must(err)
	b.must(b.World.Store.Apply(b.ctx, confirm))
	b.must(b.World.Steps.Settle(b.ctx, b.World.Booking(k.ID)))
	return k
}

func (b *bench) springTrail() (acts []string) {
	b.t.Helper()
	b.must(b.Trail(b.ctx, spring, func(e ledger.AuditEntry) error {
		acts = append(acts, fmt.Sprintf("%s: %s -> %s (%s, %s)", e.Action, e.Before, e.After, e.Actor, e.Reason))
		return nil
	}))
	return acts
}

func TestHoldsAreListedOldestFirst(t *testing.T) {
	b := newBench(t)
	first := b.held("c1", "N1")
	b.Advance(90 * time.Second)
	second := b.Book("c2", "N1", b.Page)
	b.paid("c3", "N2")
	b.Advance(time.Second)
	var got []operator.Hold
	b.must(b.Holds(b.ctx, spring, func(h operator.Hold) error { got = append(got, h); return nil }))
	want := []operator.Hold{
		{BookingID: first.ID, Owner: "c1", Level: "N1", Seats: []string{"N1-1"}, State: operator.HoldHeld, Payment: first.Key.String(), Age: 91 * time.Second, HoldUntil: first.Held.Held.HoldUntil},
		{BookingID: second.ID, Owner: "c2", Level: "N1", Seats: []string{"N1-2"}, State: operator.HoldPending, Payment: second.Key.String(), Age: time.Second, HoldUntil: second.Held.Held.HoldUntil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	enough := errors.New("enough")
	if err := b.Holds(b.ctx, spring, func(operator.Hold) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the walk goes on after %v", err)
	}
}

// Case B08: released once, audited, and again is no error.
func TestReleaseHold(t *testing.T) {
	b := newBench(t)
	k := b.held("c1", "N2")
	for n, want := range []lifecycle.ReleaseOutcome{lifecycle.Released, lifecycle.AlreadyReleased} {
		out, err := b.ReleaseHold(b.ctx, k.ID, ann)
		if err != nil || out != want {
			t.Errorf("release %d: %v, %v", n, out, err)
		}
	}
	got := b.World.Booking(k.ID)
	if got.State != ledger.Released || got.Reason != ledger.ReasonOperator || got.Actor != ann.Actor || got.UndoOwed {
		t.Errorf("booking %+v", got)
	}
	if diff := cmp.Diff([]string{"release " + k.ID + ": held -> released (operator:ann, because)"}, b.springTrail()); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
	b.held("c2", "N2") // the one seat of the level sells again
}

func TestReleaseOfABookingThatTheLedgerHasNotYet(t *testing.T) {
	b := newBench(t)
	k := b.Book("c1", "N2", b.Page)
	out, err := b.ReleaseHold(b.ctx, k.ID, ann)
	if err != nil || out != lifecycle.Released {
		t.Fatalf("%v, %v", out, err)
	}
	hold, err := ledger.Hold(lifecycle.BookingFromHeld(k.Held), "worker", b.World.Now())
	b.must(err)
	var failed *ledger.ConditionError
	if err := b.World.Store.Apply(b.ctx, hold); !errors.As(err, &failed) {
		t.Errorf("its late event is written: %v", err)
	}
	b.held("c2", "N2")
}

func TestAPaymentThatWasFasterWins(t *testing.T) {
	b := newBench(t)
	k := b.held("c1", "N1")
	b.Page.Pay(k.PaymentID)
	out, err := b.ReleaseHold(b.ctx, k.ID, ann)
	if err != nil || out != lifecycle.AlreadyPaid {
		t.Errorf("%v, %v", out, err)
	}
	if b.World.Booking(k.ID).State != ledger.Held || len(b.Queued()) != 1 {
		t.Error("it was released, or its payment was not queued")
	}
}

func TestReleaseCrashedAtEveryStep(t *testing.T) {
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			b := newBench(t)
			booked := b.held("c1", "N2")
			b.Faults.CrashAt(k, after)
			_, err := b.ReleaseHold(b.ctx, booked.ID, ann)
			crashed, ops := b.Faults.Crashed()
			b.Faults.Restart()
			if !crashed {
				b.must(err)
				break
			}
			if _, err := b.ReleaseHold(b.ctx, booked.ID, ann); err != nil {
				t.Fatalf("again after %v: %v", ops, err)
			}
			if got := b.World.Booking(booked.ID); got.State != ledger.Released || got.Actor != ann.Actor {
				t.Fatalf("after %v: %+v", ops, got)
			}
			if len(b.springTrail()) == 0 {
				t.Fatalf("after %v: released, and the trail does not say so", ops)
			}
			b.held("c2", "N2")
			b.World.Check()
		}
	}
}

func TestCancelPaid(t *testing.T) {
	b := newBench(t)
	k := b.paid("c1", "N2")
	for range 2 {
		b.must(b.CancelPaid(b.ctx, k.ID, ann))
	}
	got, p := b.World.Booking(k.ID), b.World.Payment(k.Key)
	if got.State != ledger.Released || got.Reason != ledger.ReasonCancelled || p.Resolution != ledger.Refund || p.Refund != ledger.RefundDone {
		t.Errorf("booking %+v, payment %+v", got, p)
	}
	if n := b.Page.Refunds(k.PaymentID); n != 1 {
		t.Errorf("refunded %d times", n)
	}
	if diff := cmp.Diff([]string{"cancel " + k.ID + ": paid -> cancelled, refund due (operator:ann, because)"}, b.springTrail()); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
	b.held("c2", "N2")
}

func TestCancelOfAHeldBookingIsRefused(t *testing.T) {
	b := newBench(t)
	k := b.held("c1", "N1")
	err := b.CancelPaid(b.ctx, k.ID, ann)
	refused(t, err, operator.CodeNotPaid)
	if !errors.Is(err, lifecycle.ErrNotPaid) || len(b.springTrail()) != 0 {
		t.Errorf("%v, trail %q", err, b.springTrail())
	}
	_, err = b.ReleaseHold(b.ctx, "nothing", ann)
	refused(t, err, operator.CodeUnknownBooking)
	if !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestView(t *testing.T) {
	b := newBench(t)
	b.held("c1", "N1")
	b.Advance(5 * time.Second)
	b.Book("c2", "N1", b.Page)
	b.paid("c3", "N2")
	b.Advance(7 * time.Second)
	b.queue.depth.Visible = 4
	b.must(b.World.Store.NoteSweep(b.ctx, spring, ledger.SweepNote{Kind: "diff", At: b.World.Now(), Counts: map[string]int{"open": 2}, Suspects: []string{"lost:B9"}}))
	v, err := b.View(b.ctx, spring)
	b.must(err)
	want := []operator.LevelView{{Name: "N1", Cap: 2, Held: 2, Pending: 1}, {Name: "N2", Cap: 1, Paid: 1}}
	if diff := cmp.Diff(want, v.Levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(operator.LevelView{Name: "total", Cap: 3, Held: 2, Paid: 1, Pending: 1}, v.Total); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
	if !v.Selling || v.Bookings != 3 || v.OldestAge != 7 || v.Queue == nil || v.Queue.Waiting != 4 || v.Diff == nil || v.Sweep != nil {
		t.Errorf("view %+v", v)
	}
	if v.OldestHold != 12 || v.DueHolds != 0 {
		t.Errorf("the oldest hold is %v s old, %d are due", v.OldestHold, v.DueHolds)
	}
	drift, err := b.Drift(b.ctx, spring)
	b.must(err)
	if drift.At == nil || drift.Counts["open"] != 2 || len(drift.Suspects) != 1 {
		t.Errorf("drift %+v", drift)
	}
	b.Advance(b.World.Plan.Hold - 8*time.Second) // the hold of 12 seconds ago is over, that of 7 seconds ago is not
	v, err = b.View(b.ctx, spring)
	b.must(err)
	if v.DueHolds != 1 {
		t.Errorf("%d holds are due, 1 is", v.DueHolds)
	}
	b.queue.err = errors.New("no route")
	b.World.Redis.Flush()
	v, err = b.View(b.ctx, spring)
	if err != nil || v.QueueError == "" || v.Selling || v.Open || !v.Lost {
		t.Errorf("with everything lost: %+v, %v", v, err)
	}
}

// Case B18: disjoint, and they sum up.
func TestTotalsSumUp(t *testing.T) {
	b := newBench(t)
	b.paid("c1", "N2")
	released := b.held("c2", "N1")
	_, err := b.ReleaseHold(b.ctx, released.ID, ann)
	b.must(err)
	cancelled := b.paid("c3", "N1")
	b.must(b.CancelPaid(b.ctx, cancelled.ID, ann))
	b.held("c4", "N1")
	got, err := b.Totals(b.ctx, spring)
	b.must(err)
	want := operator.Totals{
		Sale: spring, Bookings: 4, Held: operator.Count{Bookings: 1, Seats: 1, AmountMinor: 10000}, Paid: operator.Count{Bookings: 1, Seats: 1, AmountMinor: 15000},
		Released: map[string]int{"released_by_operator": 1, "cancelled_by_operator": 1}, Refunds: map[string]int{"DONE": 1},
		ByLevel: map[string]operator.LevelTotals{"N1": {Held: operator.Count{Bookings: 1, Seats: 1, AmountMinor: 10000}}, "N2": {Paid: operator.Count{Bookings: 1, Seats: 1, AmountMinor: 15000}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	sum := got.Held.Bookings + got.Paid.Bookings
	for _, n := range got.Released {
		sum += n
	}
	if sum != got.Bookings {
		t.Errorf("the counts sum to %d of %d", sum, got.Bookings)
	}
}

func TestLookup(t *testing.T) {
	b := selling(t)
	b.must(b.load(person(1, "N1"), person(2)))
	b.book("N1", 1, 1)
	c, err := b.Lookup(b.ctx, exam, " p0001 ", "P1@Example.org")
	b.must(err)
	if !c.OnRoster || c.Owner != b.hash(1) || c.Email == nil || !*c.Email || strings.Join(c.Levels, " ") != "N1" || c.Booking == nil || c.Booking.ID != "X1" || c.Booking.State != ledger.None {
		t.Errorf("candidate %+v", c)
	}
	if c, err = b.Lookup(b.ctx, exam, "P0002", "else@example.org"); err != nil || !c.OnRoster || *c.Email || c.Booking != nil {
		t.Errorf("candidate %+v, %v", c, err)
	}
	if c, err = b.Lookup(b.ctx, exam, "P9999", ""); err != nil || c.OnRoster || c.Email != nil {
		t.Errorf("candidate %+v, %v", c, err)
	}
	if over, err := b.Ended(b.ctx, exam, b.hash(1)); err != nil || len(over) != 0 {
		t.Errorf("a booking that is not over has ended: %v, %v", over, err)
	}
	_, err = b.Lookup(b.ctx, exam, "no code", "")
	if r := refused(t, err, operator.CodeInvalid); strings.Contains(r.Error(), "no code") {
		t.Errorf("the code is in the error: %v", r)
	}
}

// TestEnded is what a help desk is asked: somebody had a seat and has none.
func TestEnded(t *testing.T) {
	b := selling(t)
	first := b.held("c1", "N1")
	_, err := b.ReleaseHold(b.ctx, first.ID, ann)
	b.must(err)
	b.Advance(time.Minute)
	second := b.held("c1", "N1")
	_, err = b.ReleaseHold(b.ctx, second.ID, ann)
	b.must(err)
	b.held("c1", "N1") // lives
	b.held("c2", "N1") // is another's
	over, err := b.Ended(b.ctx, spring, "c1")
	b.must(err)
	if len(over) != 2 || over[0].ID != second.ID || over[1].ID != first.ID {
		t.Fatalf("ended: %+v", over)
	}
	if last := over[0].History[len(over[0].History)-1]; last.To != ledger.Released || last.Actor != ann.Actor {
		t.Errorf("who ended it is not said: %+v", last)
	}
}

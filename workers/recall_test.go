package workers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
)

// calls are those of one delivery, to any port, without the reading of the control
// item, which is cached elsewhere.
func (r *rig) calls(e events.Event) []string {
	r.T.Helper()
	r.Faults.Restart()
	if err := r.deliver(e, 1); err != nil {
		r.T.Fatal(err)
	}
	_, ops := r.Faults.Crashed()
	return slices.DeleteFunc(ops, func(op string) bool { return strings.Contains(op, "Control") })
}

// A payer's redirect and the webhook tell the same. What the process has just
// written is neither read again nor asked for again.
func TestWhatWasJustWrittenIsNotRead(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	first := r.calls(r.notice(b))
	if n := len(first); n != 3 || slices.Contains(first, "ledger Booking") {
		t.Errorf("the first notice makes %d calls %q, want question, write and settle", n, first)
	}
	if second := r.calls(r.notice(b)); len(second) != 0 {
		t.Errorf("the second notice makes calls: %q", second)
	}
	if told := r.calls(b.Captured(r.Now())); len(told) != 0 { // a reaper, whose question was older
		t.Errorf("a report of the same money makes calls: %q", told)
	}
	r.state(b.ID, ledger.Paid)
	r.resolution(b, ledger.Applied, "")

	r.h = newHandler(r.World) // another process: it reads
	if other := r.calls(r.notice(b)); !slices.Contains(other, "ledger Booking") {
		t.Errorf("a process without memory makes only these calls: %q", other)
	}
}

// The memory decides nothing: a booking that is held no more is found so.
func TestRememberedHoldThatIsOver(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	if err := r.Reap(r.Booking(b.ID).HoldUntil, r.Plan.Hold); err != nil { // as by a reaper whose clock runs ahead
		t.Fatal(err)
	}
	r.state(b.ID, ledger.Released)
	other := r.Book("c2", "N2", r.Page)
	r.done(other.Held)
	r.Page.Pay(other.PaymentID)
	r.done(r.notice(other))
	r.payLate(r.Page, b)
	r.done(r.notice(b))
	r.heal()
	r.state(b.ID, ledger.Released)
	r.resolution(b, ledger.Refund, ledger.RefundDone)
	r.state(other.ID, ledger.Paid)
}

// Nor does it hide what a further payment of the same booking is.
func TestRememberedPaymentIsOnlyItself(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	second := r.secondPayment(b)
	r.done(r.notice(second))
	r.heal()
	r.resolution(b, ledger.Applied, "")
	r.resolution(second, ledger.Refund, ledger.RefundDone)
}

// A payment that differs from what is remembered goes to review, as any.
func TestRememberedHoldAndAnotherAmount(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	wrong := b.Captured(r.Now())
	wrong.Captured.AmountMinor++
	r.done(wrong)
	r.state(b.ID, ledger.Held)
	if p := r.Payment(b.Key); p.Resolution != ledger.Review {
		t.Errorf("the payment is %q, want it in review", p.Resolution)
	}
}

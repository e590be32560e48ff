package ledgertest

import (
	"slices"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// transitionTests: every transition meets a booking in every state. The caller
// believes what his constructor needs; the store knows better.
var transitionTests = func() []suiteTest {
	var all []suiteTest
	for _, step := range steps {
		for _, from := range standings {
			all = append(all, suiteTest{step.name + " meets " + from.name, func(w *world) {
				b := booking(1)
				from.reach(w, b)
				if slices.Contains(step.legal, from.name) {
					w.done(step.make(b, w.now))
				} else {
					w.refused(step.make(b, w.now))
				}
				w.same()
				w.lists(start.Add(24 * time.Hour))
			}})
		}
	}
	return all
}()

// standing is a way in which a booking can stand.
type standing struct {
	name  string
	reach func(w *world, b ledger.Booking)
}

var standings = []standing{
	{"none", func(*world, ledger.Booking) {}},
	{"held", func(w *world, b ledger.Booking) { w.in(ledger.Held, b) }},
	{"paid", func(w *world, b ledger.Booking) { w.in(ledger.Paid, b) }},
	{"released", func(w *world, b ledger.Booking) { w.in(ledger.Released, b) }},
	{"tombstone", func(w *world, b ledger.Booking) {
		w.done(ledger.Tombstone(b, ledger.ReasonUnattached, "reaper", w.now))
	}},
	{"cancelled", func(w *world, b ledger.Booking) {
		w.in(ledger.Paid, b)
		w.done(ledger.Cancel(as(b, ledger.Paid), "operator:ann", w.now))
	}},
}

type step struct {
	name  string
	legal []string // names of standings from which it is written
	make  func(b ledger.Booking, now time.Time) (ledger.Transition, error)
}

var steps = []step{
	{"T1", []string{"none"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Hold(b, "worker", now)
	}},
	{"T2", []string{"held"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Confirm(as(b, ledger.Held), capture(b), "worker", now)
	}},
	{"T2'", []string{"none"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.ConfirmUnheld(b, capture(b), "worker", now)
	}},
	{"T3 due", []string{"held"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Expire(as(b, ledger.Held), b.HoldUntil, "reaper", now)
	}},
	{"T3 not due", nil, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		cut := b.HoldUntil.Add(-time.Millisecond)
		b.HoldUntil = cut // as it was before somebody extended it
		return ledger.Expire(as(b, ledger.Held), cut, "reaper", now)
	}},
	{"T3'", []string{"held"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Release(as(b, ledger.Held), ledger.ReasonOperator, "operator:ann", now)
	}},
	{"T4", []string{"none"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Tombstone(b, ledger.ReasonOrphan, "reaper", now)
	}},
	{"T5", []string{"released", "tombstone", "cancelled"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.UndoDone(as(b, ledger.Released), now)
	}},
	{"T7", []string{"held"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Extend(as(b, ledger.Held), b.HoldUntil.Add(time.Millisecond), "candidate", now)
	}},
	{"T7 not later", nil, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Extend(as(b, ledger.Held), b.HoldUntil, "candidate", now)
	}},
	{"release-ask", []string{"held"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.AskAgain(as(b, ledger.Held), b.HoldUntil.Add(2*time.Minute), "reaper", now)
	}},
	{"commit gate", []string{"held"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Commit(as(b, ledger.Held), ledger.PaymentKey{Gateway: "sandbox", ID: "other"}, b.HoldUntil.Add(3*time.Minute), now)
	}},
	{"review-accept, nothing in review", nil, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		p := ledger.PaymentRecord{Key: b.Payment, Sale: b.Sale, BookingID: b.ID, Resolution: ledger.Review}
		return ledger.AcceptReviewed(as(b, ledger.Held), p, "operator:ann", "enough", now)
	}},
	{"T8", []string{"paid"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.Cancel(as(b, ledger.Paid), "operator:ann", now)
	}},
	{"late-refund", []string{"none", "held", "released", "tombstone"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		return ledger.RefundLate(b, capture(b), "level full", now), nil
	}},
	{"second-payment", []string{"none", "held", "paid", "released", "tombstone", "cancelled"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		second := capture(b)
		second.Key.ID = "second"
		return ledger.RefundSecond(b, second, now), nil
	}},
	{"review", []string{"none", "held", "released", "tombstone"}, func(b ledger.Booking, now time.Time) (ledger.Transition, error) {
		short := capture(b)
		short.AmountMinor--
		return ledger.Flag(b, short, "amount differs", now), nil
	}},
}

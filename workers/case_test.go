package workers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

// permutations calls f with every order of n things.
func permutations(n int, f func(order []int)) {
	var walk func(done, left []int)
	walk = func(done, left []int) {
		if len(left) == 0 {
			f(done)
			return
		}
		for i, v := range left {
			walk(append(slices.Clone(done), v), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	walk(nil, all)
}

// numbered is a notice with an event id of its own.
func numbered(e events.Event, id string) events.Event {
	n := *e.Notice
	n.EventID = id
	e.Notice = &n
	return e
}

// TestCase_D06: a gateway's events (created, processing, failed, succeeded) and
// our own booking.held and payment.captured come in every order. The end is the
// same: what the gateway says when it is asked counts, and nothing else.
func TestCase_D06_EveryOrderOfEvents(t *testing.T) {
	for name, pays := range map[string]bool{"paid": true, "not paid": false} {
		t.Run(name, func(t *testing.T) {
			permutations(5, func(order []int) {
				r := newRig(t)
				b := r.Book("c1", "N1", r.Page)
				if pays {
					r.Page.Pay(b.PaymentID)
				}
				list := []events.Event{b.Held, numbered(r.notice(b), "created"), numbered(r.notice(b), "processing"),
					numbered(r.notice(b), "failed"), numbered(r.notice(b), "succeeded")}
				if pays {
					list[2] = b.Captured(r.Now())
				}
				for _, i := range order {
					for n := 1; r.deliver(list[i], n) != nil && n < 20; n++ { // as the queue does
					}
				}
				want := ledger.Held
				if pays {
					want = ledger.Paid
				}
				if got := r.Booking(b.ID); got.State != want || t.Failed() {
					t.Fatalf("order %v: %q (%s)", order, got.State, got.Reason)
				}
				r.Check()
			})
		})
	}
}

// TestCase_D15: the event of a payment comes again after hours and days, when no
// memory of deduplication is left.
func TestCase_D15_ReplayAfterDays(t *testing.T) {
	for name, end := range map[string]func(r *rig) lifecycletest.Booked{
		"paid": func(r *rig) lifecycletest.Booked { return r.paidBooking("c1", "N1") },
		"refunded": func(r *rig) lifecycletest.Booked {
			b := r.Book("c1", "N2", r.Page)
			r.done(b.Held)
			r.release(b)
			r.paidBooking("c2", "N2")
			r.payLate(r.Page, b)
			r.done(r.notice(b))
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := end(r)
			booking, money, refunds := r.Booking(b.ID), r.Payment(b.Key), r.Page.Refunds(b.PaymentID)
			for _, later := range []time.Duration{61 * time.Minute, 25 * time.Hour, 72 * time.Hour} {
				r.Advance(later)
				for k := range 3 {
					r.done(numbered(r.notice(b), fmt.Sprintf("evt-%v-%d", later, k)), b.Captured(r.Now()), b.Held)
				}
			}
			if got := r.Booking(b.ID); got.State != booking.State || got.Payment != booking.Payment || got.Successor != booking.Successor {
				t.Errorf("it was %+v, and is %+v", booking, got)
			}
			if got := r.Payment(b.Key); got.Resolution != money.Resolution || got.Refund != money.Refund || r.Page.Refunds(b.PaymentID) != refunds {
				t.Errorf("the payment was %+v, and is %+v; %d refunds", money, got, r.Page.Refunds(b.PaymentID))
			}
			r.Quiet()
		})
	}
}

// paidBooking is booked, written and paid.
func (r *rig) paidBooking(candidate, level string) lifecycletest.Booked {
	r.T.Helper()
	b := r.Book(candidate, level, r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	r.state(b.ID, ledger.Paid)
	return b
}

// TestCase_B31: an expiry of payment 1 comes long after the guard of any key is gone,
// and the person has booked again with payment 2.
func TestCase_B31_OldExpiryMeetsANewBooking(t *testing.T) {
	r := newRig(t)
	first := r.Book("c1", "N1", r.Page)
	r.done(first.Held)
	r.release(first)
	r.Advance(20 * time.Hour) // the sale is open for a day
	second := r.Book("c1", "N1", r.Page)
	r.done(second.Held)
	for n := range 3 {
		r.done(numbered(r.notice(first), fmt.Sprint("expired-", n)), first.Held)
	}
	if _, err := r.Steps.Expire(t.Context(), first.ID, r.Now()); err != nil {
		t.Logf("expiring it again: %v", err)
	}
	r.state(second.ID, ledger.Held)
	r.Page.Pay(second.PaymentID)
	r.done(r.notice(second))
	r.state(second.ID, ledger.Paid)
	r.state(first.ID, ledger.Released)
	r.Quiet()
}

// TestCase_D04: the write of booking.held comes late and must not take the paid
// state back.
func TestCase_D04_LateHeldLeavesPaid(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	r.state(b.ID, ledger.Paid)
	for range 3 {
		r.done(b.Held)
		r.state(b.ID, ledger.Paid)
	}
	r.Quiet()
}

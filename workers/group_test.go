package workers_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/workers"
)

// A group of named seats that was released before its payment came: all of its
// seats, or the money back.

func hallRig(t *testing.T) *rig {
	t.Helper()
	w := lifecycletest.NewHall(t)
	return &rig{w, &workers.Handler{Steps: w.Steps, Log: slog.New(slog.DiscardHandler)}}
}

// owners are who has the named seats, in Redis and in the ledger; they must agree.
func (r *rig) owners(names ...string) []string {
	r.T.Helper()
	m, err := r.Redis.Seats(r.T.Context(), lifecycletest.Sale, []string{"Hall"})
	if err != nil {
		r.T.Fatal(err)
	}
	list := make([]string, len(names))
	for i, name := range names {
		for _, h := range m.Holders {
			if slices.Contains(h.Seats, name) {
				list[i] = h.ID
			}
		}
		if id, _ := r.Store.SeatBooking(r.T.Context(), lifecycletest.Sale, name); id != list[i] {
			r.T.Fatalf("seat %s is %q's in Redis and %q's in the ledger", name, list[i], id)
		}
	}
	return list
}

var family = []string{"S1", "B1", "B2"} // 100.00 + 2 x 900.00

func TestLateGroup_GetsAllItsSeatsAgain(t *testing.T) {
	r := hallRig(t)
	b := r.Book("c1", "Hall", r.Page, family...)
	r.done(b.Held)
	r.release(b)
	if got := r.owners(family...); !slices.Equal(got, []string{"", "", ""}) {
		t.Fatalf("after the release the seats are %q's", got)
	}
	r.payLate(r.Page, b)
	r.done(r.notice(b), r.notice(b))
	late := r.Booking(sale.LateBookingID(b.ID))
	if late.State != ledger.Paid || late.Price.AmountMinor != 190000 || !slices.Equal(late.Tokens(), family) {
		t.Fatalf("late booking %+v", late)
	}
	if got := r.owners(family...); !slices.Equal(got, []string{late.ID, late.ID, late.ID}) {
		t.Errorf("the seats are %q's", got)
	}
	r.resolution(b, ledger.Applied, ledger.NoRefund)
	r.Quiet()
}

// Whichever of the seats somebody else has, and however far he is, nothing of
// the group is kept.
func TestLateGroup_WithoutOneOfItsSeatsIsRefundedWhole(t *testing.T) {
	for _, gone := range family {
		for _, how := range []string{"softly held", "held", "paid"} {
			t.Run(fmt.Sprintf("%s is %s", gone, how), func(t *testing.T) {
				r := hallRig(t)
				b := r.Book("c1", "Hall", r.Page, family...)
				r.done(b.Held)
				r.release(b)
				if how == "softly held" {
					a, err := r.Redis.Hold(t.Context(), admission.HoldRequest{Sale: lifecycletest.Sale, HoldID: "soft", Candidate: "c2", Level: "Hall", Gen: 1,
						EmailHash: lifecycletest.Email, AmountMinor: 1, Currency: "BDT", Seats: []string{gone}, For: r.Plan.Hold, Max: r.Plan.Hold})
					if err != nil || a.Outcome != admission.Admitted {
						t.Fatalf("%+v, %v", a, err)
					}
				} else {
					other := r.Book("c2", "Hall", r.Exec, gone)
					r.done(other.Held)
					if how == "paid" {
						r.done(other.Captured(r.Now()))
						r.state(other.ID, ledger.Paid)
					}
				}
				r.payLate(r.Page, b)
				r.done(r.notice(b), r.notice(b))
				r.resolution(b, ledger.Refund, ledger.RefundDone)
				if n := r.Page.Refunds(b.PaymentID); n != 1 {
					t.Errorf("money went back %d times", n)
				}
				r.state(sale.LateBookingID(b.ID), ledger.None)
				for _, name := range family {
					if name != gone && r.owners(name)[0] != "" {
						t.Errorf("a part of the group is kept: %s", name)
					}
				}
				r.Check()
			})
		}
	}
}

// The candidate's newer booking does not give way to his older one, not even
// where all seats of that are free.
func TestLateGroup_OfACandidateWhoHasOtherSeatsIsRefunded(t *testing.T) {
	r := hallRig(t)
	first := r.Book("c1", "Hall", r.Page, "B1", "B2")
	r.done(first.Held)
	r.release(first)
	second := r.Book("c1", "Hall", r.Page, "S1", "S2")
	r.done(second.Held)
	r.payLate(r.Page, first)
	r.done(r.notice(first))
	r.resolution(first, ledger.Refund, ledger.RefundDone)
	if got := r.owners("B1", "B2", "S1", "S2"); !slices.Equal(got, []string{"", "", second.ID, second.ID}) {
		t.Errorf("the seats are %q's", got)
	}
	r.Check()
}

// A payment whose booking nobody knows any more: what a group costs says neither
// its seats nor their number, and the money of a counted seat might be a named
// one's.
func TestUnheldPaymentOfNamedSeatsIsKeptForAPerson(t *testing.T) {
	for name, book := range map[string]func(r *rig) lifecycletest.Booked{
		"group":                      func(r *rig) lifecycletest.Booked { return r.Book("c1", "Hall", r.Page, family...) },
		"counted, at a seat's price": func(r *rig) lifecycletest.Booked { return r.Book("c1", "N1", r.Page) },
	} {
		t.Run(name, func(t *testing.T) {
			r := hallRig(t)
			b := book(r)
			r.rebuilt(2)
			r.Page.Pay(b.PaymentID)
			r.done(r.notice(b))
			r.alarmed(string(lifecycle.AlarmUnattached))
			r.state(b.ID, ledger.None)
			r.Check()
		})
	}
}

// The event of a group that a rebuilt Redis has lost proves its seats: all come
// back at the price that was promised, or none.
func TestOldGeneration_GroupComesBackWhole(t *testing.T) {
	r := hallRig(t)
	b := r.Book("c1", "Hall", r.Page, family...)
	r.rebuilt(2)
	r.done(b.Held, b.Captured(r.Now()))
	if got := r.Booking(b.ID); got.State != ledger.Paid || got.Price.AmountMinor != 190000 {
		t.Errorf("%+v", got)
	}
	if got := r.owners(family...); !slices.Equal(got, []string{b.ID, b.ID, b.ID}) {
		t.Errorf("the seats are %q's", got)
	}
	r.Quiet()
}

package reaper_test

import (
	"errors"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

func bookingOf(r *rig, b lifecycletest.Booked) ledger.Booking {
	return lifecycle.BookingFromHeld(b.Held)
}

// release releases a held booking in the ledger and in Redis without asking its
// gateway: money that it took is late.
func (r *rig) release(b lifecycletest.Booked) {
	r.t.Helper()
	t, err := ledger.Release(r.World.Booking(b.ID), ledger.ReasonOperator, "operator:ann", r.Now())
	r.must(err)
	r.must(r.Store.Apply(r.t.Context(), t))
	r.must(r.Steps.GiveBack(r.t.Context(), r.World.Booking(b.ID)))
}

// admit stops where the API died right after S1: stage A, no payment.
func (r *rig) admit(candidate, level string) lifecycletest.Booked {
	r.t.Helper()
	id := "A-" + candidate
	price := r.Plan.PriceOf(level)
	a, err := r.Redis.Admit(r.t.Context(), admission.Request{Sale: saleID, BookingID: id, Candidate: candidate, Level: level, Gen: 1,
		Key: "key" + id, InputHash: "in", EmailHash: lifecycletest.Email, AmountMinor: price.AmountMinor, Currency: price.Currency, Count: 1})
	r.must(err)
	if a.Outcome != admission.Admitted {
		r.t.Fatalf("admit %s: %v", candidate, a.Outcome)
	}
	return lifecycletest.Booked{ID: id}
}

// tombstone is T4 alone: the process dies before S2.
func (r *rig) tombstone(b ledger.Booking, why ledger.Reason) {
	r.t.Helper()
	t, err := ledger.Tombstone(b, why, "ingress", r.Now())
	r.must(err)
	r.must(r.Store.Apply(r.t.Context(), t))
}

// record is the booking as Redis has it.
func (r *rig) record(b lifecycletest.Booked) ledger.Booking {
	r.t.Helper()
	rec, err := r.Redis.Record(r.t.Context(), saleID, b.ID)
	r.must(err)
	return lifecycle.BookingFromRecord(saleID, rec)
}

// gone fails the test if Redis still has the booking.
func (r *rig) gone(b lifecycletest.Booked) {
	r.t.Helper()
	if _, err := r.Redis.Record(r.t.Context(), saleID, b.ID); !errors.Is(err, admission.ErrNotFound) {
		r.t.Errorf("Redis still has %s: %v", b.ID, err)
	}
}

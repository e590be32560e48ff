package reaper_test

import (
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

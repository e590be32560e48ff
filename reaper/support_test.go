package reaper_test

import (
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

func bookingOf(r *rig, b lifecycletest.Booked) ledger.Booking { return lifecycle.BookingFromHeld(b.Held) }

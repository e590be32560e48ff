package reaper_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/reaper"
)

// TestIncidentsStandInTheTrail: each one once, however many reapers see it.
func TestIncidentsStandInTheTrail(t *testing.T) {
	r := newRig(t)
	other := r.another()
	// race lets another reaper see and note the same, between this one's look and
	// its note.
	race := func() {
		t.Helper()
		raced := false
		r.Store.Fault = func(op string) ledgertest.Fault {
			if op == "UpdateControl" && !raced {
				raced = true
				if _, err := other.Sweeper.Sweep(t.Context(), saleID); err != nil {
					t.Error(err)
				}
				r.Advance(time.Second) // the very same entry twice would be one
			}
			return ledgertest.NoFault
		}
		r.sweep()
		r.Store.Fault = nil
		if !raced {
			t.Error("nobody raced")
		}
	}
	r.promote("two", true)
	race()
	r.loseRedis()
	race()
	r.rebuild()
	var got []string
	r.must(r.Store.Audit(t.Context(), saleID, func(e ledger.AuditEntry) error {
		if e.Actor != reaper.Actor || e.Reason == "" {
			t.Errorf("%+v", e)
		}
		got = append(got, e.Action)
		return nil
	}))
	slices.Sort(got)
	if want := []string{reaper.IncidentFailover, reaper.IncidentFrozen, reaper.IncidentRebuilt}; !slices.Equal(got, want) {
		t.Errorf("the trail has %q, want %q", got, want)
	}
}

package reaper_test

import (
	"slices"
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// TestIncidentsStandInTheTrail: each one once, however many reapers see it.
func TestIncidentsStandInTheTrail(t *testing.T) {
	r := newRig(t)
	r.promote("two", true)
	r.sweep()
	if _, err := r.another().Sweeper.Sweep(t.Context(), saleID); err != nil {
		t.Fatal(err)
	}
	r.loseRedis()
	r.sweep()
	r.sweep()
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

package reaper_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
)

const hallID = "hall"

// hallRig adds a sale with the named seats H1..H4 and two counted ones.
func hallRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	plan := r.Plan
	plan.ID, plan.TotalCap, plan.MaxSeats = hallID, 0, 4
	plan.Levels = []sale.Level{{Name: "H", Kind: sale.KindSeated, Cap: 4, Seats: []sale.Seat{{Name: "H1", Score: 1}, {Name: "H2", Score: 2}, {Name: "H3", Score: 3}, {Name: "H4", Score: 4}}}, {Name: "N", Cap: 2}}
	plan = plan.WithDefaults()
	r.must(r.Redis.Install(t.Context(), admission.Plan{Sale: hallID, Gen: 1, OpensAt: plan.OpensAt, ClosesAt: plan.ClosesAt, Hold: plan.Hold,
		TotalCap: plan.TotalCap, Open: true, RosterVersion: "r1", Levels: []admission.LevelPlan{
			{Name: "H", Kind: "s", Cap: 4, Next: 1, Tokens: []string{"H1", "H2", "H3", "H4"}}, {Name: "N", Kind: "c", Cap: 2, Next: 3}}}, nil))
	var rows []admission.RosterEntry
	var kept []ledger.RosterRow
	for _, c := range []string{"c1", "c2", "c3"} {
		rows = append(rows, admission.RosterEntry{Candidate: c, EmailHash: lifecycletest.Email})
		kept = append(kept, ledger.RosterRow{Candidate: c, EmailHash: lifecycletest.Email})
	}
	r.must(r.Redis.PutRoster(t.Context(), hallID, rows))
	r.must(r.Store.PutRoster(t.Context(), hallID, kept))
	r.must(r.Store.CreateControl(t.Context(), ledger.Control{Sale: hallID, Gen: 1, Plan: plan, Open: true, ReplicationID: "one", Epoch: 1, RosterVersion: "r1", RosterSize: 3}))
	return r
}

func (r *rig) choose(id, candidate string, life time.Duration, seats ...string) {
	r.t.Helper()
	a, err := r.Redis.Hold(r.t.Context(), admission.HoldRequest{Sale: hallID, HoldID: id, Candidate: candidate, Level: "H", Gen: 1, EmailHash: lifecycletest.Email,
		AmountMinor: 1, Currency: "BDT", Seats: seats, For: life, Max: time.Hour})
	r.must(err)
	if a.Outcome != admission.Admitted {
		r.t.Fatalf("hold %s: %v", id, a.Outcome)
	}
}

func (r *rig) soft() []string {
	r.t.Helper()
	m, err := r.Redis.Seats(r.t.Context(), hallID, []string{"H"})
	r.must(err)
	var ids []string
	for _, h := range m.Holders {
		ids = append(ids, h.ID)
	}
	return ids
}

// TestSweepFreesExpiredSoftHolds leaves those that are live alone.
func TestSweepFreesExpiredSoftHolds(t *testing.T) {
	r := hallRig(t)
	r.choose("h1", "c1", time.Minute, "H1", "H2")
	r.choose("h2", "c2", time.Hour, "H3")
	r.Advance(2 * time.Minute)
	_, err := r.Sweeper.Sweep(t.Context(), hallID)
	r.must(err)
	if got := r.soft(); !slices.Equal(got, []string{"h2"}) {
		t.Errorf("held by %v, want h2 alone", got)
	}
}

// TestDiffAndAuditKnowSoftHolds: a live one is no drift and no violation, one that
// nobody freed is given back (protocol.md 3.8.5a, INV4).
func TestDiffAndAuditKnowSoftHolds(t *testing.T) {
	r := hallRig(t)
	r.choose("h1", "c1", 10*time.Minute, "H1", "H2")
	for range 2 {
		d, err := r.Differ.Diff(t.Context(), hallID)
		r.must(err)
		if d.Drift[reaper.KindSoft] != nil || d.Drift[reaper.KindUnknown] != nil {
			t.Errorf("a live soft hold is drift: %+v", d.Drift)
		}
	}
	a, err := r.Auditor.Audit(t.Context(), hallID)
	r.must(err)
	if len(a.Violations) != 0 {
		t.Errorf("violations %+v", a.Violations)
	}
	r.Advance(12 * time.Minute)
	d, err := r.Differ.Diff(t.Context(), hallID)
	r.must(err)
	if found := d.Drift[reaper.KindSoft]; found == nil || found.Count != 1 || len(r.soft()) != 0 {
		t.Errorf("drift %+v, held by %v", d.Drift, r.soft())
	}
}

// TestReseedRemovesASoftHoldThatIsInTheWay: a failover lost a booking, and
// somebody chose its seat meanwhile. The ledger wins (protocol.md 3.8.5b).
func TestReseedRemovesASoftHoldThatIsInTheWay(t *testing.T) {
	r := hallRig(t)
	b := ledger.Booking{ID: "B1", Sale: hallID, Candidate: "c1", Level: "H", Seats: []ledger.Seat{{Token: "H1", Score: 1}, {Token: "H2", Score: 2}}, Gen: 1,
		Payment: ledger.PaymentKey{Gateway: "page", ID: "p1"}, Price: r.Plan.Price, AdmittedAt: r.Now(), HoldUntil: r.Now().Add(time.Hour)}
	held, err := ledger.Hold(b, "worker", r.Now())
	r.must(err)
	r.must(r.Store.Apply(t.Context(), held))
	r.choose("h1", "c2", 10*time.Minute, "H2", "H3")
	for range 2 {
		_, err = r.Differ.Diff(t.Context(), hallID)
		r.must(err)
	}
	if got := r.soft(); !slices.Equal(got, []string{"B1"}) {
		t.Errorf("held by %v, want the booking", got)
	}
}

// TestRebuildForgetsSoftHolds: nothing was promised by them.
func TestRebuildForgetsSoftHolds(t *testing.T) {
	r := hallRig(t)
	r.choose("h1", "c1", 10*time.Minute, "H1")
	r.Redis.Flush()
	_, err := r.Rebuilder.Rebuild(t.Context(), hallID, reaper.RebuildOptions{})
	r.must(err)
	if got := r.soft(); len(got) != 0 {
		t.Errorf("held by %v", got)
	}
	a, err := r.Redis.Promote(t.Context(), admission.Request{Sale: hallID, BookingID: "B1", Candidate: "c1", Level: "H", Gen: 2, EmailHash: lifecycletest.Email}, "h1")
	r.must(err)
	if a.Outcome != admission.HoldGone {
		t.Errorf("promotion of a hold that was lost: %v", a.Outcome)
	}
}

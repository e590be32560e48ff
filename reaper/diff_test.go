package reaper_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/reaper"
)

func TestDiffOfAHealthySaleFindsNothing(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	r.paid("c2", "N2")
	r.Book("c3", "N1", r.Page) // pending: no drift
	d := r.diff()
	if !d.Clean() || d.Records != 3 || d.Live != 2 {
		t.Errorf("diff %+v", d)
	}
}

// TestDiffSandwich: what is released between the two looks at the ledger was
// not lost.
func TestDiffSandwich(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Redis.Rewind(3)
	released := false
	r.Faults.Yield = func(op string) {
		if op == "redis Missing" && !released { // after the scan of the ledger
			released = true
			r.release(b)
		}
	}
	d := r.diff()
	if !released || !d.Clean() {
		t.Errorf("diff %+v", d)
	}
	r.gone(b)
	r.restful()
}

// TestDiffDoesNotTouchWhatIsAdmittedMeanwhile: a booking that is written after
// the scan of Redis is in the ledger's scan alone.
func TestDiffDoesNotTouchWhatIsAdmittedMeanwhile(t *testing.T) {
	r := newRig(t)
	came := false
	r.Faults.Yield = func(op string) {
		if op == "ledger Scan" && !came {
			came = true
			r.held("c1", "N1", r.Page)
		}
	}
	before := r.Redis.Calls("Reseed")
	if d := r.diff(); !came || !d.Clean() || r.Redis.Calls("Reseed") != before {
		t.Errorf("diff %+v", d)
	}
}

// TestDiffSuspectsAlarmOnlyTwice: a record that the ledger never saw, and that
// is not pending.
func TestDiffSuspectsAlarmOnlyTwice(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	_, err := r.Redis.Settle(t.Context(), saleID, b.ID, "c1", false) // a bug: no ledger record
	r.must(err)
	if d := r.diff(); len(d.Suspects) != 1 || len(d.Alarmed) != 0 || r.Alarms() != "" {
		t.Errorf("first run: %+v, alarms %q", d, r.Alarms())
	}
	d := r.diff()
	if want := []string{"unknown:" + b.ID}; !slices.Equal(d.Alarmed, want) || r.Alarms() != string(reaper.AlarmDrift) {
		t.Errorf("second run: %+v, alarms %q", d, r.Alarms())
	}
	if d.Drift[reaper.KindUnknown].Examples[0] != b.ID {
		t.Errorf("examples %v", d.Drift[reaper.KindUnknown].Examples)
	}
	r.handle(b.Held)
	if d := r.diff(); !d.Clean() || len(d.Alarmed) != 0 {
		t.Errorf("third run: %+v", d)
	}
}

// TestCase_J10_DiffAbortsOnAPartialRead also shows that repeats of a scan are
// one booking.
func TestCase_J10_DiffAbortsOnAPartialRead(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	for _, broken := range []string{"redis ScanRecords", "ledger Scan", "redis Status"} {
		r.Faults.Inject = func(op string) lifecycletest.Fault {
			if op == broken {
				return lifecycletest.FailBefore
			}
			return lifecycletest.NoFault
		}
		if d, err := r.Differ.Diff(t.Context(), saleID); err == nil || len(d.Drift) > 0 {
			t.Errorf("%s failed: %+v, %v", broken, d, err)
		}
	}
	r.Faults.Inject = nil
	if _, err := r.Store.LastSweep(t.Context(), saleID, reaper.NoteDiff); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a figure was published: %v", err)
	}
	r.Redis.Rewind(5) // admit, attach, settle, and the marks of two looks
	r.Book("c2", "N1", r.Page)
	twice, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: stutter{r.Redis}, Health: r, Wait: r.wait})
	r.must(err)
	d, err := twice.Differ.Diff(t.Context(), saleID)
	r.must(err)
	if d.Records != 1 || d.Live != 1 || d.Drift[reaper.KindLost].Count != 1 {
		t.Errorf("diff %+v", d)
	}
	r.state(b, ledger.Held)
}

// stutter is a Redis whose scans show everything twice.
type stutter struct{ reaper.Redis }

func (s stutter) ScanRecords(ctx context.Context, sale string, each func(admission.Record, bool) error) error {
	return errors.Join(s.Redis.ScanRecords(ctx, sale, each), s.Redis.ScanRecords(ctx, sale, each))
}

func (s stutter) ScanPending(ctx context.Context, sale string, each func(admission.Pending) error) error {
	return errors.Join(s.Redis.ScanPending(ctx, sale, each), s.Redis.ScanPending(ctx, sale, each))
}

func TestReseedConflictWithALiveBookingIsASuspect(t *testing.T) {
	r := newRig(t)
	first := r.held("c1", "N2", r.Page)
	r.Redis.Rewind(3)
	second := r.Book("c2", "N2", r.Page)
	// The second is live too: impossible in the ledger, so it is another seat there.
	b := bookingOf(r, second)
	b.Seats = []ledger.Seat{{Token: "N2-9", Score: 9}}
	tr, err := ledger.Hold(b, "worker", r.Now())
	r.must(err)
	r.must(r.Store.Apply(t.Context(), tr))
	d := r.diff()
	if c := d.Drift[reaper.KindConflict]; c == nil || c.Repaired != 0 || c.Examples[0] != first.ID {
		t.Errorf("drift %+v", d.Drift)
	}
	if r.Alarms() != "conflict" {
		t.Errorf("alarms %q", r.Alarms())
	}
}

// TestDryRunWritesNothing lists what a run would do.
func TestDryRunWritesNothing(t *testing.T) {
	r := newRig(t)
	lost := r.held("c1", "N2", r.Page)
	r.Redis.Rewind(3)
	undone := r.held("c2", "N1", r.Page)
	r.release(undone)
	r.Redis.Rewind(1)
	r.Control(func(c *ledger.Control) { c.Plan.TotalCap = 2; c.Open = false })
	var wrote []string
	r.Faults.Yield = func(op string) {
		for _, read := range []string{"ledger Scan", "ledger Booking", "ledger Control", "ledger LastSweep", "redis ScanRecords", "redis Missing", "redis Record", "redis Status"} {
			if op == read {
				return
			}
		}
		wrote = append(wrote, op)
	}
	d, err := r.Repairer.Repair(t.Context(), saleID, true)
	r.must(err)
	r.Faults.Yield = nil
	if len(wrote) > 0 {
		t.Errorf("a dry run called %v", wrote)
	}
	want := []string{"cap:the sale", "lost:" + lost.ID, "open:spring", "undo_lost:" + undone.ID}
	if !slices.Equal(d.Suspects, want) {
		t.Errorf("listed %v, want %v", d.Suspects, want)
	}
	if d, err := r.Repairer.Repair(t.Context(), saleID, false); err != nil || d.Drift[reaper.KindLost].Repaired != 1 || d.Drift[reaper.KindUndoLost].Repaired != 1 {
		t.Errorf("repair %+v, %v", d, err)
	}
	r.Advance(time.Minute)
	r.diff() // what an operator might just be switching is repaired by the second run
	r.restful()
}

func TestDiffRepairsSwitchesThatStand(t *testing.T) {
	for name, change := range map[reaper.Kind]func(*ledger.Control){
		reaper.KindOpen:   func(c *ledger.Control) { c.Open = false },
		reaper.KindTimes:  func(c *ledger.Control) { c.Plan.ClosesAt = c.Plan.ClosesAt.Add(-time.Hour) },
		reaper.KindHold:   func(c *ledger.Control) { c.Plan.Hold -= time.Minute },
		reaper.KindRoster: func(c *ledger.Control) { c.RosterVersion = "r2" },
	} {
		t.Run(string(name), func(t *testing.T) {
			r := newRig(t)
			if name == reaper.KindRoster {
				r.must(r.Store.DropRoster(t.Context(), saleID, []string{"c1"}))
				r.must(r.Store.PutRoster(t.Context(), saleID, []ledger.RosterRow{{Candidate: "c0", EmailHash: lifecycletest.Email, Levels: []string{"N2"}}}))
			}
			r.Control(change)
			if d := r.diff(); d.Drift[name].Repaired != 0 {
				t.Errorf("repaired under the operator's hands: %+v", d.Drift[name])
			}
			if d := r.diff(); d.Drift[name].Repaired != 1 {
				t.Errorf("not repaired: %+v", d.Drift[name])
			}
			if name == reaper.KindRoster {
				rows := map[string]admission.RosterEntry{}
				r.must(r.Redis.ScanRoster(t.Context(), saleID, func(e admission.RosterEntry) error { rows[e.Candidate] = e; return nil }))
				if _, still := rows["c1"]; still || len(rows) != 9 || !slices.Equal(rows["c0"].Levels, []string{"N2"}) {
					t.Errorf("roster %v", rows)
				}
			}
			r.restful()
		})
	}
}

// TestBrokenImportIsAnAlarmAndNoReload: the ledger's rows and their count differ,
// and Redis has the rows. Nothing is loaded again; the alarm stands until the
// import has been repeated.
func TestBrokenImportIsAnAlarmAndNoReload(t *testing.T) {
	r := newRig(t)
	r.Control(func(c *ledger.Control) { c.RosterSize += 2 })
	loads := r.Redis.Calls("PutRoster")
	for n := range 5 {
		d := r.diff()
		if k := d.Drift[reaper.KindRoster]; k == nil || k.Count != 1 || k.Repaired != 0 {
			t.Errorf("run %d: %+v", n, k)
		}
		if stands := slices.Contains(d.Alarmed, "roster:"+saleID); stands != (n > 0) {
			t.Errorf("run %d: alarmed %v", n, d.Alarmed)
		}
	}
	if n := r.Redis.Calls("PutRoster") - loads; n != 0 {
		t.Errorf("the roster was loaded again %d times", n)
	}
	r.Control(func(c *ledger.Control) { c.RosterSize -= 2 }) // the import, repeated
	r.restful()
}

// TestCase_J12_UndosAfterAnOutageNeverGoBelowZero repeats every undo.
func TestCase_J12_UndosAfterAnOutageNeverGoBelowZero(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.release(b)
	for range 3 {
		r.must(r.Steps.GiveBack(t.Context(), r.World.Booking(b.ID)))
		r.diff()
	}
	r.free("N1", 2)
	r.restful()
}

// TestDiffLooksAgainBeforeItSuspects: the unknown record is gone by then.
func TestDiffLooksAgainBeforeItSuspects(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	_, err := r.Redis.Settle(t.Context(), saleID, b.ID, "c1", false)
	r.must(err)
	r.Faults.Yield = func(op string) {
		if op == "ledger Booking" {
			_, err := r.Redis.Undo(t.Context(), admission.Undo{Sale: saleID, BookingID: b.ID, Candidate: "c1", Level: "N1", Mode: admission.UndoAbort})
			r.must(err)
		}
	}
	if d := r.diff(); !d.Clean() {
		t.Errorf("diff %+v", d)
	}
}

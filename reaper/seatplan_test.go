package reaper_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
)

// edit changes Redis alone, as a failover does that loses the opposite edit.
func (r *rig) edit(op admission.SeatEditOp, level string, serial int64, seats ...string) error {
	e := admission.SeatEdit{Sale: hallID, Gen: 1, Level: level, Op: op, Serial: serial, Seats: seats}
	for i := range seats {
		e.Scores = append(e.Scores, int64(i+1))
	}
	_, err := r.Redis.EditSeats(r.t.Context(), e)
	return err
}

// hallHas fails the test unless these are the seats of the level in Redis.
func (r *rig) hallHas(level string, want ...string) {
	r.t.Helper()
	var have []string
	d := r.Redis.Dump(hallID)
	for _, f := range d.Levels[level].Free {
		have = append(have, f.Name)
	}
	for _, rec := range d.Records {
		if rec.Level == level {
			have = append(have, rec.Tokens...)
		}
	}
	if slices.Sort(have); !slices.Equal(have, want) || d.Levels[level].Cap != len(want) {
		r.t.Errorf("level %s has seats %v and cap %d, want %v", level, have, d.Levels[level].Cap, want)
	}
}

func (r *rig) diffHall() reaper.DiffResult {
	r.t.Helper()
	d, err := r.Differ.Diff(r.t.Context(), hallID)
	r.must(err)
	return d
}

// TestSeatPlanThatRedisLost: a seat that the plan has comes back, one that it has
// not goes, also where their number is the same.
func TestSeatPlanThatRedisLost(t *testing.T) {
	for name, c := range map[string]struct {
		drop, add []string
		drift     int
	}{
		"an addition":             {drop: []string{"H2", "H4"}, drift: 2},
		"a removal":               {add: []string{"H8", "H9"}, drift: 2},
		"an exchange":             {drop: []string{"H4"}, add: []string{"H9"}, drift: 2},
		"all of the level's plan": {drop: []string{"H1", "H2", "H3", "H4"}, drift: 4},
		"nothing":                 {},
	} {
		t.Run(name, func(t *testing.T) {
			r := hallRig(t)
			r.must(r.edit(admission.DropSeats, "H", 0, c.drop...))
			r.must(r.edit(admission.AddSeats, "H", 0, c.add...))
			dry, err := r.Repairer.Repair(t.Context(), hallID, true)
			r.must(err)
			if got := dry.Open(); got != c.drift {
				t.Errorf("a dry run reports %d differences, want %d: %+v", got, c.drift, dry.Drift)
			}
			d := r.diffHall()
			if k := d.Drift[reaper.KindSeats]; c.drift > 0 && (k == nil || k.Count != c.drift || k.Repaired != c.drift) {
				t.Errorf("drift %+v, want %d, all repaired", k, c.drift)
			}
			r.hallHas("H", "H1", "H2", "H3", "H4")
			if free := r.Redis.Dump(hallID).Levels["H"].Free; free[0].Name != "H1" || free[3].Name != "H4" {
				t.Errorf("the seats are not in the plan's order: %v", free)
			}
			if again := r.diffHall(); !again.Clean() {
				t.Errorf("the next diff finds %+v", again.Drift)
			}
		})
	}
}

// TestStrayThatSomebodyHasIsReported by name, twice an alarm, and goes once it is
// free; nothing is taken from anybody.
func TestStrayThatSomebodyHasIsReported(t *testing.T) {
	r := hallRig(t)
	r.must(r.edit(admission.AddSeats, "H", 0, "H8", "H9"))
	r.choose("HOLD1", "c1", 10*time.Minute, "H1", "H9")
	r.diffHall()
	r.hallHas("H", "H1", "H2", "H3", "H4", "H9")
	r.Advance(time.Minute)
	if d := r.diffHall(); !slices.Equal(d.Alarmed, []string{"seats:H9"}) || r.Raised(reaper.AlarmDrift) != 1 {
		t.Errorf("alarmed %v, %d alarms", d.Alarmed, r.Raised(reaper.AlarmDrift))
	}
	r.hallHas("H", "H1", "H2", "H3", "H4", "H9")
	r.Advance(11 * time.Minute)
	_, _, err := r.Redis.Lapse(t.Context(), hallID, "H", 10)
	r.must(err)
	r.diffHall()
	r.hallHas("H", "H1", "H2", "H3", "H4")
}

// TestFreshEditIsLeftToItsOperator, who is between Redis and the ledger.
func TestFreshEditIsLeftToItsOperator(t *testing.T) {
	r := hallRig(t)
	r.begun(1)
	r.must(r.edit(admission.DropSeats, "H", 1, "H4"))
	if d := r.diffHall(); !d.Clean() {
		t.Errorf("drift %+v", d.Drift)
	}
	r.hallHas("H", "H1", "H2", "H3")
	r.Advance(time.Minute)
	r.diffHall()
	r.hallHas("H", "H1", "H2", "H3", "H4")
}

// begun is an edit that an operator has begun now, under this serial.
func (r *rig) begun(serial int64) {
	r.t.Helper()
	_, err := r.Store.UpdateControl(r.t.Context(), hallID, func(c *ledger.Control) error {
		c.SeatSerial, c.SeatsAt = serial, r.Now()
		return nil
	})
	r.must(err)
}

// TestStalledEditMeetsARepair: what an operator's process sends late is made good
// while the repair runs, and refused behind it.
func TestStalledEditMeetsARepair(t *testing.T) {
	r := hallRig(t)
	r.begun(1)
	r.must(r.edit(admission.DropSeats, "H", 1, "H4"))
	r.Advance(time.Minute)
	calls := 0
	r.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "EditSeats" {
			if calls++; calls == 2 { // the first looks, the second brings
				r.must(r.edit(admission.DropSeats, "H", 1, "H1"))
			}
		}
		return admissiontest.NoFault
	}
	r.diffHall()
	r.Redis.Fault = nil
	r.hallHas("H", "H1", "H2", "H3", "H4")
	if err := r.edit(admission.DropSeats, "H", 1, "H2"); !errors.Is(err, admission.ErrMoved) {
		t.Errorf("a late edit: %v, want ErrMoved", err)
	}
	r.hallHas("H", "H1", "H2", "H3", "H4")
}

// TestOvertakenRepairChangesNothing: an operator begins between look and repair.
func TestOvertakenRepairChangesNothing(t *testing.T) {
	r := hallRig(t)
	r.must(r.edit(admission.DropSeats, "H", 0, "H4"))
	r.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "EditSeats" {
			r.begun(1)
		}
		return admissiontest.NoFault
	}
	if d := r.diffHall(); d.Drift[reaper.KindSeats].Repaired != 0 || d.Failed != 1 {
		t.Errorf("%+v", d)
	}
	r.Redis.Fault = nil
	r.hallHas("H", "H1", "H2", "H3")
}

// TestSeatThatMovedBetweenLevels is never in two of them, not for a moment: it
// could be sold twice.
func TestSeatThatMovedBetweenLevels(t *testing.T) {
	r := hallRig(t)
	r.must(r.Redis.Install(t.Context(), admission.Plan{Sale: hallID, Gen: 2, OpensAt: r.Plan.OpensAt, ClosesAt: r.Plan.ClosesAt, Hold: r.Plan.Hold, TotalCap: 4, Open: true,
		RosterVersion: "r1", Levels: []admission.LevelPlan{{Name: "H", Kind: "s", Cap: 2, Next: 1, Tokens: []string{"H1", "H2"}},
			{Name: "K", Kind: "s", Cap: 2, Next: 1, Tokens: []string{"K1", "M"}}}}, nil))
	_, err := r.Store.UpdateControl(t.Context(), hallID, func(c *ledger.Control) error {
		seats := func(names ...string) (list []sale.Seat) {
			for i, n := range names {
				list = append(list, sale.Seat{Name: n, Score: i + 1})
			}
			return list
		}
		c.Gen, c.Plan.TotalCap = 2, 4
		c.Plan.Levels = []sale.Level{{Name: "H", Kind: sale.KindSeated, Cap: 3, Seats: seats("H1", "H2", "M")}, {Name: "K", Kind: sale.KindSeated, Cap: 1, Seats: seats("K1")}}
		return nil
	})
	r.must(err)
	r.Redis.Fault = func(string) admissiontest.Fault {
		places := 0
		for _, l := range r.Redis.Dump(hallID).Levels {
			for _, f := range l.Free {
				if f.Name == "M" {
					places++
				}
			}
		}
		if places > 1 {
			t.Error("seat M is free in two levels")
		}
		return admissiontest.NoFault
	}
	r.diffHall()
	r.Redis.Fault = nil
	r.hallHas("H", "H1", "H2", "M")
	r.hallHas("K", "K1")
}

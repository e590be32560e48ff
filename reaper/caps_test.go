package reaper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/reaper"
)

// open leaves a cap intent of level N1 open, as an operator's process does that
// died: at is how far it had come.
func (r *rig) intent(to int, planned bool) ledger.CapIntent {
	r.t.Helper()
	i := ledger.CapIntent{Level: "N1", From: 2, To: to, First: 3, Actor: "operator:ann", At: r.Now()}
	r.Control(func(c *ledger.Control) {
		c.CapIntent, c.Next = &i, map[string]int{"N1": 3, "N2": 2}
		if planned {
			c.Plan.TotalCap = max(c.Plan.TotalCap, to+1)
			c.Plan.Levels[0].Cap = to
			c.Next["N1"] = 3 + to - 2
		}
	})
	r.Advance(time.Minute)
	return i
}

func (r *rig) capIs(level string, want int) {
	r.t.Helper()
	c, err := r.Store.Control(r.t.Context(), saleID)
	r.must(err)
	st, err := r.Redis.Status(r.t.Context(), saleID, c.Plan.LevelNames())
	r.must(err)
	have, planned := st.TotalCap, c.Plan.TotalCap
	for _, l := range st.Levels {
		if l.Name == level {
			have = l.Cap
		}
	}
	if l, ok := c.Plan.Level(level); ok {
		planned = l.Cap
	}
	if have != want || planned != want || c.CapIntent != nil {
		r.t.Errorf("cap of %q: Redis %d, plan %d, want %d, intent %v", level, have, planned, want, c.CapIntent)
	}
}

// TestCapIntentLeftOpen finishes cuts and raises from each point at which the
// operator's process can have died.
func TestCapIntentLeftOpen(t *testing.T) {
	for _, c := range []struct {
		name    string
		to      int
		planned bool // the control item has the new cap
		called  bool // so has Redis
	}{
		{"cut, nothing done", 1, false, false},
		{"cut, Redis done", 1, false, true},
		{"raise, intent only", 4, false, false},
		{"raise, control item done", 4, true, false},
		{"raise, both done", 4, true, true},
		{"raise by thousands", 2600, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			b := r.held("c1", "N1", r.Page)
			i := r.intent(c.to, c.planned)
			if c.called {
				_, err := r.Redis.SetCap(t.Context(), admission.CapChange{Sale: saleID, Gen: 1, Level: "N1", Cap: c.to, First: i.First})
				r.must(err)
			}
			d := r.diff()
			if d.Drift[reaper.KindIntent] == nil || d.Drift[reaper.KindIntent].Repaired != 1 {
				t.Errorf("drift %+v", d.Drift)
			}
			r.capIs("N1", c.to)
			r.diff() // the total, which the raise made too small, is not the reaper's to change
			r.state(b, ledger.Held)
			r.numbersAreUnique()
			r.restful()
		})
	}
}

// numbersAreUnique: `next` is above every number in the level, so none is ever
// minted twice.
func (r *rig) numbersAreUnique() {
	r.t.Helper()
	c, err := r.Store.Control(r.t.Context(), saleID)
	r.must(err)
	a, err := r.Redis.SetCap(r.t.Context(), admission.CapChange{Sale: saleID, Gen: 1, Level: "N1", Cap: c.Plan.Levels[0].Cap})
	r.must(err)
	if a.Next > c.Next["N1"] {
		r.t.Errorf("Redis would mint %d next, the control item says %d", a.Next, c.Next["N1"])
	}
}

func TestFreshIntentIsLeftToItsOperator(t *testing.T) {
	r := newRig(t)
	r.intent(4, true)
	r.Control(func(c *ledger.Control) { c.CapIntent.At = r.Now() })
	if d := r.diff(); d.Drift[reaper.KindIntent] != nil || d.Drift[reaper.KindCap] != nil {
		t.Errorf("drift %+v", d.Drift)
	}
}

// TestCapThatRedisLost is repeated, with new numbers.
func TestCapThatRedisLost(t *testing.T) {
	for _, to := range []int{1, 4} {
		t.Run(fmt.Sprint(to), func(t *testing.T) {
			r := newRig(t)
			r.held("c1", "N1", r.Page)
			r.Control(func(c *ledger.Control) {
				c.Plan.Levels[0].Cap, c.Plan.TotalCap, c.Next = to, to+1, map[string]int{"N1": 5}
			})
			for range 2 { // one change at a time: the level, then the sale
				r.diff()
			}
			r.capIs("N1", to)
			r.capIs("", to+1)
			if to == 4 {
				c, err := r.Store.Control(t.Context(), saleID)
				r.must(err)
				if c.Next["N1"] != 7 {
					t.Errorf("next %v: the numbers of the lost raise must not be minted again", c.Next)
				}
			}
			r.numbersAreUnique()
			r.restful()
		})
	}
}

// TestReaperDiesAfterItsIntent: the numbers are taken with the intent, so that
// whoever finishes it can mint them.
func TestReaperDiesAfterItsIntent(t *testing.T) {
	r := newRig(t)
	r.Control(func(c *ledger.Control) { c.Plan.Levels[0].Cap, c.Plan.TotalCap, c.Next = 4, 5, map[string]int{"N1": 5} })
	updates := 0
	r.Faults.Inject = func(op string) lifecycletest.Fault {
		if op == "ledger UpdateControl" {
			if updates++; updates > 1 {
				return lifecycletest.FailBefore
			}
		}
		return lifecycletest.NoFault
	}
	r.diff()
	r.Faults.Inject = nil
	c, err := r.Store.Control(t.Context(), saleID)
	r.must(err)
	if c.CapIntent == nil || c.CapIntent.First != 5 || c.Next["N1"] != 7 {
		t.Fatalf("intent %+v, next %v", c.CapIntent, c.Next)
	}
	r.Advance(time.Minute)
	r.diff()
	r.diff()
	r.capIs("N1", 4)
	r.numbersAreUnique()
	r.restful()
}

// TestCutThatIsRefusedAlarms: more is used by now.
func TestCutThatIsRefusedAlarms(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	r.held("c2", "N1", r.Page)
	r.Control(func(c *ledger.Control) { c.Plan.Levels[0].Cap, c.Plan.TotalCap = 1, 2 })
	r.diff()
	if r.Alarms() != string(reaper.AlarmCapRefused) {
		t.Errorf("alarms %q", r.Alarms())
	}
	c, err := r.Store.Control(t.Context(), saleID)
	r.must(err)
	if c.CapIntent != nil || c.Plan.Levels[0].Cap != 1 {
		t.Errorf("control %+v", c)
	}
	r.Advance(holdIsOver)
	r.sweep()
	for range 2 {
		r.diff()
	}
	r.capIs("N1", 1)
	r.restful()
}

// TestConservationIsAlarmedAtOnce: one script has read it.
func TestConservationIsAlarmedAtOnce(t *testing.T) {
	r := newRig(t)
	corrupt, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: leaky{r.Redis}, Health: r, Wait: r.wait})
	r.must(err)
	d, err := corrupt.Differ.Diff(t.Context(), saleID)
	r.must(err)
	if d.Drift[reaper.KindCounts] == nil || r.Alarms() != string(reaper.AlarmConservation) {
		t.Errorf("drift %+v, alarms %q", d.Drift, r.Alarms())
	}
	a, err := corrupt.Auditor.Audit(t.Context(), saleID)
	r.must(err)
	if a.OK {
		t.Error("the audit is content")
	}
}

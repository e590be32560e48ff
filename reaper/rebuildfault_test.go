package reaper_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// TestRebuildAfterCrashAtEachStep kills the rebuilder at every call it makes,
// before and after the call is done; another one follows.
func TestRebuildAfterCrashAtEachStep(t *testing.T) {
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			r := newRig(t)
			r.held("c1", "N1", r.Page)
			r.paid("c2", "N2")
			r.loseRedis()
			r.sweep()
			r.Faults.CrashAt(k, after)
			_, err := r.Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{})
			crashed, ops := r.Faults.Crashed()
			r.Faults.Restart()
			if !crashed {
				r.must(err)
				if k < 15 {
					t.Fatalf("a rebuild of only %d calls: %v", k, ops)
				}
				break
			}
			where := fmt.Sprintf("call %d (%s, after: %v)", k, ops[len(ops)-1], after)
			c, err := r.Store.Control(t.Context(), saleID)
			r.must(err)
			if st, err := r.Redis.Status(t.Context(), saleID, nil); err == nil && st.Gen == c.Gen && st.Bookings != 2 {
				t.Errorf("%s: open to admissions with %d bookings", where, st.Bookings)
			}
			r.Advance(2 * time.Minute) // its lease
			if c.Frozen {
				r.must(second(r.another().Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{})))
			}
			r.Advance(10 * time.Second)
			r.sweep()
			r.diff()
			if t.Failed() {
				t.Fatal(where)
			}
			r.restful()
			if t.Failed() {
				t.Fatal(where)
			}
		}
	}
}

func second[A any](_ A, err error) error { return err }

func TestOneRebuilderAtATime(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	r.Control(func(c *ledger.Control) {
		c.Frozen, c.Rebuilder, c.RebuilderUntil, c.Gen = true, "another", r.Now().Add(time.Minute), 2
	})
	if _, err := r.Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{}); !errors.Is(err, reaper.ErrRebuilding) {
		t.Fatalf("error %v", err)
	}
	r.Advance(time.Minute)
	if res := r.rebuild(); res.Gen != 3 {
		t.Errorf("generation %d: the dead rebuilder's must not be used again", res.Gen)
	}
	r.restful()
}

// TestOvertakenRebuilderOpensNothing: its lease ran out, and another follows.
func TestOvertakenRebuilderOpensNothing(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	overtaken := false
	_, err := r.Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{Progress: func(p reaper.RebuildProgress) {
		if p.Step == reaper.StepOpen {
			t.Error("it went on to the end")
		}
		if p.Step == reaper.StepCheck && !overtaken {
			overtaken = true
			r.Advance(2 * time.Minute)
			r.Control(func(c *ledger.Control) {
				c.Gen, c.Rebuilder, c.RebuilderUntil = c.Gen+1, "another", r.Now().Add(time.Minute)
			})
		}
	}})
	if !errors.Is(err, reaper.ErrLeaseLost) {
		t.Fatalf("error %v", err)
	}
	c, err := r.Store.Control(t.Context(), saleID)
	r.must(err)
	if !c.Frozen || c.Rebuilder != "another" {
		t.Errorf("it touched the other's claim: %+v", c)
	}
}

// TestRebuildDistrustsAFailoverUnderIt: what it wrote may be lost in part, so it
// begins anew, at once and with a generation of its own.
func TestRebuildDistrustsAFailoverUnderIt(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	_, err := r.Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{Progress: func(p reaper.RebuildProgress) {
		if p.Step == reaper.StepSeed {
			r.promote("two", true)
		}
	}})
	if !errors.Is(err, reaper.ErrUnfaithful) {
		t.Fatalf("error %v", err)
	}
	if res := r.rebuild(); res.Gen != 3 || !res.Opened {
		t.Errorf("rebuild %+v", res)
	}
	r.restful()
}

// TestFlushedRedisIsLostData: the server is the same, its data is gone.
func TestFlushedRedisIsLostData(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	r.Redis.Flush()
	if res := r.sweep(); res.Replication != reaper.ReplicationLost || !res.Frozen {
		t.Errorf("sweep %+v", res)
	}
	r.rebuild()
	r.restful()
}

// TestSaleBeingAppliedIsNotLost: it is in the ledger and not yet in Redis.
func TestSaleBeingAppliedIsNotLost(t *testing.T) {
	r := newRig(t)
	r.Redis.Flush()
	r.Control(func(c *ledger.Control) { c.ReplicationID = "" })
	if res := r.sweep(); res.Frozen {
		t.Errorf("sweep %+v", res)
	}
	if d := r.diff(); d.Frozen || len(d.Drift) > 0 {
		t.Errorf("diff %+v", d)
	}
	r.Install(1)
	if res := r.sweep(); res.Replication != reaper.ReplicationFirst {
		t.Errorf("sweep %+v", res)
	}
	if c, err := r.Store.Control(t.Context(), saleID); err != nil || c.ReplicationID != "one" {
		t.Errorf("control %+v, %v", c, err)
	}
}

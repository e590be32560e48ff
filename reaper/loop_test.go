package reaper_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/reaper"
)

// run runs the loop for some turns of the world's clock and stops it.
func (r *rig) run(o reaper.LoopOptions, turns int) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	n := 0
	made, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: r.Redis, Health: r, Ages: r.ages, Wait: func(_ context.Context, d time.Duration) error {
		r.Advance(d)
		if n++; n == turns {
			cancel()
		}
		return ctx.Err()
	}})
	r.must(err)
	o.Jitter = func() float64 { return 0.5 }
	made.Loop(o).Run(ctx)
}

func TestLoopSweepsAndDiffs(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.run(reaper.LoopOptions{SweepEvery: time.Minute}, 13)
	r.state(b, ledger.Released)
	if n, err := r.Store.LastSweep(t.Context(), saleID, reaper.NoteDiff); err != nil || r.Now().Sub(n.At) > 5*time.Minute {
		t.Errorf("last diff %+v, %v", n, err)
	}
	if scans := r.Redis.Calls("ScanRecords"); scans != 3 {
		t.Errorf("%d diffs in 13 minutes", scans)
	}
	r.restful()
}

// TestLoopDiffsAtOnceAfterAFailover also shows that two loops share the schedule.
func TestLoopDiffsAtOnceAfterAFailover(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.run(reaper.LoopOptions{}, 3)
	r.Redis.Rewind(3)
	r.promote("two", true)
	r.run(reaper.LoopOptions{}, 1)
	if _, err := r.Redis.Record(t.Context(), saleID, b.ID); err != nil {
		t.Errorf("not put back at once: %v", err)
	}
	before := r.Redis.Calls("ScanRecords")
	r.run(reaper.LoopOptions{}, 3)
	if n := r.Redis.Calls("ScanRecords") - before; n > 1 {
		t.Errorf("%d more diffs within seconds", n)
	}
}

// TestLoopStopsInOrder: a pass under way is finished, and nothing new begins.
func TestLoopStopsInOrder(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Advance(holdIsOver)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		made, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: r.Redis, Health: r, Ages: r.ages})
		if err != nil {
			t.Fatal(err)
		}
		r.Faults.Yield = func(op string) {
			if op == "gateway Query" {
				stop()
				time.Sleep(3 * time.Second) // the gateway takes its time, within the grace
			}
		}
		made.Loop(reaper.LoopOptions{}).Run(ctx)
	})
	r.state(b, ledger.Released)
	if _, err := r.Store.LastSweep(t.Context(), saleID, reaper.NoteDiff); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a diff began after the stop: %v", err)
	}
}

// TestLoopOutlivesFailures: a turn that fails is tried again.
func TestLoopOutlivesFailures(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Advance(holdIsOver)
	var calls atomic.Int64
	r.Faults.Inject = func(string) lifecycletest.Fault {
		if calls.Add(1) < 40 {
			return lifecycletest.FailBefore
		}
		return lifecycletest.NoFault
	}
	r.run(reaper.LoopOptions{}, 60)
	r.Faults.Inject = nil
	r.state(b, ledger.Released)
	r.restful()
}

func TestRunOnce(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	rep, err := r.RunOnce(t.Context(), reaper.PassSweep)
	if err != nil || len(rep.Sweeps) != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
	rep, err = r.RunOnce(t.Context(), reaper.PassDiff, "no such sale", saleID)
	if !errors.Is(err, ledger.ErrNotFound) || rep.Diffs[saleID].Live != 1 || rep.Errors["no such sale"] == "" {
		t.Errorf("%+v, %v", rep, err)
	}
	if rep, err = r.RunOnce(t.Context(), reaper.PassAudit); err != nil || !rep.Audits[saleID].OK {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err = r.RunOnce(t.Context(), "nonsense"); err == nil {
		t.Error("took nonsense")
	}
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	r := newRig(t)
	for _, o := range []reaper.Options{{}, {Steps: r.Steps}, {Redis: r.Redis}, {Steps: r.Steps, Redis: r.Redis}} {
		if _, err := reaper.New(o); err == nil {
			t.Errorf("took %+v", o)
		}
	}
}

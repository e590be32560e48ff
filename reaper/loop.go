package reaper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// LoopOptions are the schedule of a long-running reaper. Zero values are the
// defaults.
type LoopOptions struct {
	SweepEvery time.Duration  // 5 s
	DiffEvery  time.Duration  // 5 min, over all processes; after a failover at once
	RestSweep  time.Duration  // DefaultRestSweep: for a sale that is over and at rest
	RestDiff   time.Duration  // DefaultRestDiff: the same
	Grace      time.Duration  // 20 s: how long a pass that is under way at the stop may go on
	Sales      []string       // empty: all that the ledger has
	Jitter     func() float64 // in [0,1); nil: random
}

// Loop runs sweeps and diffs until it is stopped. Make one with Reaper.Loop.
type Loop struct {
	reaper  *Reaper
	o       LoopOptions
	resting resting
}

// Loop makes the loop of `holdfast reap`.
func (r *Reaper) Loop(o LoopOptions) *Loop {
	o.SweepEvery, o.DiffEvery, o.Grace = or(o.SweepEvery, 5*time.Second), or(o.DiffEvery, 5*time.Minute), or(o.Grace, 20*time.Second)
	o.RestSweep, o.RestDiff = max(or(o.RestSweep, DefaultRestSweep), o.SweepEvery), max(or(o.RestDiff, DefaultRestDiff), o.DiffEvery)
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	return &Loop{reaper: r, o: o, resting: resting{until: map[string]time.Time{}}}
}

// Run works until intake ends. Then nothing new begins, what is under way is
// finished within Grace, and Run returns. A pass that fails is logged and tried
// again at the next turn: Run itself never gives up.
func (l *Loop) Run(intake context.Context) {
	work, cancel := l.outlive(intake)
	defer cancel()
	for intake.Err() == nil {
		l.turn(intake, work)
		// Jitter, so that reapers that were started together drift apart.
		d := l.o.SweepEvery*9/10 + time.Duration(float64(l.o.SweepEvery/5)*l.o.Jitter())
		if err := l.reaper.tools.Wait(intake, d); err != nil {
			return
		}
	}
}

// outlive is a context for the work: it ends a grace after the intake.
func (l *Loop) outlive(intake context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(intake))
	stop := context.AfterFunc(intake, func() {
		_ = l.reaper.tools.Wait(work, l.o.Grace)
		cancel()
	})
	return work, func() { stop(); cancel() }
}

// turn makes one sweep of each sale that is not at rest, and a diff of those that
// are due for one.
func (l *Loop) turn(intake, work context.Context) {
	t := l.reaper.tools
	sales := l.o.Sales
	if len(sales) == 0 {
		var err error
		if sales, err = t.store.Sales(work); err != nil {
			t.log.WarnContext(work, "reaper: list the sales, again at the next turn", "err", err)
			return
		}
	}
	t.eachSale(work, sales, func(ctx context.Context, saleID string) {
		began := t.now()
		if intake.Err() != nil || l.resting.leaves(saleID, began) {
			return
		}
		swept, err := l.reaper.Sweeper.Sweep(ctx, saleID)
		if err != nil {
			t.log.WarnContext(ctx, "sweep incomplete, again at the next turn", "sale", saleID, "err", err)
		}
		atRest := err == nil && swept.AtRest()
		l.resting.saw(saleID, atRest, began.Add(l.o.RestSweep))
		if intake.Err() != nil {
			return
		}
		if err := l.diff(ctx, saleID, atRest); err != nil {
			t.log.WarnContext(ctx, "diff given up, again at the next turn", "sale", saleID, "err", err)
		}
	})
}

func (l *Loop) diff(ctx context.Context, saleID string, atRest bool) error {
	var due bool
	var err error
	if atRest {
		due, err = l.reaper.restDiffDue(ctx, saleID, l.o.DiffEvery, l.o.RestDiff)
	} else {
		due, err = l.reaper.DiffDue(ctx, saleID, l.o.DiffEvery)
	}
	if err != nil || !due {
		return err
	}
	_, err = l.reaper.Differ.Diff(ctx, saleID)
	return err
}

// DiffDue reports whether a diff of the sale is due: the last one of any process
// is older than every, or older than the last failover (protocol.md 3.8.5). So
// a fleet of reapers makes one diff at a time, and publishes one figure.
func (r *Reaper) DiffDue(ctx context.Context, saleID string, every time.Duration) (bool, error) {
	last, err := r.tools.noted(ctx, saleID, NoteDiff)
	if err != nil || r.tools.now().Sub(last) >= every {
		return err == nil, err
	}
	return r.tools.diffAsked(ctx, saleID)
}

// diffAsked reports whether a failover has asked for a diff that was not made.
func (t *tools) diffAsked(ctx context.Context, saleID string) (bool, error) {
	asked, err := t.noted(ctx, saleID, NoteFailover)
	if err != nil || asked.IsZero() {
		return false, err
	}
	last, err := t.noted(ctx, saleID, NoteDiff)
	return err == nil && !asked.Before(last), err
}

// noted is when the last note of a kind was left; zero if never.
func (t *tools) noted(ctx context.Context, saleID, kind string) (time.Time, error) {
	n, err := t.store.LastSweep(ctx, saleID, kind)
	if errors.Is(err, ledger.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reaper: read the note %q of sale %s: %w", kind, saleID, err)
	}
	return n.At, nil
}

package reaper

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// A ledger keeps the sales of years, and a long-running reaper passes over all
// of them: at the pace of a sale that sells, each old one would cost some
// fifty reads every few seconds, and with every diff the whole table. What is at
// rest is looked at at the pace of a scheduled sweep, and compared hourly at first:
// then ever more rarely, as the table that each comparison reads grows with them.
const (
	// DefaultRestSweep is far below the three minutes after which sweeps are
	// missed (protocol.md 3.9, row 27).
	DefaultRestSweep = time.Minute
	// DefaultRestDiff bounds how long a difference of a sale that has just ended goes
	// unseen; a failover still asks for a diff at once.
	DefaultRestDiff = time.Hour

	// A sale that ended long ago is compared again when its end is a twenty-fourth
	// farther away than it was at the last time: after five days every five hours,
	// but at least once a day.
	restSlowdown = 24
	longestRest  = 24 * time.Hour
)

// over reports whether the sale's last hold, taken at its last moment, is due.
func (p *sweep) over() bool {
	plan := p.control.Plan
	return !p.now.Before(plan.ClosesAt.Add(plan.Hold + p.ages.ReleaseGrace))
}

// AtRest reports whether the sale is over and the sweep saw nothing that goes
// on: no booking under way, nothing due or owed, no trouble.
func (r SweepResult) AtRest() bool {
	return r.Over && r.Quiet() && r.OldestPending == 0 && !r.Frozen && r.Breaker == "" && r.Replication == ReplicationSame
}

// resting is which sales are at rest, as far as one loop knows, and until when
// each is left alone.
type resting struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (r *resting) leaves(saleID string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.until[saleID])
}

// saw takes down what a sweep saw.
func (r *resting) saw(saleID string, atRest bool, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if atRest {
		r.until[saleID] = until
	}
}

// restDiffDue is DiffDue for a sale at rest. A diff that left something open is
// followed by the next one as soon as elsewhere: the second one alarms.
func (r *Reaper) restDiffDue(ctx context.Context, saleID string, every, rest time.Duration) (bool, error) {
	due, err := r.DiffDue(ctx, saleID, every)
	if err != nil || !due {
		return false, err
	}
	if due, err = r.restIsLongEnough(ctx, saleID, rest); err != nil || due {
		return due, err
	}
	n, err := r.tools.store.LastSweep(ctx, saleID, NoteDiff)
	return err == nil && unsettled(n), err
}

func (r *Reaper) restIsLongEnough(ctx context.Context, saleID string, rest time.Duration) (bool, error) {
	if due, err := r.DiffDue(ctx, saleID, rest); err != nil || !due {
		return false, err
	}
	c, err := r.tools.store.Control(ctx, saleID)
	if err != nil {
		return false, fmt.Errorf("reaper: read the control item of sale %s: %w", saleID, err)
	}
	ended := r.tools.now().Sub(c.Plan.ClosesAt)
	return r.DiffDue(ctx, saleID, max(rest, min(ended/restSlowdown, longestRest)))
}

// RunScheduled is RunOnce for a schedule. Where it names no sale, a diff leaves
// out those that the last sweep of any process found at rest, unless one is due
// all the same (DefaultRestDiff).
func (r *Reaper) RunScheduled(ctx context.Context, pass Pass, sales ...string) (Report, error) {
	if pass != PassDiff || len(sales) > 0 {
		return r.RunOnce(ctx, pass, sales...)
	}
	all, err := r.tools.store.Sales(ctx)
	if err != nil {
		return Report{Pass: pass}, fmt.Errorf("reaper: list the sales: %w", err)
	}
	for _, id := range all {
		// What can't be told is compared: the pass itself says what is wrong.
		if due, err := r.scheduledDiffDue(ctx, id); err != nil || due {
			sales = append(sales, id)
		}
	}
	if len(sales) == 0 {
		return Report{Pass: pass}, nil
	}
	return r.RunOnce(ctx, pass, sales...)
}

func (r *Reaper) scheduledDiffDue(ctx context.Context, saleID string) (bool, error) {
	swept, err := r.tools.store.LastSweep(ctx, saleID, NoteSweep)
	if err != nil || swept.Counts["at_rest"] == 0 {
		return true, err
	}
	return r.restDiffDue(ctx, saleID, 0, DefaultRestDiff)
}

func unsettled(diff ledger.SweepNote) bool { return diff.Counts["open"] > 0 || len(diff.Suspects) > 0 }

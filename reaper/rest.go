package reaper

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// A ledger keeps the sales of years, and a long-running reaper passes over all
// of them: at the pace of a sale that sells, each old one would cost some
// fifty reads every few seconds, and with every diff the whole table. What is at
// rest is looked at at the pace of a scheduled sweep, and compared hourly.
const (
	// DefaultRestSweep is far below the three minutes after which sweeps are
	// missed (protocol.md 3.9, row 27).
	DefaultRestSweep = time.Minute
	// DefaultRestDiff bounds how long a difference of such a sale goes unseen;
	// a failover still asks for a diff at once.
	DefaultRestDiff = time.Hour
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
func (l *Loop) restDiffDue(ctx context.Context, saleID string) (bool, error) {
	due, err := l.reaper.DiffDue(ctx, saleID, l.o.DiffEvery)
	if err != nil || !due {
		return false, err
	}
	if due, err = l.reaper.DiffDue(ctx, saleID, l.o.RestDiff); err != nil || due {
		return due, err
	}
	n, err := l.reaper.tools.store.LastSweep(ctx, saleID, NoteDiff)
	return err == nil && unsettled(n), err
}

func unsettled(diff ledger.SweepNote) bool { return diff.Counts["open"] > 0 || len(diff.Suspects) > 0 }

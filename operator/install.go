package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// installLease is how long a rebuild leaves a sale alone that is being installed.
const installLease = 2 * time.Minute

// installer marks the rebuilder of a sale that `sale apply` is installing.
const installer = "apply:"

// unfinished reports whether an apply has begun to install the sale and has not
// finished. Such a sale is frozen from the write that created it, so sweeps,
// rebuilds and workers leave Redis alone, and it can't be taken for one that
// Redis has lost: installing a plan with all of its seats free is right for the
// former and sells seats twice for the latter.
func unfinished(c ledger.Control) bool {
	return c.Frozen && strings.HasPrefix(c.Rebuilder, installer)
}

// freeze makes c a sale that is about to be installed from this plan.
func freeze(c *ledger.Control, plan sale.Sale, by By, now time.Time) {
	c.Plan, c.Next = plan, nextNumbers(plan)
	c.Gen++
	c.Frozen, c.Rebuilder, c.RebuilderUntil = true, installer+string(by.Actor), ledger.Instant(now.Add(installLease))
}

func nextNumbers(plan sale.Sale) map[string]int {
	next := make(map[string]int)
	for _, l := range plan.Levels {
		if l.Kind == sale.KindCounted {
			next[l.Name] = l.Cap + 1
		}
	}
	return next
}

// admissionPlan is a control item as Redis is to have it.
func admissionPlan(c ledger.Control) admission.Plan {
	p := admission.Plan{
		Sale: c.Sale, Gen: c.Gen, OpensAt: c.Plan.OpensAt, ClosesAt: c.Plan.ClosesAt, Hold: c.Plan.Hold,
		TotalCap: c.Plan.TotalCap, Open: c.Open, RosterVersion: c.RosterVersion,
	}
	for _, l := range c.Plan.Levels {
		p.Levels = append(p.Levels, admission.LevelPlan{Name: l.Name, Kind: string(l.Kind), Cap: l.Cap, Next: c.Next[l.Name], Tokens: l.SeatNames()})
	}
	return p
}

// install brings a frozen sale into Redis and unfreezes it. The roster goes in
// before the sale's generation, so nobody is refused for want of his row.
func (d *Desk) install(ctx context.Context, c ledger.Control) (ledger.Control, error) {
	health, err := d.Server.Health(ctx, c.Sale)
	if err != nil {
		return c, fmt.Errorf("operator: ask Redis for its replication id: %w", err)
	}
	err = d.Redis.Install(ctx, admissionPlan(c), func(ctx context.Context) error { return d.loadRoster(ctx, c.Sale) })
	if err != nil && !errors.Is(err, admission.ErrInstalled) {
		return c, fmt.Errorf("operator: install sale %s in Redis (apply the file again): %w", c.Sale, err)
	}
	return d.updateControl(ctx, c.Sale, func(now *ledger.Control) error {
		if now.Gen != c.Gen {
			return refuse(CodeTooManyChanges, nil, "sale %s was changed by somebody else at the same time: apply the file again", c.Sale)
		}
		now.Frozen, now.Rebuilder, now.RebuilderUntil = false, "", time.Time{}
		if now.ReplicationID != health.ReplicationID || now.Epoch == 0 {
			now.Epoch, now.ReplicationID = max(now.Epoch, c.Epoch)+1, health.ReplicationID
		}
		return nil
	})
}

// DefaultRosterBatch is how many rows of a roster are written at once: enough to
// keep the ledger's parallel writes busy, few enough to show progress.
const DefaultRosterBatch = 2000

func (d *Desk) rosterBatch() int {
	if d.RosterBatch > 0 {
		return d.RosterBatch
	}
	return DefaultRosterBatch
}

// loadRoster copies the ledger's roster into Redis.
func (d *Desk) loadRoster(ctx context.Context, saleID string) error {
	var rows []admission.RosterEntry
	flush := func() error {
		err := d.Redis.PutRoster(ctx, saleID, rows)
		rows = rows[:0]
		return err
	}
	err := d.Store.Scan(ctx, saleID, ledger.Visitor{Roster: func(r ledger.RosterRow) error {
		rows = append(rows, admission.RosterEntry(r))
		if len(rows) < d.rosterBatch() {
			return nil
		}
		return flush()
	}})
	if err == nil && len(rows) > 0 {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("operator: load the roster of sale %s into Redis: %w", saleID, err)
	}
	return nil
}

// updateControl changes the control item. An outcome that is not known is
// repeated: change must look before it counts up.
func (d *Desk) updateControl(ctx context.Context, saleID string, change func(*ledger.Control) error) (ledger.Control, error) {
	c, err := d.Store.UpdateControl(ctx, saleID, change)
	var refused *RefusedError
	if err != nil && !errors.As(err, &refused) {
		return c, fmt.Errorf("operator: change the control item of sale %s: %w", saleID, err)
	}
	return c, err
}

package reaper

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// config compares cfg in Redis with the control item (protocol.md 3.8.5c). An
// operator's act under way looks like drift for a moment: caps say so by their
// intent; everything else is repaired only when it was there in the last run
// already.
func (d *diff) config(ctx context.Context) {
	c, err := d.store.Control(ctx, d.control.Sale)
	if err != nil || c.Frozen || c.Gen != d.status.Gen {
		if err != nil {
			d.failed(ctx, "read the control item", d.control.Sale, err)
		}
		return
	}
	d.conservation()
	d.caps(ctx, c)
	d.seatPlans(ctx, c)
	plan := c.Plan
	d.standing(ctx, KindTimes, !d.status.OpensAt.Equal(ledger.Instant(plan.OpensAt)) || !d.status.ClosesAt.Equal(ledger.Instant(plan.ClosesAt)), func() error {
		v, err := d.Redis.SetTimes(ctx, c.Sale, c.Gen, plan.OpensAt, plan.ClosesAt)
		d.Steps.Notify(c.Sale, v)
		return err
	})
	d.standing(ctx, KindHold, d.status.Hold != plan.Hold, func() error { return d.Redis.SetHold(ctx, c.Sale, c.Gen, plan.Hold) })
	d.standing(ctx, KindOpen, d.status.Open != c.Open, func() error {
		v, err := d.Redis.SetOpen(ctx, c.Sale, c.Gen, c.Open)
		d.Steps.Notify(c.Sale, v)
		return err
	})
	d.standing(ctx, KindRoster, d.status.RosterVersion != c.RosterVersion || d.status.RosterSize != c.RosterSize, func() error {
		return d.roster(ctx, c)
	})
}

// conservation is exact: one script read it.
func (d *diff) conservation() {
	for _, l := range d.status.Levels {
		if l.Used+l.Free != l.Cap || l.Used < 0 {
			d.findings.found(KindCounts, l.Name, false)
			if d.apply {
				d.alarm(AlarmConservation, d.control.Sale, "", fmt.Sprintf("level %s: %d used and %d free seats, cap %d", l.Name, l.Used, l.Free, l.Cap))
			}
		}
	}
}

// standing repairs a difference that the last run has seen too.
func (d *diff) standing(ctx context.Context, k Kind, differs bool, repair func() error) {
	if !differs {
		return
	}
	if !d.apply || !slices.Contains(d.before, suspect(k, d.control.Sale)) {
		d.findings.found(k, d.control.Sale, false)
		return
	}
	err := repair()
	if err != nil {
		d.failed(ctx, "repair "+string(k), d.control.Sale, err)
	}
	d.findings.found(k, d.control.Sale, err == nil)
}

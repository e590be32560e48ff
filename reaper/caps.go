package reaper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// intentGrace is for how long an open cap intent is left to the operator's own
// process. To finish it while that is at work would be harmless: both set the
// same cap.
const intentGrace = 30 * time.Second

// mintAtOnce is how many tokens one call of S9 mints at most (protocol.md 3.4).
const mintAtOnce = 1000

// caps finishes a cap change that was left open, and repeats one that Redis
// lost (protocol.md 3.4, 3.8.5c). One at a time: a change is an intent, and the
// control item has room for one.
func (d *diff) caps(ctx context.Context, c ledger.Control) {
	if i := c.CapIntent; i != nil {
		if d.now().Sub(i.At) < intentGrace {
			return
		}
		d.capDrift(ctx, KindIntent, nameOf(i.Level), func() error { return d.finish(ctx, c, *i) })
		return
	}
	differ := func(level string, have, want, next int) {
		if have == want {
			return
		}
		d.capDrift(ctx, KindCap, nameOf(level), func() error {
			i := ledger.CapIntent{Serial: c.CapSerial + 1, Level: level, From: have, To: want, First: next, Actor: Actor, Reason: "Redis lost the change", At: d.now()}
			begun, err := d.begin(ctx, c, i)
			if err != nil {
				return err
			}
			return d.finish(ctx, begun, i)
		})
	}
	for _, l := range d.status.Levels {
		if p, ok := c.Plan.Level(l.Name); ok && p.Kind == sale.KindCounted {
			differ(l.Name, l.Cap, p.Cap, nextOf(c, p))
		}
	}
	differ("", d.status.TotalCap, c.Plan.TotalCap, 0)
}

func (d *diff) capDrift(ctx context.Context, k Kind, name string, repair func() error) {
	if !d.apply {
		d.findings.found(k, name, false)
		return
	}
	err := repair()
	d.findings.found(k, name, err == nil)
	if err != nil {
		d.failed(ctx, "repair a cap", name, err)
	}
}

// errOvertaken: the control item is not as the diff read it; the next one sees.
var errOvertaken = errors.New("reaper: the sale's caps were changed meanwhile")

// begin writes the intent, and for a raise moves `next` up with it, so that no
// number is minted twice whoever dies where.
func (d *diff) begin(ctx context.Context, read ledger.Control, i ledger.CapIntent) (ledger.Control, error) {
	return d.store.UpdateControl(ctx, read.Sale, func(c *ledger.Control) error {
		if c.CapIntent != nil && sameIntent(*c.CapIntent, i) {
			return nil // our own, after a lost answer
		}
		if c.CapIntent != nil || c.Frozen || c.Gen != read.Gen || c.CapSerial != i.Serial-1 || capOf(*c, i.Level) != i.To {
			return errOvertaken
		}
		c.CapIntent, c.CapSerial = &i, i.Serial
		raiseNext(c, i, 0)
		return nil
	})
}

// finish brings an intent to its end: for a raise the control item first, then
// S9 until it has the whole cap; for a cut S9 first. Safe to repeat.
func (d *diff) finish(ctx context.Context, c ledger.Control, i ledger.CapIntent) error {
	if i.To > i.From {
		if _, err := d.settleIntent(ctx, c, i, 0, false); err != nil {
			return err
		}
	}
	for calls := 0; calls <= 1+(max(0, i.To-i.From))/mintAtOnce; calls++ {
		a, err := d.Redis.SetCap(ctx, admission.CapChange{Sale: c.Sale, Gen: c.Gen, Level: i.Level, Cap: i.To, First: i.First, Serial: i.Serial})
		if err != nil {
			return fmt.Errorf("reaper: set the cap of %s: %w", nameOf(i.Level), err)
		}
		d.Steps.Notify(c.Sale, a.Version)
		switch {
		case a.Outcome == admission.CapUsed:
			d.alarm(AlarmCapRefused, c.Sale, "", fmt.Sprintf("the cap of %s can't be cut to %d: %d are used", nameOf(i.Level), i.To, a.Used))
			return d.giveUp(ctx, c, i)
		case a.Outcome == admission.CapLate:
			return errOvertaken
		case a.Outcome != admission.CapSet:
			return fmt.Errorf("reaper: set the cap of %s: outcome %d", nameOf(i.Level), a.Outcome)
		case !a.Acknowledged:
			return admission.ErrUnacknowledged
		case a.Cap == i.To:
			_, err := d.settleIntent(ctx, c, i, a.Next, true)
			return err
		}
	}
	return fmt.Errorf("reaper: the cap of %s is not reached: the next diff goes on", nameOf(i.Level))
}

package reaper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
			i := ledger.CapIntent{Level: level, From: have, To: want, First: next, Actor: Actor, Reason: "Redis lost the change", At: d.now()}
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
		} else if ok && l.Cap != p.Cap {
			d.findings.found(KindCap, l.Name, false) // a seat plan changes by name
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
		if c.CapIntent != nil || c.Frozen || c.Gen != read.Gen || capOf(*c, i.Level) != i.To {
			return errOvertaken
		}
		c.CapIntent = &i
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
		a, err := d.Redis.SetCap(ctx, admission.CapChange{Sale: c.Sale, Gen: c.Gen, Level: i.Level, Cap: i.To, First: i.First})
		if err != nil {
			return fmt.Errorf("reaper: set the cap of %s: %w", nameOf(i.Level), err)
		}
		d.Steps.Notify(c.Sale, a.Version)
		switch {
		case a.Outcome == admission.CapUsed:
			d.alarm(AlarmCapRefused, c.Sale, "", fmt.Sprintf("the cap of %s can't be cut to %d: %d are used", nameOf(i.Level), i.To, a.Used))
			return d.giveUp(ctx, c, i)
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

// settleIntent writes what the intent wants into the control item, and with
// done also ends the intent. minted is the next number as Redis has it.
func (d *diff) settleIntent(ctx context.Context, read ledger.Control, i ledger.CapIntent, minted int, done bool) (ledger.Control, error) {
	return d.store.UpdateControl(ctx, read.Sale, func(c *ledger.Control) error {
		if c.CapIntent == nil || !sameIntent(*c.CapIntent, i) || c.Gen != read.Gen {
			if done && c.CapIntent == nil && capOf(*c, i.Level) == i.To {
				return nil // our own effect, or somebody else's who finished it
			}
			return errOvertaken
		}
		setCap(c, i.Level, i.To)
		raiseNext(c, i, minted)
		if done {
			c.CapIntent = nil
		}
		return nil
	})
}

// giveUp ends an intent to cut that is refused. The plan keeps what it says: if
// the cut was an operator's that never happened, that is the old cap; if Redis
// lost it, the drift stays and is alarmed until seats come free.
func (d *diff) giveUp(ctx context.Context, read ledger.Control, i ledger.CapIntent) error {
	_, err := d.store.UpdateControl(ctx, read.Sale, func(c *ledger.Control) error {
		if c.CapIntent != nil && sameIntent(*c.CapIntent, i) {
			c.CapIntent = nil
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: end the intent to cut %s: %w", nameOf(i.Level), err)
	}
	return fmt.Errorf("reaper: the cap of %s can't be cut to %d yet", nameOf(i.Level), i.To)
}

func sameIntent(a, b ledger.CapIntent) bool {
	return a.Level == b.Level && a.From == b.From && a.To == b.To && a.First == b.First
}

// raiseNext keeps `next` above every number that the intent may mint, and above
// what Redis says it has minted.
func raiseNext(c *ledger.Control, i ledger.CapIntent, minted int) {
	if i.Level == "" {
		return
	}
	next := maps.Clone(c.Next)
	if next == nil {
		next = map[string]int{}
	}
	next[i.Level] = max(next[i.Level], minted, i.First+max(0, i.To-i.From))
	c.Next = next
}

func setCap(c *ledger.Control, level string, n int) {
	if level == "" {
		c.Plan.TotalCap = n
		return
	}
	c.Plan.Levels = slices.Clone(c.Plan.Levels)
	for k := range c.Plan.Levels {
		if c.Plan.Levels[k].Name == level {
			c.Plan.Levels[k].Cap = n
		}
	}
}

func capOf(c ledger.Control, level string) int {
	if level == "" {
		return c.Plan.TotalCap
	}
	l, _ := c.Plan.Level(level)
	return l.Cap
}

// nextOf is the next number to mint; a sale whose caps never changed has minted
// exactly its cap.
func nextOf(c ledger.Control, l sale.Level) int { return max(c.Next[l.Name], l.Cap+1) }

func nameOf(level string) string {
	if level == "" {
		return "the sale"
	}
	return "level " + level
}

package reaper

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

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
	return a.Serial == b.Serial && a.Level == b.Level && a.From == b.From && a.To == b.To && a.First == b.First
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

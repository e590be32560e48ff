package reaper

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
)

// claim is step 1: one conditional write makes one rebuilder. A generation
// that another rebuilder may still be writing is left behind; one that the watch
// has frozen for lost data has not been used yet.
func (b *rebuild) claim(ctx context.Context, saleID string) error {
	b.o.Progress(RebuildProgress{Step: StepClaim})
	now := b.now()
	c, err := b.store.UpdateControl(ctx, saleID, func(c *ledger.Control) error {
		switch {
		case c.Frozen && c.Rebuilder == b.me: // our own claim, whose answer was lost
		case c.Frozen && c.Rebuilder == "":
		case c.Frozen && now.Before(c.RebuilderUntil):
			return ErrRebuilding
		default:
			c.Gen++
		}
		c.Frozen, c.Rebuilder, c.RebuilderUntil = true, b.me, now.Add(b.o.Lease)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: freeze sale %s: %w", saleID, err)
	}
	b.control, b.renewed, b.result.Gen = c, now, c.Gen
	b.log.WarnContext(ctx, "rebuild begins, the sale is frozen", "sale", saleID, "gen", c.Gen)
	return nil
}

// keep renews the lease in time, or finds it lost.
func (b *rebuild) keep(ctx context.Context) error {
	now := b.now()
	if now.Sub(b.renewed) < b.o.Lease/3 {
		return nil
	}
	_, err := b.store.UpdateControl(ctx, b.control.Sale, func(c *ledger.Control) error {
		if !b.mine(*c) {
			return ErrLeaseLost
		}
		c.RebuilderUntil = now.Add(b.o.Lease)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: renew the lease on sale %s: %w", b.control.Sale, err)
	}
	b.renewed = now
	return nil
}

func (b *rebuild) mine(c ledger.Control) bool {
	return c.Frozen && c.Rebuilder == b.me && c.Gen == b.control.Gen
}

// letGo ends a failed rebuild's lease, so that the next need not wait for it.
// The generation can serve again only if nothing was written with it.
func (b *rebuild) letGo(ctx context.Context, saleID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.IDMax)
	defer cancel()
	_, err := b.store.UpdateControl(ctx, saleID, func(c *ledger.Control) error {
		if !b.mine(*c) {
			return nil
		}
		if c.RebuilderUntil = b.now(); !b.begun {
			c.Rebuilder = ""
		}
		return nil
	})
	if err != nil {
		b.log.WarnContext(ctx, "lease of the rebuild is left to run out", "sale", saleID, "err", err)
	}
}

package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast/holdfast/ledger"
)

// purgeLooks bounds how often the frozen sale is looked through: once for those who
// are known, once to see that nobody is left, and again for what a worker wrote
// meanwhile, of an event that was on its way when the sale was frozen.
const purgeLooks = 4

// forget looks again, because the sale has been frozen since, and forgets, until a
// look finds nobody: unless somebody opened the sale before that, or what came out
// of the queue is held. While it is frozen nobody can.
func (p *Purge) forget(ctx context.Context, saleID string, keep func(context.Context) error) error {
	for range purgeLooks {
		f, err := p.find(ctx, saleID, keep)
		if err != nil {
			return err
		}
		if err := p.endRoster(ctx, saleID, f.held); err != nil {
			return err
		}
		if f.nobody() {
			return nil
		}
		if err := p.forgetFound(ctx, saleID, f, keep); err != nil {
			return err
		}
	}
	return fmt.Errorf("operator: after %d looks somebody writes to sale %s still, which is frozen: run the purge again", purgeLooks, saleID)
}

// endRoster gives the roster the version of one that was purged.
func (p *Purge) endRoster(ctx context.Context, saleID string, held int) error {
	_, err := p.Desk.Store.UpdateControl(ctx, saleID, func(c *ledger.Control) error {
		if held > 0 || selling(*c, p.Desk.Now()) {
			return refuse(CodeNotOver, map[string]int{"held": held}, "sale %s has sold since this purge began (%d bookings are held): the purge ends here, and the sale is frozen until you run holdfast rebuild %s", saleID, held, saleID)
		}
		c.RosterVersion, c.RosterSize = PurgedRoster, 0
		return nil
	})
	if err != nil {
		return fmt.Errorf("operator: end the roster of sale %s: %w", saleID, err)
	}
	return nil
}

func (p *Purge) forgetFound(ctx context.Context, saleID string, f found, keep func(context.Context) error) error {
	for some := range slices.Chunk(f.candidates, DefaultRosterBatch) {
		if err := p.Desk.Store.DropRoster(ctx, saleID, some); err != nil {
			return fmt.Errorf("operator: drop the roster of sale %s: %w", saleID, err)
		}
		if err := keep(ctx); err != nil {
			return err
		}
	}
	done := 0
	for some := range slices.Chunk(f.bookings, purgeAtOnce) {
		if err := p.forgetBookings(ctx, some); err != nil {
			return err
		}
		if done += len(some); p.Progress != nil {
			p.Progress(done, len(f.bookings))
		}
		if err := keep(ctx); err != nil {
			return err
		}
	}
	for _, id := range f.parked {
		if _, err := p.Ledger.PurgeParked(ctx, saleID, id); err != nil {
			return fmt.Errorf("operator: purge parked item %s: %w", id, err)
		}
	}
	return keep(ctx)
}

// purgeAtOnce is how many bookings are written at the same time.
const purgeAtOnce = 32

func (p *Purge) forgetBookings(ctx context.Context, ids []string) error {
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() { _, errs[i] = p.Ledger.PurgeBooking(ctx, id) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("operator: forget who booked: %w", err)
	}
	return nil
}

// find lists what still tells of people. What is written to the part of the table
// that was read already is not in it. keep, if there is one, hears of every row, and
// once more in the end: the table may be large.
func (p *Purge) find(ctx context.Context, saleID string, keep func(context.Context) error) (found, error) {
	var f found
	if keep == nil {
		keep = func(context.Context) error { return nil }
	}
	err := p.Desk.Store.Scan(ctx, saleID, ledger.Visitor{
		Roster: func(r ledger.RosterRow) error { f.candidates = append(f.candidates, r.Candidate); return keep(ctx) },
		Booking: func(b ledger.Booking) error {
			if b.State == ledger.Held {
				f.held++
			}
			if b.Personal() {
				f.bookings = append(f.bookings, b.ID)
			}
			return keep(ctx)
		},
	})
	if err == nil {
		err = p.Desk.Store.Parked(ctx, saleID, func(it ledger.InboxItem) error {
			if it.Done && it.Detail != "" {
				f.parked = append(f.parked, it.ID)
			}
			return nil
		})
	}
	if err == nil {
		err = keep(ctx)
	}
	if err != nil {
		return f, fmt.Errorf("operator: look for the people of sale %s: %w", saleID, err)
	}
	return f, nil
}

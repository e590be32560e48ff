package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast/holdfast/ledger"
)

// Purge forgets the people of a sale that is over: the roster goes, and of every
// booking who made it. Seats, times, prices, payments and the trail stay, so the
// list of what was sold, the counts and the audit are what they were.
type Purge struct {
	Desk   *Desk
	Ledger ledger.Purger
	// Refill fills Redis anew from the ledger, and calls prepare when the sale is
	// frozen and nobody else looks at it; keep as reaper.RebuildOptions has it.
	Refill func(ctx context.Context, saleID string, prepare func(ctx context.Context, keep func(context.Context) error) error) error
	// Progress hears what is done of how many bookings; nil: nobody.
	Progress func(done, total int)
}

// PurgeResult counts what was, or would be, forgotten by this run.
type PurgeResult struct {
	Sale     string `json:"sale"`
	Roster   int    `json:"roster_rows"`
	Bookings int    `json:"bookings"`
	Parked   int    `json:"parked_items"` // details of inbox items that are done
	DryRun   bool   `json:"dry_run"`
}

// Nothing reports whether there was nobody left to forget.
func (r PurgeResult) Nothing() bool { return r.Roster+r.Bookings+r.Parked == 0 }

// found is what a sale still knows of people.
type found struct {
	candidates, bookings, parked []string
	held                         int // bookings
}

// Run purges the sale, or says what it would do. It is refused (CodeNotOver,
// every reason named) while anybody could still need to be known: the sale is
// open, a hold lives, money is on its way, a dead letter waits. After a crash run
// it again: what is forgotten is not looked at again. The roster's version
// becomes PurgedRoster, so no snapshot takes the old one for the present one.
func (p *Purge) Run(ctx context.Context, saleID string, dryRun bool, by By) (PurgeResult, error) {
	d, r := p.Desk, PurgeResult{Sale: saleID, DryRun: dryRun}
	c, err := d.control(ctx, saleID)
	if err != nil {
		return r, err
	}
	if err := p.whyNot(ctx, c); err != nil {
		return r, err
	}
	f, err := p.find(ctx, saleID)
	if err != nil {
		return r, err
	}
	r.Roster, r.Bookings, r.Parked = len(f.candidates), len(f.bookings), len(f.parked)
	if dryRun || r.Nothing() && !c.Frozen {
		return r, nil
	}
	before := fmt.Sprintf("%d roster rows, %d bookings and %d parked items that tell who", r.Roster, r.Bookings, r.Parked)
	if err := d.note(ctx, saleID, by, "purge", before, "nobody is known any more"); err != nil {
		return r, err
	}
	return r, p.Refill(ctx, saleID, func(ctx context.Context, keep func(context.Context) error) error {
		return p.forget(ctx, saleID, keep)
	})
}

// PurgedRoster is the version of a roster that was purged.
const PurgedRoster = "purged"

// forget looks again, because the sale has been frozen since, and forgets: unless
// somebody opened it before that, or what came out of the queue is held. While it
// is frozen nobody can.
func (p *Purge) forget(ctx context.Context, saleID string, keep func(context.Context) error) error {
	f, err := p.find(ctx, saleID)
	if err != nil {
		return err
	}
	_, err = p.Desk.Store.UpdateControl(ctx, saleID, func(c *ledger.Control) error {
		if f.held > 0 || selling(*c, p.Desk.Now()) {
			return refuse(CodeNotOver, map[string]int{"held": f.held}, "sale %s has sold since this purge began (%d bookings are held): nobody is forgotten, and it is frozen until you run holdfast rebuild %s", saleID, f.held, saleID)
		}
		c.RosterVersion, c.RosterSize = PurgedRoster, 0
		return nil
	})
	if err != nil {
		return fmt.Errorf("operator: end the roster of sale %s: %w", saleID, err)
	}
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

// find lists what still tells of people.
func (p *Purge) find(ctx context.Context, saleID string) (found, error) {
	var f found
	err := p.Desk.Store.Scan(ctx, saleID, ledger.Visitor{
		Roster: func(r ledger.RosterRow) error { f.candidates = append(f.candidates, r.Candidate); return nil },
		Booking: func(b ledger.Booking) error {
			if b.State == ledger.Held {
				f.held++
			}
			if b.Personal() {
				f.bookings = append(f.bookings, b.ID)
			}
			return nil
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
	if err != nil {
		return f, fmt.Errorf("operator: look for the people of sale %s: %w", saleID, err)
	}
	return f, nil
}

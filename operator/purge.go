package operator

import (
	"context"
	"fmt"

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

func (f found) nobody() bool { return len(f.candidates)+len(f.bookings)+len(f.parked) == 0 }

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
	f, err := p.find(ctx, saleID, nil)
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

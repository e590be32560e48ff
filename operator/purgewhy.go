package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// whyNot names everything for which somebody still has to be known.
func (p *Purge) whyNot(ctx context.Context, c ledger.Control) error {
	d, r := p.Desk, &RefusedError{Kind: CodeNotOver, Figures: map[string]int{}}
	add := func(name string, n int, format string, args ...any) {
		if r.Figures[name] = n; n > 0 {
			r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
		}
	}
	if selling(c, d.Now()) {
		add("open", 1, "sale %s is open until %s: wait, or run holdfast sale close %s", c.Sale, zoned(c.Plan.ClosesAt, c.Plan), c.Sale)
	}
	held, owed, err := p.unfinished(ctx, c.Sale)
	if err != nil {
		return err
	}
	add("held", held, "%d bookings are held: wait until their time is over, or release them (holdfast hold list %s)", held, c.Sale)
	add("owed", owed, "%d released bookings may still be in Redis: the next sweeps settle that", owed)
	money, err := d.OpenPayments(ctx, c.Sale)
	if err != nil {
		return err
	}
	add("money", len(money), "%d payments do not rest yet: holdfast inbox list %s, and wait for the refunds", len(money), c.Sale)
	inbox := 0
	err = d.Store.Parked(ctx, c.Sale, func(it ledger.InboxItem) error {
		if !it.Done {
			inbox++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("operator: read the inbox of sale %s: %w", c.Sale, err)
	}
	add("inbox", inbox, "%d items wait for a decision: holdfast inbox list %s", inbox, c.Sale)
	depth, err := d.Queue.Depth(ctx)
	if err != nil {
		return fmt.Errorf("operator: ask for the queue's depth: %w", err)
	}
	dead := depth.Dead + depth.DeadInFlight
	add("dead", dead, "%d dead letters, which hold whole events: holdfast dlq list, then holdfast dlq redrive", dead)
	if !c.Frozen { // else a purge died on the way, and Redis is not what it was
		pending, err := p.pending(ctx, c.Sale)
		if err != nil {
			return err
		}
		add("pending", pending, "%d admissions or holds in Redis are not settled: the next sweeps settle them", pending)
	}
	if len(r.Reasons) == 0 {
		return nil
	}
	return r
}

// selling says whether the sale is open, or will be without anybody's doing.
func selling(c ledger.Control, now time.Time) bool {
	return c.Open && now.Before(c.Plan.ClosesAt)
}

// unfinished counts the bookings that are held, and those whose release Redis
// may not know.
func (p *Purge) unfinished(ctx context.Context, saleID string) (held, owed int, err error) {
	err = p.Desk.Store.Scan(ctx, saleID, ledger.Visitor{Booking: func(b ledger.Booking) error {
		switch {
		case b.State == ledger.Held:
			held++
		case b.UndoOwed:
			owed++
		}
		return nil
	}})
	if err != nil {
		err = fmt.Errorf("operator: read the bookings of sale %s: %w", saleID, err)
	}
	return held, owed, err
}

// pending counts what only Redis knows: admissions on their way to the ledger,
// and seats that somebody is choosing.
func (p *Purge) pending(ctx context.Context, saleID string) (int, error) {
	n := 0
	err := p.Desk.Redis.ScanRecords(ctx, saleID, func(r admission.Record, pending bool) error {
		if pending || r.Stage == admission.StageSoft {
			n++
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("operator: read the bookings of sale %s in Redis: %w", saleID, err)
	}
	return n, nil
}

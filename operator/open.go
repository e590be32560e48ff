package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Open lets the sale sell from its opening time on. It is refused while a check
// fails (CodeChecksFailed, every reason named). Open already is no change.
func (d *Desk) Open(ctx context.Context, saleID string, by By) error {
	c, err := d.working(ctx, saleID)
	if err != nil {
		return err
	}
	live, err := d.Redis.Status(ctx, saleID, c.Plan.LevelNames())
	if err == nil && live.Gen == c.Gen && live.Open && c.Open {
		return nil
	}
	checks, err := d.Check(ctx, saleID)
	if err != nil {
		return err
	}
	if err := whyNotOpen(saleID, checks); err != nil {
		return err
	}
	if err := d.note(ctx, saleID, by, "open", "closed", "open"); err != nil {
		return err
	}
	// The ledger first: a rebuild must not leave an open sale closed.
	if err := d.setOpen(ctx, c, true); err != nil {
		return err
	}
	return d.switchRedis(ctx, c, true)
}

// Close stops the sale at once: nobody is admitted any more, holds and payments
// that are under way go on. Closed already is no change.
func (d *Desk) Close(ctx context.Context, saleID string, by By) error {
	c, err := d.control(ctx, saleID)
	if err != nil {
		return err
	}
	live, err := d.Redis.Status(ctx, saleID, c.Plan.LevelNames())
	if err == nil && !live.Open && !c.Open {
		return nil
	}
	if err := d.note(ctx, saleID, by, "close", "open", "closed"); err != nil {
		return err
	}
	// Both are tried whatever becomes of the other: a rebuild must not reopen
	// the sale, and Redis must not go on selling.
	err = d.setOpen(ctx, c, false)
	if c.Frozen {
		return err // it admits nobody, and opens closed
	}
	return errors.Join(err, d.switchRedis(ctx, c, false))
}

func (d *Desk) setOpen(ctx context.Context, c ledger.Control, open bool) error {
	_, err := d.updateControl(ctx, c.Sale, func(now *ledger.Control) error {
		if open && now.Frozen {
			return whyNotWorking(*now)
		}
		now.Open = open
		return nil
	})
	return err
}

func (d *Desk) switchRedis(ctx context.Context, c ledger.Control, open bool) error {
	err := acknowledged(ctx, func() error {
		version, err := d.Redis.SetOpen(ctx, c.Sale, c.Gen, open)
		d.public(c.Sale, version)
		return err
	})
	if err != nil {
		return fmt.Errorf("operator: switch sale %s in Redis: %w", c.Sale, err)
	}
	return nil
}

// SetTimes moves the opening and closing times, also while the sale runs; a zero
// time stays as it is. Times that are set already are no change.
func (d *Desk) SetTimes(ctx context.Context, saleID string, opensAt, closesAt time.Time, by By) error {
	c, err := d.working(ctx, saleID)
	if err != nil {
		return err
	}
	plan := c.Plan
	if !opensAt.IsZero() {
		plan.OpensAt = opensAt.UTC()
	}
	if !closesAt.IsZero() {
		plan.ClosesAt = closesAt.UTC()
	}
	if err := plan.Validate(); err != nil {
		return err
	}
	live, err := d.Redis.Status(ctx, saleID, plan.LevelNames())
	if err != nil || live.Gen != c.Gen {
		return lost(c, err)
	}
	changes := diffPlans(c.Plan, plan)
	if len(changes) == 0 && live.OpensAt.Equal(plan.OpensAt) && live.ClosesAt.Equal(plan.ClosesAt) {
		return nil
	}
	if err := d.note(ctx, saleID, by, "times", stamp(c.Plan.OpensAt)+" to "+stamp(c.Plan.ClosesAt), stamp(plan.OpensAt)+" to "+stamp(plan.ClosesAt)); err != nil {
		return err
	}
	_, err = d.updateControl(ctx, saleID, func(now *ledger.Control) error {
		now.Plan.OpensAt, now.Plan.ClosesAt = plan.OpensAt, plan.ClosesAt
		return nil
	})
	if err != nil {
		return err
	}
	return d.moveTimes(ctx, c, plan)
}

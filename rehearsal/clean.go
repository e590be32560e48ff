package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// BusyError refuses to clean up while something is under way: an event or a
// payment that comes later would meet a sale that is not there.
type BusyError struct {
	Sale          string
	Held, Pending int
	Undos         int
	Refunds       int
}

// Error says what is under way.
func (e *BusyError) Error() string {
	return fmt.Sprintf("rehearsal %s is not at rest: %d held, %d pending, %d undos, %d refunds. Wait until its holds have run out and clean up again, or say --force",
		e.Sale, e.Held, e.Pending, e.Undos, e.Refunds)
}

// Cleaned says what a clean-up deleted.
type Cleaned struct {
	Keys  int // of Redis
	Items int // of the ledger
}

// lease is how long a clean-up keeps reapers and rebuilds away from the sale.
const lease = 5 * time.Minute

// DefaultGrace is how long a frozen sale is left alone before it is deleted:
// every process has written down the last minute that it counted.
const DefaultGrace = 70 * time.Second

// CleanOptions say how a rehearsal is deleted.
type CleanOptions struct {
	Force bool          // also if something is under way
	Grace time.Duration // between the freeze and the deletion; DefaultGrace is right beside running processes
}

// Clean deletes a rehearsal sale: it is closed and frozen, then, after a time of
// grace, its keys go from Redis, then its items from the ledger, the control item
// last. After a crash at any step the same call ends it, and a call too many does
// no harm. A sale without the mark is refused, here and by both adapters; one that
// is not at rest is a *BusyError unless forced.
func Clean(ctx context.Context, d *operator.Desk, saleID string, o CleanOptions, by operator.By) (Cleaned, error) {
	if !sale.IsRehearsal(saleID) {
		return Cleaned{}, fmt.Errorf("%q is no rehearsal (its id does not begin with %q): it is never deleted", saleID, sale.RehearsalPrefix)
	}
	books, ok := d.Store.(ledger.Forgetter)
	keys, ok2 := d.Redis.(admission.Forgetter)
	if !ok || !ok2 {
		return Cleaned{}, errors.New("these adapters can't delete a rehearsal")
	}
	c, err := d.Store.Control(ctx, saleID)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return Cleaned{}, fmt.Errorf("read sale %s: %w", saleID, err)
	}
	if err == nil && c.Rebuilder != cleaner(by) { // not yet begun
		if err := begin(ctx, d, c, o.Force, by); err != nil {
			return Cleaned{}, err
		}
		if err := pause(ctx, o.Grace); err != nil {
			return Cleaned{}, err
		}
	}
	var out Cleaned
	if out.Keys, err = keys.ForgetRehearsal(ctx, saleID); err != nil {
		return out, err
	}
	out.Items, err = books.ForgetRehearsal(ctx, saleID)
	return out, err
}

func cleaner(by operator.By) string { return "cleaning up: " + string(by.Actor) }

// begin closes the sale, sees that it is at rest, and keeps everybody else away.
func begin(ctx context.Context, d *operator.Desk, c ledger.Control, force bool, by operator.By) error {
	if c.Open {
		if err := d.Close(ctx, c.Sale, by); err != nil && !force {
			return err
		}
	}
	if !force {
		if err := atRest(ctx, d, c.Plan); err != nil {
			return err
		}
	}
	_, err := d.Store.UpdateControl(ctx, c.Sale, func(now *ledger.Control) error {
		now.Open, now.Frozen, now.Rebuilder, now.RebuilderUntil = false, true, cleaner(by), d.Now().Add(lease)
		return nil
	})
	if err != nil {
		return fmt.Errorf("freeze sale %s: %w", c.Sale, err)
	}
	return nil
}

func atRest(ctx context.Context, d *operator.Desk, plan sale.Sale) error {
	s, err := (&Sight{Desk: d, Plan: plan}).Rest(ctx)
	if errors.Is(err, admission.ErrNotFound) {
		return nil // Redis does not have it: nobody is admitted
	}
	if err != nil {
		return err
	}
	if s.Held+s.Pending+s.Undos+s.Refunds > 0 {
		return &BusyError{Sale: plan.ID, Held: s.Held, Pending: s.Pending, Undos: s.Undos, Refunds: s.Refunds}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

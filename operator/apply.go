package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// ApplyResult says what an apply did.
type ApplyResult struct {
	Created bool     // the sale is new
	Changes []Change // what differs from before, in the order in which it was done; none: no change
}

// Change is one difference between two plans, by the names of a sale file.
type Change struct {
	Path        string
	Before, Now string
}

// String is "levels[N1].cap: 100 -> 120".
func (c Change) String() string { return fmt.Sprintf("%s: %s -> %s", c.Path, c.Before, c.Now) }

// Apply makes the sale what the plan says. A new one is written to the ledger,
// then installed in Redis, closed. Of an existing one only what differs is
// changed: texts, times, the hold, prices and ages at once, for new bookings;
// caps as SetCap does it; named seats come and go by name, and none that is held
// or sold goes. Levels and kinds can change only while the
// sale is closed and nobody has ever booked, because they need a new
// generation. What would take something from somebody is a *RefusedError that
// names every reason, and then nothing was changed.
//
// The same file twice is one change. After a crash at any step the same file
// again ends in the same state. The error of an invalid plan is a
// *sale.FaultsError.
func (d *Desk) Apply(ctx context.Context, plan sale.Sale, by By) (ApplyResult, error) {
	plan = plan.WithDefaults()
	if err := plan.Validate(); err != nil {
		return ApplyResult{}, err
	}
	c, err := d.Store.Control(ctx, plan.ID)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return d.create(ctx, plan, by)
	case err != nil:
		return ApplyResult{}, fmt.Errorf("operator: read the control item of sale %s: %w", plan.ID, err)
	case unfinished(c):
		return d.finish(ctx, c, plan, by)
	case c.Frozen:
		return ApplyResult{}, whyNotWorking(c)
	}
	return d.change(ctx, c, plan, by)
}

// create writes the ledger first: a sale that only Redis knows would sell seats
// that nobody could persist.
func (d *Desk) create(ctx context.Context, plan sale.Sale, by By) (ApplyResult, error) {
	if err := d.Server.CheckServer(ctx, plan.ID); err != nil {
		return ApplyResult{}, fmt.Errorf("operator: sale %s is not installed in an unsafe Redis: %w", plan.ID, err)
	}
	c := ledger.Control{Sale: plan.ID}
	freeze(&c, plan, by, d.Now())
	err := d.Store.CreateControl(ctx, c)
	if errors.Is(err, ledger.ErrExists) { // created before, by a lost answer or by somebody else
		if c, err = d.control(ctx, plan.ID); err != nil {
			return ApplyResult{}, err
		}
		if !unfinished(c) {
			return d.change(ctx, c, plan, by)
		}
		return d.finish(ctx, c, plan, by)
	}
	if err != nil {
		return ApplyResult{}, fmt.Errorf("operator: create sale %s: %w", plan.ID, err)
	}
	return d.finish(ctx, c, plan, by)
}

// finish installs a sale that is frozen for it, with the plan at hand: the file
// may have been mended since the first try.
func (d *Desk) finish(ctx context.Context, c ledger.Control, plan sale.Sale, by By) (ApplyResult, error) {
	changes := diffPlans(c.Plan, plan)
	if len(changes) > 0 {
		var err error
		if c, err = d.refreeze(ctx, c, plan, by); err != nil {
			return ApplyResult{}, err
		}
	}
	if err := d.note(ctx, plan.ID, by, "sale apply", "", summary(plan)); err != nil {
		return ApplyResult{}, err
	}
	if _, err := d.install(ctx, c); err != nil {
		return ApplyResult{}, err
	}
	return ApplyResult{Created: c.RosterVersion == "" && !c.Open, Changes: changes}, nil
}

// refreeze gives the sale its new plan under the next generation, so that
// everything that still knows the old one is refused.
func (d *Desk) refreeze(ctx context.Context, c ledger.Control, plan sale.Sale, by By) (ledger.Control, error) {
	at := d.Now()
	return d.updateControl(ctx, c.Sale, func(now *ledger.Control) error {
		if now.Gen == c.Gen+1 && unfinished(*now) && len(diffPlans(now.Plan, plan)) == 0 {
			return nil // our own write, whose answer was lost
		}
		if now.Gen != c.Gen || now.Open {
			return tooManyChanges(c.Sale)
		}
		freeze(now, plan, by, at)
		now.CapIntent = nil // the plan has the cap that counts
		return nil
	})
}

// change brings an installed sale to the plan.
func (d *Desk) change(ctx context.Context, c ledger.Control, plan sale.Sale, by By) (ApplyResult, error) {
	if err := whyNotWorking(c); err != nil {
		return ApplyResult{}, err
	}
	live, err := d.Redis.Status(ctx, c.Sale, c.Plan.LevelNames())
	if err != nil || live.Gen != c.Gen {
		return ApplyResult{}, lost(c, err)
	}
	changes := diffPlans(c.Plan, plan)
	deep := structural(c.Plan, plan)
	if len(deep) > 0 {
		if err := d.mayReinstall(ctx, c, plan, live, deep); err != nil {
			return ApplyResult{}, err
		}
		c, err = d.refreeze(ctx, c, plan, by)
		if err != nil {
			return ApplyResult{}, err
		}
		if err := d.note(ctx, c.Sale, by, "sale apply", "", describe(changes)); err != nil {
			return ApplyResult{}, err
		}
		_, err = d.install(ctx, c)
		return ApplyResult{Changes: changes}, err
	}
	edits := editsOf(c.Plan, plan)
	if err := d.refuseDrops(ctx, c, plan, edits); err != nil {
		return ApplyResult{}, err
	}
	if err := refuseCuts(plan, live); err != nil {
		return ApplyResult{}, err
	}
	if len(changes) > 0 {
		if err := d.note(ctx, c.Sale, by, "sale apply", "", describe(changes)); err != nil {
			return ApplyResult{}, err
		}
	}
	if c, err = d.beginSeats(ctx, c, edits); err != nil {
		return ApplyResult{}, err
	}
	if err := d.dropSeats(ctx, c, edits); err != nil {
		return ApplyResult{}, err
	}
	if err := d.changeTexts(ctx, c, plan, live, by); err != nil {
		return ApplyResult{}, err
	}
	if err := d.addSeats(ctx, c, edits); err != nil {
		return ApplyResult{}, err
	}
	return ApplyResult{Changes: changes}, d.changeCaps(ctx, plan, by)
}

// lost explains a sale that the ledger has and Redis has not, or has of another
// generation, or in the form of another build.
func lost(c ledger.Control, err error) error {
	if errors.Is(err, admission.ErrLayout) {
		return refuse(CodeRedisLayout, nil, "Redis keeps sale %s in the form of another build: go back to that one, or replace all of its processes and run holdfast rebuild %s", c.Sale, c.Sale).because(err)
	}
	if err != nil && !errors.Is(err, admission.ErrNotFound) {
		return fmt.Errorf("operator: read sale %s in Redis: %w", c.Sale, err)
	}
	return refuse(CodeRedisLost, nil, "Redis does not have generation %d of sale %s: run holdfast rebuild %s", c.Gen, c.Sale, c.Sale)
}

func summary(s sale.Sale) string {
	names := make([]string, len(s.Levels))
	for i, l := range s.Levels {
		names[i] = fmt.Sprintf("%s %d", l.Name, l.Cap)
	}
	return fmt.Sprintf("%d seats (%s)", s.TotalCap, strings.Join(names, ", "))
}

func describe(changes []Change) string {
	parts := make([]string, len(changes))
	for i, c := range changes {
		parts[i] = c.String()
	}
	return strings.Join(parts, "; ")
}

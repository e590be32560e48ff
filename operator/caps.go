package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// SetCap sets the cap of a level, or with level "" the sale's total. A cap below
// the seats in use is a *RefusedError with the numbers and changes nothing; one
// that is set already is no change.
//
// A total that is no bound of its own, because it is not below the sum of the
// levels, follows the sum: else a raise would leave the sale sold out (case
// F02). It goes up before the level and down after it, so it never cuts into a
// level, and a repeat after a crash finds it still following.
func (d *Desk) SetCap(ctx context.Context, saleID, level string, n int, by By) (admission.CapAnswer, error) {
	c, err := d.working(ctx, saleID)
	if err != nil {
		return admission.CapAnswer{}, err
	}
	if err := checkCap(c.Plan, level, n); err != nil {
		return admission.CapAnswer{}, err
	}
	if err := checkNumbers(level, c.Next[level], n-planCap(c.Plan, level)); err != nil {
		return admission.CapAnswer{}, err
	}
	if level == "" {
		return d.setOneCap(ctx, saleID, "", n, eitherWay, by)
	}
	a, err := d.setLevelCap(ctx, c, level, n, by)
	if c.Plan.TotalCap >= sumOfCaps(c.Plan) {
		err = errors.Join(err, d.follow(ctx, saleID, by))
	}
	return a, err
}

// follow makes a total that follows its levels their sum again: of several
// changes at once each computed it from what it had read. The last one to look
// finds it right, or mends it.
func (d *Desk) follow(ctx context.Context, saleID string, by By) error {
	for range tries {
		c, err := d.working(ctx, saleID)
		if err != nil {
			return err
		}
		sum := sumOfCaps(c.Plan)
		if c.Plan.TotalCap == sum && c.CapIntent == nil {
			return nil
		}
		if _, err := d.setOneCap(ctx, saleID, "", sum, eitherWay, by); err != nil && !isRefusal(err) {
			return err
		}
	}
	return nil // others keep changing caps: each of them looks, too
}

// setLevelCap changes a level, and with it a total that follows.
func (d *Desk) setLevelCap(ctx context.Context, c ledger.Control, level string, n int, by By) (admission.CapAnswer, error) {
	saleID, before, sum := c.Sale, planCap(c.Plan, level), sumOfCaps(c.Plan)
	after := sum - before + n
	if n > before && c.Plan.TotalCap >= sum {
		if _, err := d.setOneCap(ctx, saleID, "", after, eitherWay, by); err != nil {
			return admission.CapAnswer{}, err
		}
	}
	a, err := d.setOneCap(ctx, saleID, level, n, eitherWay, by)
	if err != nil || c.Plan.TotalCap <= after || n > before {
		return a, err
	}
	if _, err := d.setOneCap(ctx, saleID, "", after, eitherWay, by); err != nil {
		return a, err
	}
	return a, nil
}

func checkCap(plan sale.Sale, level string, n int) error {
	if n < 0 || n > sale.MaxLevelCap {
		return refuse(CodeInvalid, nil, "a cap is 0 to %d seats, not %d", sale.MaxLevelCap, n)
	}
	if level == "" {
		if sum := sumOfCaps(plan); n > sum || n < 1 {
			return refuse(CodeInvalid, map[string]int{"asked": n, "levels": sum}, "a total of %d is not possible: the levels together have %d seats; raise a level first", n, sum)
		}
		return nil
	}
	l, ok := plan.Level(level)
	if !ok {
		return refuse(CodeUnknownLevel, nil, "sale %s has no level %q, it has %v", plan.ID, level, plan.LevelNames())
	}
	if l.Kind == sale.KindSeated {
		return refuse(CodeSeated, map[string]int{"cap": l.Cap}, "level %s has named seats: its plan changes by name, in the sale file", level)
	}
	return nil
}

// checkNumbers refuses a raise for which a level has no numbers left: none is ever
// used again, so each raise after a cut takes new ones.
func checkNumbers(level string, first, raise int) error {
	if level == "" || raise <= 0 || first+raise-1 <= sale.MaxToken {
		return nil
	}
	left := max(0, sale.MaxToken-first+1)
	return refuse(CodeInvalid, map[string]int{"raise": raise, "left": left}, "level %s has been raised and cut so often that %d seats more is the most it can get: sell the rest in a level of another name", level, left)
}

func planCap(plan sale.Sale, level string) int {
	if level == "" {
		return plan.TotalCap
	}
	l, _ := plan.Level(level)
	return l.Cap
}

func sumOfCaps(plan sale.Sale) int {
	sum := 0
	for _, l := range plan.Levels {
		sum += l.Cap
	}
	return sum
}

// setPlanCap writes a cap into the plan without touching the slice that others
// may hold.
func setPlanCap(plan *sale.Sale, level string, n int) {
	if level == "" {
		plan.TotalCap = n
		return
	}
	plan.Levels = slices.Clone(plan.Levels)
	for i := range plan.Levels {
		if plan.Levels[i].Name == level {
			plan.Levels[i].Cap = n
		}
	}
}

// way says in which direction a cap may go.
type way int

const (
	eitherWay way = iota
	upOnly
	downOnly
)

func direction(raises bool) way {
	if raises {
		return upOnly
	}
	return downOnly
}

var errMoved = errors.New("the control item has moved on")

// setOneCap is the change of one cap of protocol.md 3.4: the intent into G, S9
// and WAIT, the end into G; a raise is in G before it is in Redis, a cut after.
// An intent that somebody left open is driven to its end first.
func (d *Desk) setOneCap(ctx context.Context, saleID, level string, to int, w way, by By) (admission.CapAnswer, error) {
	for range tries {
		c, err := d.working(ctx, saleID)
		if err != nil {
			return admission.CapAnswer{}, err
		}
		if open := c.CapIntent; open != nil {
			a, err := d.drive(ctx, c, *open)
			if ours := open.Level == level && open.To == to; ours || err != nil && !isRefusal(err) {
				return a, err
			}
			continue
		}
		have, err := d.liveCap(ctx, c, level)
		if err != nil {
			return admission.CapAnswer{}, err
		}
		if have.Cap == to && planCap(c.Plan, level) == to || w == upOnly && to < have.Cap || w == downOnly && to > have.Cap {
			return admission.CapAnswer{Outcome: admission.CapSet, Cap: have.Cap, Used: have.Used, Next: c.Next[level], Acknowledged: true}, nil
		}
		intent := ledger.CapIntent{Serial: c.CapSerial + 1, Level: level, From: have.Cap, To: to, First: c.Next[level], Actor: by.Actor, Reason: by.Reason, At: ledger.Instant(d.Now())}
		next, err := d.intend(ctx, c, intent)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return admission.CapAnswer{}, err
		}
		a, err := d.drive(ctx, next, intent)
		a.Used = max(a.Used, have.Used)
		return a, err
	}
	return admission.CapAnswer{}, refuse(CodeTooManyChanges, nil, "other changes of sale %s were faster %d times: try again", saleID, tries)
}

// liveCap is what Redis has; it decides whether the change is a raise or a cut,
// for a failover may have lost an earlier one.
func (d *Desk) liveCap(ctx context.Context, c ledger.Control, level string) (admission.LevelStatus, error) {
	names := c.Plan.LevelNames()
	live, err := d.Redis.Status(ctx, c.Sale, names)
	if err != nil || live.Gen != c.Gen {
		return admission.LevelStatus{}, lost(c, err)
	}
	if level == "" {
		return admission.LevelStatus{Cap: live.TotalCap, Used: live.Used}, nil
	}
	return live.Levels[slices.Index(names, level)], nil
}

// intend writes the intent; a raise also takes its numbers, so that no other
// change can ever mint them again.
func (d *Desk) intend(ctx context.Context, seen ledger.Control, intent ledger.CapIntent) (ledger.Control, error) {
	return d.updateControl(ctx, seen.Sale, func(now *ledger.Control) error {
		if now.CapIntent != nil && *now.CapIntent == intent {
			return nil // our own write, whose answer was lost
		}
		if now.CapIntent != nil || now.Gen != seen.Gen || now.Next[intent.Level] != intent.First || now.CapSerial != intent.Serial-1 {
			return fmt.Errorf("cap of sale %s: %w", seen.Sale, errMoved)
		}
		raise := intent.To - intent.From
		if err := checkNumbers(intent.Level, intent.First, raise); err != nil {
			return err // before the intent: a plan that Redis refuses could never be rebuilt
		}
		now.CapIntent, now.CapSerial = &intent, intent.Serial
		if raise > 0 {
			setPlanCap(&now.Plan, intent.Level, intent.To)
			if intent.Level != "" {
				now.Next[intent.Level] = intent.First + raise
			}
		}
		return nil
	})
}

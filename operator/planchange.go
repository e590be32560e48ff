package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// mayReinstall refuses a new generation while anybody could lose by it. Only a
// closed sale in which nobody has ever booked has nothing in flight: no seat,
// no event in a queue, no payment that may come late.
func (d *Desk) mayReinstall(ctx context.Context, c ledger.Control, plan sale.Sale, live admission.Status, deep []Change) error {
	booked, err := d.everBooked(ctx, c.Sale)
	if err != nil {
		return err
	}
	if !c.Open && !live.Open && live.Bookings == 0 && !booked {
		return nil
	}
	r := &RefusedError{Kind: CodeUnsafeChange, Figures: map[string]int{"bookings": live.Bookings}}
	for _, change := range deep {
		r.Reasons = append(r.Reasons, change.String()+": "+against(change, plan, live))
	}
	dropped, err := d.droppedSeats(ctx, c.Plan, plan)
	if err != nil {
		return err
	}
	for _, seat := range dropped {
		r.Reasons = append(r.Reasons, fmt.Sprintf("seat %s is held or sold: keep it in the plan", seat))
	}
	return r
}

// against says why one change can't be made now and what can be done instead.
func against(c Change, plan sale.Sale, live admission.Status) string {
	const early = "it can change only while the sale is closed and nobody has ever booked"
	name, ok := levelOf(c.Path)
	if !ok {
		return early
	}
	i := slices.IndexFunc(live.Levels, func(l admission.LevelStatus) bool { return l.Name == name })
	_, stays := plan.Level(name)
	if i >= 0 && !stays {
		return fmt.Sprintf("%d of its seats are held or sold; set its cap to %d to sell no more of them (%s)", live.Levels[i].Used, live.Levels[i].Used, early)
	}
	return early
}

var errFound = errors.New("found")

func (d *Desk) everBooked(ctx context.Context, saleID string) (bool, error) {
	err := d.Store.Scan(ctx, saleID, ledger.Visitor{Booking: func(ledger.Booking) error { return errFound }})
	if err != nil && !errors.Is(err, errFound) {
		return false, fmt.Errorf("operator: look for bookings of sale %s: %w", saleID, err)
	}
	return err != nil, nil
}

// droppedSeats are the named seats that the new plan has not and somebody owns.
func (d *Desk) droppedSeats(ctx context.Context, old, now sale.Sale) ([]string, error) {
	keep := make(map[string]bool)
	for _, l := range now.Levels {
		for _, s := range l.Seats {
			keep[s.Name] = true
		}
	}
	var dropped []string
	for _, l := range old.Levels {
		for _, s := range l.Seats {
			if !keep[s.Name] {
				dropped = append(dropped, s.Name)
			}
		}
	}
	return d.owned(ctx, old.ID, dropped)
}

// ownersAtOnce is how many seats are looked up at the same time.
const ownersAtOnce = 32

// owned are those of the seats that somebody owns, in their order.
func (d *Desk) owned(ctx context.Context, saleID string, seats []string) ([]string, error) {
	var owned []string
	for some := range slices.Chunk(seats, ownersAtOnce) {
		errs := make([]error, len(some))
		var wg sync.WaitGroup
		for i, seat := range some {
			wg.Go(func() { _, errs[i] = d.Store.SeatBooking(ctx, saleID, seat) })
		}
		wg.Wait()
		for i, seat := range some {
			switch {
			case errs[i] == nil:
				owned = append(owned, seat)
			case !errors.Is(errs[i], ledger.ErrNotFound):
				return nil, fmt.Errorf("operator: look for the owner of seat %s: %w", seat, errs[i])
			}
		}
	}
	return owned, nil
}

// refuseCuts refuses caps below the seats in use, all of them at once, before
// anything is changed. The script judges again.
func refuseCuts(plan sale.Sale, live admission.Status) error {
	r := &RefusedError{Kind: CodeBelowUsed, Figures: map[string]int{}}
	below := func(what, figure string, to, used int) {
		if to < used {
			r.Reasons = append(r.Reasons, fmt.Sprintf("%s: %d seats are held or sold: a cap of %d is too low", what, used, to))
			r.Figures[figure+"cap"], r.Figures[figure+"used"] = to, used
		}
	}
	for _, l := range live.Levels {
		if planned, ok := plan.Level(l.Name); ok {
			below("level "+l.Name, l.Name+".", planned.Cap, l.Used)
		}
	}
	below("the sale", "", plan.TotalCap, live.Used)
	if len(r.Reasons) > 0 {
		return r
	}
	return nil
}

// changeTexts writes everything but the caps: the ledger first, then hold and
// times where Redis has others.
func (d *Desk) changeTexts(ctx context.Context, c ledger.Control, plan sale.Sale, live admission.Status, by By) error {
	_, err := d.updateControl(ctx, c.Sale, func(now *ledger.Control) error {
		if now.Gen != c.Gen || now.SeatSerial != c.SeatSerial {
			return tooManyChanges(c.Sale)
		}
		now.Plan, now.SeatsAt = withCapsOf(plan, now.Plan), time.Time{} // what is left is to bring seats, and a diff may do that too
		return nil
	})
	if err != nil {
		return err
	}
	if live.Hold != plan.Hold {
		if err := acknowledged(ctx, func() error { return d.Redis.SetHold(ctx, c.Sale, c.Gen, plan.Hold) }); err != nil {
			return fmt.Errorf("operator: change the hold of sale %s: %w", c.Sale, err)
		}
	}
	if live.OpensAt.Equal(plan.OpensAt) && live.ClosesAt.Equal(plan.ClosesAt) {
		return nil
	}
	return d.moveTimes(ctx, c, plan)
}

func (d *Desk) moveTimes(ctx context.Context, c ledger.Control, plan sale.Sale) error {
	return acknowledged(ctx, func() error {
		version, err := d.Redis.SetTimes(ctx, c.Sale, c.Gen, plan.OpensAt, plan.ClosesAt)
		d.public(c.Sale, version)
		return err
	})
}

// withCapsOf is plan with the caps of old: those change by SetCap alone.
func withCapsOf(plan, old sale.Sale) sale.Sale {
	plan.Levels, plan.TotalCap = slices.Clone(plan.Levels), old.TotalCap
	for i := range plan.Levels {
		if l, ok := old.Level(plan.Levels[i].Name); ok && l.Kind == sale.KindCounted {
			plan.Levels[i].Cap = l.Cap // of a seated level the seats are the cap
		}
	}
	return plan
}

// changeCaps brings every cap to the plan: raises of levels, then the total,
// then cuts, so that the plan is valid after each of them.
func (d *Desk) changeCaps(ctx context.Context, plan sale.Sale, by By) error {
	for _, raises := range []bool{true, false} {
		for _, l := range plan.Levels {
			if l.Kind != sale.KindCounted {
				continue
			}
			if _, err := d.setOneCap(ctx, plan.ID, l.Name, l.Cap, direction(raises), by); err != nil {
				return err
			}
		}
		if raises {
			if _, err := d.setOneCap(ctx, plan.ID, "", plan.TotalCap, eitherWay, by); err != nil {
				return err
			}
		}
	}
	return nil
}

package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// editAgain is how long an operator waits before a failed edit is repeated.
const editAgain = 20 * time.Second

// seatEdit is an operator's edit of the seat plan while the sale goes on: the
// seat goes if the plan has it, and comes if it has not. Whoever begins it brings
// it to its end, as one who applies the file again until it is applied, or is
// told that the seat is somebody's.
func (o *operatorRole) seatEdit(ctx context.Context, seat string, by operator.By) error {
	o.editing.Lock()
	defer o.editing.Unlock()
	drop := false
	for first := true; first || o.p.sleep(editAgain); first = false {
		c, err := o.house.store.Control(ctx, theSale)
		if err != nil {
			continue
		}
		if first {
			drop = slices.Contains(namesOf(c.Plan), seat)
		}
		_, err = o.desk.Apply(ctx, withSeat(c.Plan, seat, drop), by)
		if err == nil {
			return nil
		}
		if r := (*operator.RefusedError)(nil); errors.As(err, &r) && r.Kind == operator.CodeUnsafeChange {
			return err
		}
	}
	return ctx.Err()
}

func sumOf(levels []sale.Level) (n int) {
	for _, l := range levels {
		n += l.Cap
	}
	return n
}

func namesOf(p sale.Sale) (names []string) {
	l, _ := p.Level(hallName)
	for _, s := range l.Seats {
		names = append(names, s.Name)
	}
	return names
}

// withSeat is the plan without the seat, or with it; a total that was all of the
// seats stays that.
func withSeat(p sale.Sale, seat string, drop bool) sale.Sale {
	all := sumOf(p.Levels)
	p.Levels = slices.Clone(p.Levels)
	for i := range p.Levels {
		l := &p.Levels[i]
		if l.Name != hallName {
			continue
		}
		l.Seats = slices.DeleteFunc(slices.Clone(l.Seats), func(s sale.Seat) bool { return s.Name == seat })
		if !drop {
			l.Seats = append(l.Seats, sale.Seat{Name: seat, Section: "Box", Row: "B", Run: 2})
		}
		for n := range l.Seats {
			l.Seats[n].Score = n + 1
		}
		l.Cap = len(l.Seats)
	}
	if now := sumOf(p.Levels); p.TotalCap == all || p.TotalCap > now {
		p.TotalCap = now
	}
	return p
}

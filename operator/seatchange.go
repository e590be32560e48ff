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

// seatEdits are the named seats that go and come in one level.
type seatEdits struct {
	level     string
	drop      []string
	old, seat []string // the level's seats before and now, in their order
}

// editsOf lists what changes by name in levels that stay seated. All of them are
// among the edits, also where nothing differs: a seat that the last apply brought
// and no replica had acknowledged is in Redis and may be lost again, so only an
// acknowledgement after this apply says that the file is applied.
func editsOf(old, now sale.Sale) []seatEdits {
	var list []seatEdits
	for _, l := range now.Levels {
		was, ok := old.Level(l.Name)
		if !ok || l.Kind != sale.KindSeated || was.Kind != sale.KindSeated {
			continue
		}
		e := seatEdits{level: l.Name, old: was.SeatNames(), seat: l.SeatNames()}
		keep := make(map[string]bool, len(e.seat))
		for _, name := range e.seat {
			keep[name] = true
		}
		for _, name := range e.old {
			if !keep[name] {
				e.drop = append(e.drop, name)
			}
		}
		list = append(list, e)
	}
	return list
}

// seatStore is what edits of named seats need of admission's adapter.
type seatStore interface {
	admission.SeatEditor
	admission.SoftHolder
}

func (d *Desk) seats() (seatStore, error) {
	s, ok := d.Redis.(seatStore)
	if !ok {
		return nil, refuse(CodeUnsafeChange, nil, "this Redis adapter can't change named seats")
	}
	return s, nil
}

// beginSeats takes the serial under which this apply alone may write the seats of
// the sale: the scripts refuse whoever had an older one, and changeTexts writes no
// plan once somebody has taken a newer one. So no apply that stalled, and no
// repair by the reaper, can undo a part of what another one did.
func (d *Desk) beginSeats(ctx context.Context, c ledger.Control, edits []seatEdits) (ledger.Control, error) {
	if len(edits) == 0 {
		return c, nil
	}
	return d.updateControl(ctx, c.Sale, func(now *ledger.Control) error {
		if now.Gen != c.Gen || now.SeatSerial != c.SeatSerial {
			return tooManyChanges(c.Sale)
		}
		now.SeatSerial, now.SeatsAt = c.SeatSerial+1, ledger.Instant(d.Now())
		return nil
	})
}

func tooManyChanges(saleID string) error {
	return refuse(CodeTooManyChanges, nil, "sale %s was changed by somebody else at the same time: apply the file again", saleID)
}

// refuseDrops names every seat that the plan drops and somebody holds or owns, in
// Redis or in the ledger, before anything is changed.
func (d *Desk) refuseDrops(ctx context.Context, c ledger.Control, plan sale.Sale, edits []seatEdits) error {
	owned, err := d.droppedSeats(ctx, c.Plan, plan)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if err := d.lapse(ctx, c.Sale, e.level); err != nil {
			return err
		}
		held, err := d.edit(ctx, c, e.level, admission.CheckSeats, e.drop)
		if err != nil {
			return err
		}
		owned = append(owned, held...)
	}
	return refuseHeld(owned)
}

func refuseHeld(seats []string) error {
	if len(seats) == 0 {
		return nil
	}
	r := &RefusedError{Kind: CodeUnsafeChange, Figures: map[string]int{}}
	slices.Sort(seats)
	for _, seat := range slices.Compact(seats) {
		r.Reasons = append(r.Reasons, fmt.Sprintf("seat %s is held or sold: keep it in the plan", seat))
	}
	return r
}

// dropSeats takes the seats that the plan drops out of Redis, before the ledger
// forgets them: all of them, or none if one is held or sold by now.
func (d *Desk) dropSeats(ctx context.Context, c ledger.Control, edits []seatEdits) error {
	for _, e := range edits {
		held, err := d.edit(ctx, c, e.level, admission.DropSeats, e.drop)
		if err == nil && held == nil {
			continue
		}
		if isRefusal(err) {
			return err // whoever has a newer serial answers for the seats
		}
		// Somebody was faster than we: what went already comes back, as the ledger
		// still has it.
		back := d.restoreSeats(ctx, c, edits)
		return errors.Join(err, refuseHeld(held), back)
	}
	return nil
}

func (d *Desk) restoreSeats(ctx context.Context, c ledger.Control, edits []seatEdits) error {
	for _, e := range edits {
		if _, err := d.edit(ctx, c, e.level, admission.AddSeats, e.old); err != nil {
			return err
		}
	}
	return nil
}

// addSeats brings the plan's seats into Redis, after the ledger has them.
func (d *Desk) addSeats(ctx context.Context, c ledger.Control, edits []seatEdits) error {
	for _, e := range edits {
		if _, err := d.edit(ctx, c, e.level, admission.AddSeats, e.seat); err != nil {
			return err
		}
	}
	return nil
}

// edit makes one edit in pages; held are the seats that are in the way.
func (d *Desk) edit(ctx context.Context, c ledger.Control, level string, op admission.SeatEditOp, seats []string) (held []string, err error) {
	store, err := d.seats()
	if err != nil {
		return nil, err
	}
	for from := 0; from < len(seats); from += admission.MaxSeatEdit {
		q := admission.SeatEdit{Sale: c.Sale, Gen: c.Gen, Level: level, Op: op, Serial: c.SeatSerial, Seats: seats[from:min(from+admission.MaxSeatEdit, len(seats))]}
		for i := range q.Seats {
			q.Scores = append(q.Scores, int64(from+i+1))
		}
		var a admission.SeatEditAnswer
		err = acknowledged(ctx, func() (err error) {
			a, err = store.EditSeats(ctx, q)
			d.public(c.Sale, a.Version)
			return err
		})
		if errors.Is(err, admission.ErrMoved) {
			return held, tooManyChanges(c.Sale)
		}
		if err != nil {
			return held, fmt.Errorf("operator: change the seats of level %s (apply the file again): %w", level, err)
		}
		if held = append(held, a.Held...); len(a.Held) > 0 && op == admission.DropSeats {
			return held, nil
		}
	}
	return held, nil
}

// lapse frees expired soft holds, which are in nobody's way.
func (d *Desk) lapse(ctx context.Context, saleID, level string) error {
	const page = 500
	store, err := d.seats()
	if err != nil {
		return err
	}
	for {
		n, version, err := store.Lapse(ctx, saleID, level, page)
		if err != nil {
			return fmt.Errorf("operator: free expired holds of level %s: %w", level, err)
		}
		d.public(saleID, version)
		if n < page {
			return nil
		}
	}
}

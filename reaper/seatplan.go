package reaper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// strays are the named seats in which a level differs from its plan.
type strays struct {
	missing []string // of the plan, and not in Redis
	free    []string // in Redis, free, and not of the plan
	held    []string // in Redis, somebody's, and not of the plan: an operator's to decide
}

// mendable reports whether there is anything that the diff may change.
func (s strays) mendable() bool { return len(s.missing)+len(s.free) > 0 }

// hall is one seated level while it is compared and mended.
type hall struct {
	level string
	plan  []string // names, in their order
	strays
}

// seatPlans brings back edits of named seats that Redis lost, and ends those that
// nobody ended (protocol.md 3.8.5c). The plan in the ledger is what counts. A
// young edit is left to its operator; taking the serial of an old one makes sure
// that it can't go on behind the repair: Redis refuses its seats, the ledger its
// plan.
func (d *diff) seatPlans(ctx context.Context, c ledger.Control) {
	if d.now().Sub(c.SeatsAt) < intentGrace {
		return
	}
	var halls []*hall
	mendable := false
	for _, l := range c.Plan.Levels {
		if l.Kind != sale.KindSeated {
			continue
		}
		h := &hall{level: l.Name, plan: l.SeatNames()}
		if err := d.compareSeats(ctx, c, h); err != nil {
			d.failed(ctx, "compare the seats of a level", l.Name, err)
			return
		}
		halls, mendable = append(halls, h), mendable || h.mendable()
	}
	if mendable && d.apply {
		if err := d.mendSeats(ctx, c, slices.DeleteFunc(slices.Clone(halls), func(h *hall) bool { return !h.mendable() })); err != nil {
			d.failed(ctx, "mend the seats of a sale", c.Sale, err)
		}
	}
	for _, h := range halls {
		for _, seat := range slices.Concat(h.missing, h.free, h.held) {
			d.findings.found(KindSeats, seat, false)
		}
	}
}

// compareSeats compares names. Redis answers which seats of the plan are missing,
// and its cap says whether there are others: only then they are looked for.
func (d *diff) compareSeats(ctx context.Context, c ledger.Control, h *hall) error {
	have := 0
	for from := 0; from == 0 || from < len(h.plan); from += admission.MaxSeatEdit {
		a, err := d.Redis.EditSeats(ctx, admission.SeatEdit{Sale: c.Sale, Gen: c.Gen, Level: h.level, Op: admission.MissingSeats,
			Seats: h.plan[from:min(from+admission.MaxSeatEdit, len(h.plan))]})
		if err != nil {
			return fmt.Errorf("reaper: look for the seats of level %s: %w", h.level, err)
		}
		h.missing, have = append(h.missing, a.Missing...), a.Cap
	}
	if have == len(h.plan)-len(h.missing) {
		return nil
	}
	planned := make(map[string]bool, len(h.plan))
	for _, name := range h.plan {
		planned[name] = true
	}
	err := d.Redis.ScanFree(ctx, c.Sale, h.level, func(seat string) error {
		if !planned[seat] {
			h.free = append(h.free, seat)
		}
		return nil
	})
	if err == nil {
		err = d.Redis.ScanRecords(ctx, c.Sale, func(r admission.Record, _ bool) error {
			for _, seat := range r.Tokens {
				if r.Level == h.level && !planned[seat] {
					h.held = append(h.held, strings.Clone(seat)) // not its whole page
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("reaper: look for seats of level %s that its plan has not: %w", h.level, err)
	}
	for _, list := range []*[]string{&h.free, &h.held} { // scans repeat themselves
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return nil
}

// takeSeats takes the serial under which seats are edited, if the plan is still
// the one that was compared.
func (d *diff) takeSeats(ctx context.Context, read ledger.Control) (ledger.Control, error) {
	return d.store.UpdateControl(ctx, read.Sale, func(c *ledger.Control) error {
		if c.Frozen || c.Gen != read.Gen || c.SeatSerial != read.SeatSerial {
			return errOvertaken
		}
		c.SeatSerial, c.SeatsAt = read.SeatSerial+1, time.Time{}
		return nil
	})
}

// mendSeats takes and brings; what it can't stays among the strays. What goes goes
// first, in all levels: no seat is ever in two of them. Then every seat of the plan
// comes and not the missing ones alone: an older edit that arrives while this runs
// is either refused or made good.
func (d *diff) mendSeats(ctx context.Context, read ledger.Control, halls []*hall) error {
	c, err := d.takeSeats(ctx, read)
	if err != nil {
		return err
	}
	for _, h := range halls {
		if err := d.dropStrays(ctx, c, h); err != nil {
			return err
		}
	}
	for _, h := range halls {
		for from := 0; from < len(h.plan); from += admission.MaxSeatEdit {
			e := admission.SeatEdit{Op: admission.AddSeats, Level: h.level, Seats: h.plan[from:min(from+admission.MaxSeatEdit, len(h.plan))]}
			for i := range e.Seats {
				e.Scores = append(e.Scores, int64(from+i+1))
			}
			if _, err := d.editSeats(ctx, c, e); err != nil {
				return err
			}
		}
		d.mended(h.missing)
		h.missing = nil
	}
	return nil
}

// dropStrays takes the free ones; one that was booked since is held.
func (d *diff) dropStrays(ctx context.Context, c ledger.Control, h *hall) error {
	for len(h.free) > 0 {
		some := h.free[:min(admission.MaxSeatEdit, len(h.free))]
		held, err := d.editSeats(ctx, c, admission.SeatEdit{Op: admission.DropSeats, Level: h.level, Seats: some})
		if err != nil {
			return err
		}
		if len(held) == 0 {
			d.mended(some)
			h.free = h.free[len(some):]
			continue
		}
		h.held = append(h.held, held...)
		h.free = slices.DeleteFunc(h.free, func(seat string) bool { return slices.Contains(held, seat) })
	}
	return nil
}

func (d *diff) mended(seats []string) {
	for _, seat := range seats {
		d.findings.found(KindSeats, seat, true)
	}
}

func (d *diff) editSeats(ctx context.Context, c ledger.Control, e admission.SeatEdit) (held []string, err error) {
	e.Sale, e.Gen, e.Serial = c.Sale, c.Gen, c.SeatSerial
	a, err := d.Redis.EditSeats(ctx, e)
	d.Steps.Notify(c.Sale, a.Version)
	if errors.Is(err, admission.ErrMoved) {
		return nil, errOvertaken
	}
	if err != nil {
		return nil, fmt.Errorf("reaper: mend the seats of level %s: %w", e.Level, err)
	}
	return a.Held, nil
}

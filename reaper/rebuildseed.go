package reaper

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// install is steps 4 to 7: levels, roster, bookings, the check, and cfg last.
func (b *rebuild) install(ctx context.Context) error {
	b.begun = true
	b.o.Progress(RebuildProgress{Step: StepLoad})
	err := b.Redis.Install(ctx, planOf(b.control), b.fill)
	if errors.Is(err, admission.ErrUnacknowledged) {
		// cfg stands. Whether the replicas have it, the next acknowledged write
		// says for all before it.
		err = b.Redis.SetRosterVersion(ctx, b.control.Sale, b.control.Gen, b.control.RosterVersion)
	}
	if err != nil {
		return fmt.Errorf("reaper: install sale %s: %w", b.control.Sale, err)
	}
	return nil
}

// fill runs between the levels and cfg: nobody is admitted meanwhile.
func (b *rebuild) fill(ctx context.Context) error {
	_, err := b.putRoster(ctx, b.control.Sale, func(rows int) error {
		b.result.Roster = rows
		b.o.Progress(RebuildProgress{Step: StepLoad, Done: rows, Total: b.control.RosterSize})
		return b.keep(ctx)
	})
	if err != nil {
		return err
	}
	if err := b.seed(ctx); err != nil {
		return err
	}
	if err := b.check(ctx); err != nil {
		return err
	}
	return b.keep(ctx)
}

// seedRounds bounds the scans; each new one is needed only if bookings became
// live during the one before.
const seedRounds = 10

// seed puts every live booking back, scan after scan until one shows nothing
// new: a worker that does not know yet that the sale is frozen, or whose event
// is of the last generation, writes to the ledger while this runs.
func (b *rebuild) seed(ctx context.Context) error {
	for range seedRounds {
		n, err := b.seedRound(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
	return fmt.Errorf("reaper: bookings of sale %s keep coming, after %d scans: drain the queue first", b.control.Sale, seedRounds)
}

func (b *rebuild) seedRound(ctx context.Context) (n int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, b.Parallel)
	var wg sync.WaitGroup
	err = b.store.Scan(ctx, b.control.Sale, ledger.Visitor{Booking: func(k ledger.Booking) error {
		if _, done := b.seeded[k.ID]; done || !k.State.Live() {
			return nil
		}
		if err := b.keep(ctx); err != nil {
			return err
		}
		b.seeded[k.ID] = seeded{k.Level, len(k.Seats)}
		n++
		b.o.Progress(RebuildProgress{Step: StepSeed, Done: len(b.seeded)})
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := b.put(ctx, k); err != nil {
				cancel(err)
			}
		})
		return ctx.Err()
	}})
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return n, cause
	}
	if err != nil {
		return n, fmt.Errorf("reaper: read the bookings of sale %s: %w", b.control.Sale, err)
	}
	return n, nil
}

func (b *rebuild) put(ctx context.Context, k ledger.Booking) error {
	a, err := b.Redis.Reseed(ctx, k.Sale, lifecycle.RecordOf(k))
	if err != nil {
		return fmt.Errorf("reaper: put booking %s back: %w", k.ID, err)
	}
	switch a.Outcome {
	case admission.Reseeded, admission.ReseedHave:
		return nil
	}
	return fmt.Errorf("reaper: booking %s can't be put back (outcome %d, in the way: %q): run the audit", k.ID, a.Outcome, a.Other)
}

// check is step 6: Redis holds every booking that was put in, and per level as
// many seats. One that is there and was not put in is another healer's, and is
// counted if the ledger has it as live.
func (b *rebuild) check(ctx context.Context) error {
	b.o.Progress(RebuildProgress{Step: StepCheck, Total: len(b.seeded)})
	want, have := map[string]int{}, map[string]int{}
	for _, s := range b.seeded {
		want[s.level] += s.seats
		b.result.Seats += s.seats
	}
	b.result.Live = len(b.seeded)
	seen := map[string]bool{}
	err := b.Redis.ScanRecords(ctx, b.control.Sale, func(r admission.Record, _ bool) error {
		if _, ours := b.seeded[r.BookingID]; ours && !seen[r.BookingID] {
			have[r.Level] += len(r.Tokens)
			seen[r.BookingID] = true
		}
		return b.keep(ctx)
	})
	if err != nil {
		return fmt.Errorf("reaper: check what Redis holds of sale %s: %w", b.control.Sale, err)
	}
	for level, n := range want {
		if have[level] != n {
			return fmt.Errorf("level %s: %d seats were put back, Redis holds %d: %w", level, n, have[level], ErrUnfaithful)
		}
	}
	if len(seen) != len(b.seeded) {
		return fmt.Errorf("%d bookings were put back, Redis holds %d: %w", len(b.seeded), len(seen), ErrUnfaithful)
	}
	return nil
}

// planOf is the sale as it is loaded.
func planOf(c ledger.Control) admission.Plan {
	p := admission.Plan{Sale: c.Sale, Gen: c.Gen, OpensAt: c.Plan.OpensAt, ClosesAt: c.Plan.ClosesAt, Hold: c.Plan.Hold,
		TotalCap: c.Plan.TotalCap, Open: c.Open, RosterVersion: c.RosterVersion}
	for _, l := range c.Plan.Levels {
		p.Levels = append(p.Levels, admission.LevelPlan{Name: l.Name, Kind: string(l.Kind), Cap: l.Cap, Next: nextOf(c, l), Tokens: l.SeatNames()})
	}
	return p
}

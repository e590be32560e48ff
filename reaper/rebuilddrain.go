package reaper

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/events"
)

// calm is how often in a row, a second apart, the queue must be seen empty: its
// figures are approximate.
const calm = 3

// drain is step 3: the events of the last generation go to the ledger first, so
// that their bookings are put back like all others. Dead letters are redriven
// once; what dies again stays dead. The figures are of the whole deployment: a
// queue that other sales keep busy has to be drained by their quiet moment, or
// skipped.
func (b *rebuild) drain(ctx context.Context) error {
	if b.o.SkipDrain {
		return nil
	}
	if b.Queue == nil {
		return fmt.Errorf("reaper: the queue's depth can't be seen here: %w", ErrNotDrained)
	}
	end, redriven := b.now().Add(b.o.DrainMax), b.Dead == nil
	for empty := 0; empty < calm; {
		d, err := b.Queue.Depth(ctx)
		if err != nil {
			return fmt.Errorf("reaper: ask for the queue's depth: %w", err)
		}
		b.o.Progress(RebuildProgress{Step: StepDrain, Detail: depthText(d)})
		switch {
		case d.Visible+d.InFlight > 0:
			empty = 0
		case d.Dead > 0 && !redriven:
			if err := b.Dead.RedriveDead(ctx); err != nil {
				return fmt.Errorf("reaper: redrive the dead letters: %w", err)
			}
			empty, redriven = 0, true
		default:
			empty++
		}
		if !b.now().Before(end) {
			return fmt.Errorf("reaper: after %v %s: %w", b.o.DrainMax, depthText(d), ErrNotDrained)
		}
		if err := b.keep(ctx); err != nil {
			return err
		}
		if err := b.Wait(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

func depthText(d events.Depth) string {
	return fmt.Sprintf("%d messages wait, %d are in work, %d are dead", d.Visible, d.InFlight, d.Dead)
}

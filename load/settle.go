package load

import (
	"context"
	"fmt"
	"time"
)

// waveSize is how many of those who were refused come back in one round.
const waveSize = 1000

// settle waits until nothing is under way. Meanwhile people who were told that
// it is full come back when seats do, so that in the end nothing is left unsold
// that somebody would have paid for.
func (r *run) settle(ctx context.Context, last time.Time) error {
	deadline := time.Now().Add(r.SettleWithin)
	for calm := 0; calm < 3; {
		if !pause(ctx, 500*time.Millisecond) {
			return ctx.Err()
		}
		s, err := r.Rest(ctx)
		if err != nil {
			return fmt.Errorf("look whether the sale has come to rest: %w", err)
		}
		waves := 0
		if r.result.Pipeline > 0 { // what the crowd left is worked off: the drain is not that of a second wave
			waves = r.comeBack(ctx, s)
		}
		switch {
		case waves > 0:
			calm = 0
			r.phase.Store("second wave")
			r.jobs.Wait()
		case s.quiet():
			calm++
		default:
			calm = 0
			r.phase.Store("settling")
		}
		r.mu.Lock()
		r.result.Last = s
		r.mu.Unlock()
		if time.Now().After(deadline) {
			r.result.Drain = time.Since(last)
			return nil
		}
	}
	r.result.Drain, r.result.Quiet = time.Since(last), true
	return nil
}

// comeBack sends those who wait for a level that has free seats, at most
// waveSize of them, and reports how many.
func (r *run) comeBack(ctx context.Context, s Sample) int {
	left := map[string]int{}
	for level, free := range s.Free {
		left[level] = min(free, s.TotalCap-s.Total)
	}
	var shots []Shot
	r.mu.Lock()
	for i := range r.people {
		p, level := &r.people[i], r.crowd.level[i]
		if len(shots) < waveSize && p.waiting && !p.busy && left[level] > 0 {
			p.busy, p.tries = true, 0
			left[level]--
			shots = append(shots, r.crowd.shot(Retry, i))
		}
	}
	r.mu.Unlock()
	for _, shot := range shots {
		r.send(ctx, shot, time.Now())
	}
	return len(shots)
}

func (r *run) waitingByLevel() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := map[string]int{}
	for i := range r.people {
		if r.people[i].waiting {
			waiting[r.crowd.level[i]]++
		}
	}
	return waiting
}

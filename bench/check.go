package main

import (
	"context"
	"sync"
	"time"

	admredis "github.com/holdfast/holdfast/admission/redis"
)

// Check is something that must never happen.
type Check struct {
	Name    string `json:"name"`
	Tried   int    `json:"tried"`
	Count   int    `json:"count"` // how often it happened all the same
	Verdict string `json:"verdict"`
}

// judged counts only if something was tried: a check that asks nothing proves
// nothing.
func (c Check) judged() Check {
	switch {
	case c.Tried == 0:
		c.Verdict = "failed"
	case c.Count > 0:
		c.Verdict = "missed"
	default:
		c.Verdict = "held"
	}
	return c
}

// falseAcknowledgements stops the replica's process in the middle of a storm. From
// then on every admission that is acknowledged is a lie.
func (g *ground) falseAcknowledgements(ctx context.Context) (Check, error) {
	c := Check{Name: "admissions acknowledged while the replica is stopped"}
	err := g.ours(ctx, g.primary(), stormSeats, stormSeats, groupDefaults, func(a admitter) error {
		if _, err := storm(ctx, 256, second/4, a); err != nil {
			return err
		}
		if err := g.pair.Replica.Pause(); err != nil {
			return err
		}
		c.Tried, c.Count = crowdOnce(ctx, 512, time.Second, a)
		return g.pair.Replica.Resume()
	})
	return c.judged(), err
}

// crowdOnce lets so many callers ask, each again when it was refused, and counts
// the asks and the seats that were promised.
func crowdOnce(ctx context.Context, callers int, d time.Duration, admit admitter) (tried, won int) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				ok, _ := admit(ctx, nextCandidate()) // an error is what it should be
				mu.Lock()
				tried++
				if ok {
					won++
				}
				mu.Unlock()
				time.Sleep(10 * time.Millisecond) // as long as a client would at least
			}
		})
	}
	wg.Wait()
	return tried, won
}

// leftBehind is how many seats of those attempts are still taken afterwards: a
// short acknowledgement undoes its admissions.
func (g *ground) leftBehind(ctx context.Context) (Check, error) {
	c := Check{Name: "seats still taken after unacknowledged admissions"}
	if err := g.fresh(ctx, 5000, 5000); err != nil {
		return c, err
	}
	s, err := g.store(g.primary())
	if err != nil {
		return c, err
	}
	defer s.Close()
	if err := g.pair.Replica.Pause(); err != nil {
		return c, err
	}
	c.Tried, _ = crowdOnce(ctx, 256, 2*time.Second, g.group(s, admredis.CommitOptions{}))
	if err := g.pair.Replica.Resume(); err != nil {
		return c, err
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) { // the last batch is undone when its WAIT is over
		status, err := s.Status(ctx, g.sale, nil)
		if c.Count = status.Used; err != nil || c.Count == 0 || time.Now().After(end) {
			return c.judged(), err
		}
	}
}

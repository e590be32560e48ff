package poller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/workers/poller"
)

// Whatever fails, and however often: every event is handled in the end, and no
// event is tried before its predecessor in the group was done. A failure names
// its seed; it is the subtest's name.
func TestRandomFaultsLoseNothingAndKeepTheOrder(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runRandom(t, seed) })
		})
	}
}

func runRandom(t *testing.T, seed uint64) {
	const groups, length = 12, 9
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	draw := func(p float64) bool {
		mu.Lock()
		defer mu.Unlock()
		return rng.Float64() < p
	}
	finished := map[string]bool{}
	r := start(t, func(ctx context.Context, bid string, m events.Meta) error {
		var n int
		if _, err := fmt.Sscanf(bid, m.Group+"-%d", &n); err != nil {
			t.Error(err)
		}
		mu.Lock()
		if before := fmt.Sprintf("%s-%d", m.Group, n-1); n > 0 && !finished[before] {
			t.Errorf("%s is tried before %s is done", bid, before)
		}
		mu.Unlock()
		if draw(0.1) { // longer than the visibility
			time.Sleep(visibility + time.Second)
		}
		if draw(0.2) {
			return errTryAgain
		}
		mu.Lock()
		defer mu.Unlock()
		finished[bid] = true
		return nil
	}, func(c *poller.Config) {
		c.Workers, c.EventTimeout = 5, time.Hour
		c.Backoff = func(int) time.Duration { return time.Second }
	})
	defer r.quit()
	r.patient()
	r.plan.set(fault.NewRandom(rand.NewPCG(seed, 2),
		fault.Chance{P: 0.1, V: fault.Verdict{Kind: fault.LoseAnswer}},
		fault.Chance{P: 0.1, V: fault.Verdict{Kind: fault.Throttle}},
		fault.Chance{P: 0.1, V: fault.FailEntries(0, 2)},
		fault.Chance{P: 0.05, V: fault.Verdict{Kind: fault.Duplicate}},
	), "ReceiveMessage", "DeleteMessageBatch", "ChangeMessageVisibilityBatch")
	for g := range groups {
		var bids []string
		for i := range length {
			bids = append(bids, fmt.Sprintf("g%d-%d", g, i))
		}
		r.send(fmt.Sprint("g", g), bids...)
	}
	for hours := 0; r.left(queue) > 0 && hours < 24; hours++ {
		pass(time.Hour)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(finished) != groups*length || r.left(queue) != 0 || r.poller.InFlight() != 0 {
		t.Errorf("%d of %d done, %d left, %d in flight", len(finished), groups*length, r.left(queue), r.poller.InFlight())
	}
}

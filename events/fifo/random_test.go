package fifo_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/localstack/fault"
)

// Whatever happens to the calls, each answer of Publish is true of the queue:
// nil is there once, ErrNotQueued is not there, ErrAmbiguous may be.
func TestAnswersAreTrueUnderRandomFaults(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			c := newCloud(t, fifo.Names{})
			var random fault.Plan = fault.NewRandom(rand.NewPCG(seed, 0),
				fault.Chance{P: 0.2, V: fault.Verdict{Kind: fault.LoseAnswer}},
				fault.Chance{P: 0.2, V: fault.Verdict{Kind: fault.Throttle}},
				fault.Chance{P: 0.1, V: fault.Verdict{Kind: fault.FailBefore}},
				fault.Chance{P: 0.2, V: fault.FailEntries(0, 1, 3, 7)})
			c.plan.Store(&random)
			p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL, InFlight: 3, GiveUp: 200 * time.Millisecond})
			answers := publishMany(t, p, 300)
			c.plan.Store(nil)
			check(t, c, answers)
		})
	}
}

// publishMany publishes n events of n/3 candidates at once and returns the
// answers by booking.
func publishMany(t *testing.T, p *fifo.Publisher, n int) map[string]error {
	t.Helper()
	type answer struct {
		bid string
		err error
	}
	heard := make(chan answer, n)
	for i := range n {
		go func() {
			bid := fmt.Sprint("B", i)
			heard <- answer{bid, p.Publish(t.Context(), held(fmt.Sprint("c", i%(n/3)), bid))}
		}()
	}
	answers := map[string]error{}
	for range n {
		a := <-heard
		answers[a.bid] = a.err
	}
	return answers
}

func check(t *testing.T, c *cloud, answers map[string]error) {
	t.Helper()
	there := map[string]int{}
	for _, bid := range bookings(t, c.drain(t)) {
		there[bid]++
	}
	kinds := map[string]int{}
	for bid, err := range answers {
		n := there[bid]
		switch {
		case err == nil:
			kinds["queued"]++
			if n != 1 {
				t.Errorf("%s: queued, but it is there %d times", bid, n)
			}
		case errors.Is(err, events.ErrAmbiguous) && !errors.Is(err, events.ErrNotQueued):
			kinds["ambiguous"]++
			if n > 1 {
				t.Errorf("%s: it is there %d times", bid, n)
			}
		case errors.Is(err, events.ErrNotQueued):
			kinds["not queued"]++
			if n != 0 {
				t.Errorf("%s: certainly not queued, but it is there: %v", bid, err)
			}
		default:
			t.Errorf("%s: %v is none of the answers", bid, err)
		}
	}
	if kinds["queued"] == 0 || kinds["ambiguous"] == 0 {
		t.Errorf("answers %v: the faults are too few or too many to show anything", kinds)
	}
}

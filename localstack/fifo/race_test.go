package fifo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/fifo"
)

const (
	raceProducers  = 8
	raceConsumers  = 8
	raceGroups     = 16 // per producer
	raceMessages   = 40 // per group
	raceVisibility = 30 * time.Millisecond
)

// witness sees every delivery: a message may come again, but never before an earlier one of its group was completed.
type witness struct {
	mu    sync.Mutex
	done  map[string]int // per group, how many messages are completed, in order
	left  atomic.Int64
	wrong []string
}

// deliver judges a delivery.
func (w *witness) deliver(m fifo.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, _ := strconv.Atoi(m.Body); n > w.done[m.Group] {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: %d came while %d of its group was not done", m.Group, n, w.done[m.Group]))
	}
}

func (w *witness) complete(m fifo.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, _ := strconv.Atoi(m.Body); n == w.done[m.Group] {
		w.done[m.Group]++
		w.left.Add(-1)
	}
}

// Many producers and consumers at once, with throttles, lost answers and workers that die with a batch in hand: every message is completed, in the order of its group.
func TestManyProducersAndConsumers(t *testing.T) {
	plan := fault.NewRandom(rand.NewPCG(5, 6),
		fault.Chance{P: 0.02, V: fault.Verdict{Kind: fault.Throttle}}, fault.Chance{P: 0.02, V: fault.Verdict{Kind: fault.LoseAnswer}})
	c := fifo.New(fifo.Options{Faults: plan})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for c.CreateQueue(q, visibility(raceVisibility)) != nil {
	}
	var run, wg sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	w := &witness{done: map[string]int{}}
	w.left.Store(raceProducers * raceGroups * raceMessages)
	for p := range raceProducers {
		wg.Go(func() { produce(c, p) })
	}
	for i := range raceConsumers {
		wg.Go(func() { consume(c, w, rand.New(rand.NewPCG(7, uint64(i)))) })
	}
	wg.Wait()
	stop()
	run.Wait()
	if len(w.wrong) > 0 {
		t.Fatalf("%d disordered deliveries:\n%s", len(w.wrong), strings.Join(w.wrong[:min(5, len(w.wrong))], "\n"))
	}
}

func produce(c *fifo.Cloud, producer int) {
	for i := range raceMessages {
		for g := range raceGroups {
			group := fmt.Sprintf("p%d-g%d", producer, g)
			in := fifo.SendInput{Group: group, DedupID: fmt.Sprint(group, "-", i), Body: strconv.Itoa(i)}
			for _, err := c.Send(q, in); err != nil; _, err = c.Send(q, in) { // deduplication makes this safe
			}
		}
	}
}

func consume(c *fifo.Cloud, w *witness, rng *rand.Rand) {
	wait := raceVisibility
	for w.left.Load() > 0 {
		p := c.Receive(q, fifo.ReceiveInput{Max: 10, Wait: &wait})
		<-p.Done()
		messages, err := p.Answer()
		if err != nil {
			continue
		}
		for _, m := range messages {
			w.deliver(m)
			if rng.IntN(50) == 0 {
				break // dies with the rest in hand
			}
			w.complete(m) // durable first, then delete
			for err := c.Delete(q, m.Receipt); errors.Is(err, fault.ErrThrottled); err = c.Delete(q, m.Receipt) {
			}
		}
	}
}

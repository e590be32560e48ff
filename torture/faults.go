package main

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// weather is the fault plan of queue and table: calm until the sale is set up,
// rough while the crowd is there, a storm now and then. It counts what it did.
type weather struct {
	mu    sync.Mutex
	rng   *rand.Rand
	level level
	fired map[string]int // by kind
	lost  int            // sends to the queue whose answer was lost
}

type level int

const (
	calm level = iota
	rough
	storm
)

// chances of one call in rough weather; a storm has them eight times over.
var chances = []fault.Chance{
	{P: .005, V: fault.Verdict{Kind: fault.Throttle}},
	{P: .005, V: fault.Verdict{Kind: fault.FailBefore}},
	{P: .005, V: fault.Verdict{Kind: fault.LoseAnswer}},
	{P: .005, V: fault.Verdict{Kind: fault.Duplicate}},
	{P: .005, V: fault.Verdict{Kind: fault.Conflict}},
	{P: .005, V: fault.FailEntries(0)},
	{P: .010, V: fault.SlowBy(150 * time.Millisecond)},
}

const stormFactor = 8

func newWeather(seed uint64) *weather {
	return &weather{rng: rand.New(rand.NewPCG(seed, 3)), fired: map[string]int{}}
}

func (w *weather) set(l level) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.level = l
}

// Decide implements fault.Plan.
func (w *weather) Decide(p fault.Point) fault.Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.level == calm {
		return fault.Verdict{}
	}
	x := w.rng.Float64()
	if w.level == storm {
		x /= stormFactor
	}
	for _, c := range chances {
		if x < c.P {
			w.fired[c.V.Kind.String()]++
			if c.V.Kind == fault.LoseAnswer && (p.Op == "SendMessage" || p.Op == "SendMessageBatch") {
				w.lost++
			}
			return c.V
		}
		x -= c.P
	}
	return fault.Verdict{}
}

// counts returns what happened so far.
func (w *weather) counts() (fired map[string]int, ambiguousSends int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fired = map[string]int{}
	for k, n := range w.fired {
		fired[k] = n
	}
	return fired, w.lost
}

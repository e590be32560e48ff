package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// turn is one call that stands still until the scheduler picks it.
type turn struct {
	proc *process
	op   string // "redis.Admit"; decides which faults fit
	id   string // what it is about; orders turns that came at once
	at   time.Time
	pick chan verdict
}

// scheduler lets one goroutine run at a time. Only step and its callees use rng.
type scheduler struct {
	rng     *rand.Rand
	log     *eventLog
	faults  *plan
	arrived chan struct{} // somebody stands still; the scheduler may be asleep

	mu     sync.Mutex
	parked []*turn
	steps  int
}

func newScheduler(rng *rand.Rand, log *eventLog, faults *plan) *scheduler {
	return &scheduler{rng: rng, log: log, faults: faults, arrived: make(chan struct{}, 1)}
}

// stand parks the caller until it is its turn and returns what befalls it.
func (s *scheduler) stand(p *process, op, id string) verdict {
	t := &turn{proc: p, op: op, id: id, at: time.Now(), pick: make(chan verdict, 1)}
	if p.isDead() {
		return verdict{kind: crashed}
	}
	s.mu.Lock()
	s.parked = append(s.parked, t)
	s.mu.Unlock()
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	return <-t.pick
}

// latencies of a call; the longer one gives timers a chance to overtake it.
const (
	usualLatency = 4 * time.Millisecond
	longLatency  = 3 * time.Second
	longShare    = 0.01
)

// step lets the next call happen, or time pass if nobody stands still, but not
// beyond limit.
func (s *scheduler) step(limit time.Duration) {
	latency := time.Duration(s.rng.Int64N(int64(usualLatency)))
	if s.rng.Float64() < longShare {
		latency = time.Duration(s.rng.Int64N(int64(longLatency)))
	}
	time.Sleep(latency + 1)
	synctest.Wait()
	if t := s.take(); t != nil {
		s.steps++
		v := s.faults.decide(s.rng, t)
		s.log.add(t, v)
		t.pick <- v
		synctest.Wait()
		return
	}
	idle := time.NewTimer(limit)
	defer idle.Stop()
	select {
	case <-s.arrived:
	case <-idle.C:
	}
	synctest.Wait()
}

// take removes one of the turns whose process is awake, by the processes'
// weights; nil if there is none. The dead are let go at once.
func (s *scheduler) take() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.arrived: // what arrived is seen here
	default:
	}
	now := time.Now()
	s.parked = slices.DeleteFunc(s.parked, func(t *turn) bool {
		if t.proc.isDead() {
			t.pick <- verdict{kind: crashed}
			return true
		}
		return false
	})
	var ready []*turn
	total := 0
	for _, t := range s.parked {
		if !now.Before(t.proc.pausedUntil) {
			ready = append(ready, t)
			total += t.proc.weight
		}
	}
	if len(ready) == 0 {
		return nil
	}
	slices.SortStableFunc(ready, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.proc.name, b.proc.name), a.at.Compare(b.at), cmp.Compare(a.op, b.op), cmp.Compare(a.id, b.id))
	})
	n := s.rng.IntN(total)
	var chosen *turn
	for _, t := range ready {
		if n -= t.proc.weight; n < 0 {
			chosen = t
			break
		}
	}
	s.parked = slices.DeleteFunc(s.parked, func(t *turn) bool { return t == chosen })
	return chosen
}

// letGo sends everybody who stands still away, at the end of a run.
func (s *scheduler) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.parked {
		t.pick <- verdict{kind: crashed}
	}
	s.parked = nil
}

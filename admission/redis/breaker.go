package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// After shortLimit short WAITs in a row, or once the primary was silent through
// all tries of a batch, a process refuses a sale's admissions locally and lets one
// batch through per probeEvery, to see whether somebody is back (protocol.md 3.12).
const (
	shortLimit = 3
	probeEvery = time.Second
)

type breaker struct {
	mu    sync.Mutex
	short int
	probe time.Time // of the last probe while open
}

// allow says whether admissions may go out at now.
func (b *breaker) allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.short < shortLimit {
		return true
	}
	if now.Sub(b.probe) < probeEvery {
		return false
	}
	b.probe = now
	return true
}

// open says whether admissions are refused, but for probes.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.short >= shortLimit
}

// waited takes the result of one WAIT.
func (b *breaker) waited(ok bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		b.short = 0
		return
	}
	b.short++
	b.probe = now
}

// silent takes a batch that the primary never answered. Those who queue behind it
// would only wait as long in vain.
func (s *Store) silent(sale string) {
	for range shortLimit {
		s.waited(sale, false)
	}
}

// mayAdmit says whether the sale's admissions may go out. Sales that were always
// answered have no breaker: names that nobody sells leave nothing behind.
func (s *Store) mayAdmit(sale string) bool {
	s.mu.Lock()
	b := s.breakers[sale]
	s.mu.Unlock()
	return b == nil || b.allow(s.now())
}

// waited takes the result of a WAIT for the sale.
func (s *Store) waited(sale string, ok bool) {
	s.mu.Lock()
	b := s.breakers[sale]
	if b == nil && !ok {
		b = &breaker{}
		s.breakers[sale] = b
	}
	s.mu.Unlock()
	if b != nil {
		b.waited(ok, s.now())
	}
}

// refused takes a batch without winners. As a probe it asks the replicas all the
// same: of a sale that is full no probe will ever have a winner, and those who
// hold a seat still come for their payment's page. The callers have their answers.
func (s *Store) refused(ctx context.Context, sale string) {
	s.mu.Lock()
	b := s.breakers[sale]
	s.mu.Unlock()
	if b == nil || !b.open() {
		return
	}
	_, err := s.Prove(ctx, sale)
	if err == nil || errors.Is(err, admission.ErrUnacknowledged) {
		b.waited(err == nil, s.now())
	}
}

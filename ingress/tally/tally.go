// Package tally counts what this process answers, sale by sale, and puts the
// counts into the ledger minute by minute: for the console of any process, and
// for the report after the sale. Counting is a few atomic additions; nothing on
// a booking's way waits for the ledger.
package tally

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Tally counts for one process. Its zero value is ready; all methods may be
// called at once.
type Tally struct{ sales index[counts] }

// counts only ever rise.
type counts struct {
	answers                 index[atomic.Int64] // by outcome
	admit, created, refused histogram
}

// index finds a counter by name. Names are few and stay, so the whole map is
// copied for a new one, and finding one takes no lock and allocates nothing.
type index[T any] struct {
	m   atomic.Pointer[map[string]*T]
	add sync.Mutex
}

func (x *index[T]) all() map[string]*T {
	if m := x.m.Load(); m != nil {
		return *m
	}
	return nil
}

func (x *index[T]) of(name string) *T {
	if v := x.all()[name]; v != nil {
		return v
	}
	x.add.Lock()
	defer x.add.Unlock()
	if v := x.all()[name]; v != nil {
		return v
	}
	m := make(map[string]*T, len(x.all())+1)
	maps.Copy(m, x.all())
	v := new(T)
	m[name] = v
	x.m.Store(&m)
	return v
}

type histogram [len(ledger.LatencyBounds) + 1]atomic.Int64

func (h *histogram) observe(d time.Duration) {
	i := 0
	for i < len(ledger.LatencyBounds) && d > ledger.LatencyBounds[i] {
		i++
	}
	h[i].Add(1)
}

func (h *histogram) read() (l ledger.Latency) {
	for i := range h {
		l[i] = int(h[i].Load())
	}
	return l
}

// Created is the outcome of a request that was answered 201.
const Created = "created"

// Answered counts the answer to a booking request. The sale must exist: ids that
// anybody may send are no keys.
func (t *Tally) Answered(saleID, outcome string, took time.Duration) {
	c := t.sales.of(saleID)
	c.answers.of(outcome).Add(1)
	if outcome == Created {
		c.created.observe(took)
	} else {
		c.refused.observe(took)
	}
}

// Admitted counts an admission with its acknowledgement, whatever its answer.
func (t *Tally) Admitted(saleID string, took time.Duration) { t.sales.of(saleID).admit.observe(took) }

// read is everything that was counted for a sale since the process began.
func (c *counts) read() ledger.Minute {
	m := ledger.Minute{Answers: map[string]int{}, Admit: c.admit.read(), Created: c.created.read(), Refused: c.refused.read()}
	for outcome, n := range c.answers.all() {
		m.Answers[outcome] = int(n.Load())
	}
	return m
}

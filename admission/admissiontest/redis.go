// Package admissiontest is admission in memory: an interpretation of the
// scripts of protocol.md 3.4 in Go, with an injected clock, faults, and a
// failover that goes back to an earlier state. It is deterministic, and exact
// enough to be compared with the real server call by call.
package admissiontest

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// Redis is one Redis deployment in memory, with as many sales as are installed.
// Each script is atomic. Use New. It is safe for many goroutines.
type Redis struct {
	// Fault, if set before the first call, is asked once for each call with the
	// method's name. It runs outside of the lock.
	Fault func(op string) Fault
	// Without leaves rules out. Set it before the first call.
	Without Rules

	now func() time.Time

	mu    sync.Mutex
	state *state
	past  []*state // the states before each of the last writes, oldest first
	acked int      // how many of past are older than the last acknowledgement
	calls map[string]int

	foreign bool // see Foreign
}

// rememberedWrites bounds how far a failover can go back.
const rememberedWrites = 256

var (
	_ admission.Admitter     = (*Redis)(nil)
	_ admission.Undoer       = (*Redis)(nil)
	_ admission.Settler      = (*Redis)(nil)
	_ admission.Attacher     = (*Redis)(nil)
	_ admission.Resumer      = (*Redis)(nil)
	_ admission.Lookup       = (*Redis)(nil)
	_ admission.Sweepable    = (*Redis)(nil)
	_ admission.Reseeder     = (*Redis)(nil)
	_ admission.Capper       = (*Redis)(nil)
	_ admission.StatusReader = (*Redis)(nil)
	_ admission.Loader       = (*Redis)(nil)
)

// New returns an empty deployment; now is Redis TIME.
func New(now func() time.Time) *Redis {
	return &Redis{now: now, state: newState(), calls: map[string]int{}}
}

// Calls returns how often each method was called.
func (r *Redis) Calls(op string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[op]
}

// Failover promotes a replica that misses up to lose of the last writes, but
// none that was acknowledged: the prefix property (protocol.md 1.2). It reports
// how many were lost.
func (r *Redis) Failover(lose int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rewind(min(lose, len(r.past)-r.acked))
}

// Rewind goes back by lose writes, acknowledged or not: a stale replica or an
// old snapshot (protocol.md 3.9 row 25). It reports how many were lost.
func (r *Redis) Rewind(lose int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rewind(lose)
}

// Flush loses everything (protocol.md 3.9 row 26).
func (r *Redis) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.past, r.acked = newState(), nil, 0
}

func (r *Redis) rewind(lose int) int {
	lose = max(0, min(lose, len(r.past)))
	if lose > 0 {
		keep := len(r.past) - lose
		r.state, r.past = r.past[keep], r.past[:keep]
		r.acked = min(r.acked, keep)
	}
	return lose
}

// script runs f on the sale as one script. Only a script that writes makes a
// state that a failover can lose.
func (r *Redis) script(sale string, writes bool, f func(s *saleState, ms int64)) {
	if writes {
		r.past = append(r.past, r.state)
		if len(r.past) > rememberedWrites {
			r.past = r.past[1:]
			r.acked = max(0, r.acked-1)
		}
		r.state = r.state.fork(sale)
		r.state.sale(sale).without = r.Without
	}
	f(r.state.sale(sale), r.now().UnixMilli())
}

// wait is WAIT for every replica.
func (r *Redis) wait(f Fault) bool {
	if f == ShortWait || f == GhostWait {
		return false
	}
	r.acked = len(r.past)
	return true
}

// do runs one call of the port under its fault.
func (r *Redis) do(ctx context.Context, op string, f func(Fault) error) error {
	fault := NoFault
	if r.Fault != nil {
		fault = r.Fault(op)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[op]++
	if fault == FailBefore {
		return ErrFailed
	}
	if err := r.refuse(op); err != nil {
		return err
	}
	err := f(fault)
	if fault == LoseAnswer {
		return ErrAnswerLost
	}
	return err
}

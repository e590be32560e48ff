package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfast/holdfast/admission"
)

// group gathers calls of one kind into batches, per sale: while batches are under
// way others wait, and the next takes all of them (protocol.md 3.11). Sales of one
// primary that wait for one of the process's connections to it take turns; those of
// another primary have theirs, and never wait behind one that is frozen. There are
// no timers, and goroutines only while there is work.
type group[Q, A any] struct {
	opt CommitOptions
	// primary names the primary that serves the sale; it may change at any time.
	primary func(ctx context.Context, sale string) string
	// run answers every call exactly once, and does not look at one it answered.
	run func(ctx context.Context, sale string, calls []*call[Q, A])

	mu    sync.Mutex
	lanes map[string]*lane[Q, A] // sales with work
	crews map[string]*crew[Q, A] // by primary, all that were ever named
	spare []*lane[Q, A]
	calls sync.Pool
}

func newGroup[Q, A any](opt CommitOptions, primary func(context.Context, string) string, run func(context.Context, string, []*call[Q, A])) *group[Q, A] {
	return &group[Q, A]{opt: opt, primary: primary, run: run, lanes: map[string]*lane[Q, A]{}, crews: map[string]*crew[Q, A]{}}
}

// call is one caller's question on its way. The caller may leave while it is
// queued; once it is sent, whoever answers it learns that nobody waits.
type call[Q, A any] struct {
	ask    Q
	state  atomic.Int32
	done   chan struct{} // one element when answer and err are set
	answer A
	err    error
}

const (
	queued int32 = iota
	sent
	answered
	left
)

// do asks q in the sale's next batch. A caller whose ctx ends while it is queued
// was never sent (ErrUnavailable); later the outcome is ErrUnknown.
func (g *group[Q, A]) do(ctx context.Context, sale string, q Q) (A, error) {
	var none A
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%w: %w", admission.ErrUnavailable, err)
	}
	c, _ := g.calls.Get().(*call[Q, A])
	if c == nil {
		c = &call[Q, A]{done: make(chan struct{}, 1)}
	}
	c.ask = q
	if err := g.enqueue(ctx, sale, c); err != nil {
		return none, err
	}
	select {
	case <-c.done:
		return g.finish(c)
	case <-ctx.Done():
	}
	switch {
	case c.state.CompareAndSwap(queued, left):
		return none, fmt.Errorf("%w: %w while queued", admission.ErrUnavailable, ctx.Err())
	case c.state.CompareAndSwap(sent, left):
		return none, fmt.Errorf("%w: %w", admission.ErrUnknown, ctx.Err())
	}
	<-c.done
	return g.finish(c)
}

// finish takes the answer and gives c to the next caller. Nobody else holds c: it
// was answered.
func (g *group[Q, A]) finish(c *call[Q, A]) (A, error) {
	a, err := c.answer, c.err
	var none call[Q, A]
	c.ask, c.answer, c.err = none.ask, none.answer, nil
	c.state.Store(queued)
	g.calls.Put(c)
	return a, err
}

// deliver answers c. It returns false if nobody waits for it any more; otherwise
// c is the caller's again and must not be looked at.
func (c *call[Q, A]) deliver(a A, err error) bool {
	c.answer, c.err = a, err
	if !c.state.CompareAndSwap(sent, answered) {
		return false
	}
	c.done <- struct{}{}
	return true
}

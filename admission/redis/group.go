package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfast/holdfast/admission"
)

// group gathers calls of one kind into batches, per sale: while a batch is under
// way others wait, and the next takes all of them (protocol.md 3.11). There are
// no timers, and goroutines only while there is work.
type group[Q, A any] struct {
	opt CommitOptions
	// run answers every call exactly once, and does not look at one it answered.
	run func(ctx context.Context, sale string, calls []*call[Q, A])

	mu    sync.Mutex
	lanes map[string]*lane[Q, A] // sales with work
	spare []*lane[Q, A]
	calls sync.Pool
}

func newGroup[Q, A any](opt CommitOptions, run func(context.Context, string, []*call[Q, A])) *group[Q, A] {
	return &group[Q, A]{opt: opt, run: run, lanes: map[string]*lane[Q, A]{}}
}

// maxSpare bounds the lanes that are kept for the next sale with work.
const maxSpare = 16

// lane is the queue of one sale.
type lane[Q, A any] struct {
	queue   []*call[Q, A]
	leaders int // batches under way
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

// enqueue puts c into its lane, and starts a leader if one may start.
func (g *group[Q, A]) enqueue(ctx context.Context, sale string, c *call[Q, A]) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[sale]
	if l == nil {
		if n := len(g.spare); n > 0 {
			l, g.spare = g.spare[n-1], g.spare[:n-1]
		} else {
			l = &lane[Q, A]{}
		}
		g.lanes[sale] = l
	}
	if len(l.queue) >= g.opt.MaxQueue {
		return fmt.Errorf("%w: %d calls are queued", admission.ErrUnavailable, len(l.queue))
	}
	l.queue = append(l.queue, c)
	if l.leaders < g.opt.InFlight {
		l.leaders++
		go g.lead(context.WithoutCancel(ctx), sale, l)
	}
	return nil
}

// lead runs batches until the lane is empty.
func (g *group[Q, A]) lead(ctx context.Context, sale string, l *lane[Q, A]) {
	var batch []*call[Q, A]
	for {
		if batch = g.take(sale, l, batch[:0]); len(batch) == 0 {
			return
		}
		g.run(ctx, sale, batch)
	}
}

// take moves the next calls from the lane to batch, without those who have left.
// When there are none the leader steps down, in the same step, so that whoever
// comes next starts another.
func (g *group[Q, A]) take(sale string, l *lane[Q, A], batch []*call[Q, A]) []*call[Q, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for n < len(l.queue) && len(batch) < g.opt.MaxBatch {
		if c := l.queue[n]; c.state.CompareAndSwap(queued, sent) {
			batch = append(batch, c)
		}
		n++
	}
	rest := copy(l.queue, l.queue[n:])
	clear(l.queue[rest:])
	l.queue = l.queue[:rest]
	if len(batch) > 0 {
		return batch
	}
	l.leaders--
	if l.leaders == 0 {
		delete(g.lanes, sale)
		if len(g.spare) < maxSpare {
			g.spare = append(g.spare, l)
		}
	}
	return batch
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

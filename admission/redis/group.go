package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfast/holdfast/admission"
)

// group gathers calls of one kind into batches, per sale: while batches are under
// way others wait, and the next takes all of them (protocol.md 3.11). Sales that
// wait for one of the process's connections take turns. There are no timers, and
// goroutines only while there is work.
type group[Q, A any] struct {
	opt CommitOptions
	// run answers every call exactly once, and does not look at one it answered.
	run func(ctx context.Context, sale string, calls []*call[Q, A])

	mu      sync.Mutex
	lanes   map[string]*lane[Q, A] // sales with work
	turn    []*lane[Q, A]          // those that wait for a leader, in order
	leaders int                    // batches under way, of all lanes
	coming  int                    // of the leaders those that have not begun
	spare   []*lane[Q, A]
	calls   sync.Pool
}

func newGroup[Q, A any](opt CommitOptions, run func(context.Context, string, []*call[Q, A])) *group[Q, A] {
	return &group[Q, A]{opt: opt, run: run, lanes: map[string]*lane[Q, A]{}}
}

// maxSpare bounds the lanes that are kept for the next sale with work.
const maxSpare = 16

// lane is the queue of one sale.
type lane[Q, A any] struct {
	sale    string
	queue   []*call[Q, A]
	leaders int  // batches under way
	waits   bool // in turn
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
		l.sale = sale
		g.lanes[sale] = l
	}
	if len(l.queue) >= g.opt.MaxQueue {
		return fmt.Errorf("%w: %d calls are queued", admission.ErrUnavailable, len(l.queue))
	}
	l.queue = append(l.queue, c)
	g.line(l)
	g.start(ctx)
	return nil
}

// start starts a leader if a lane waits for one. The caller has the lock.
func (g *group[Q, A]) start(ctx context.Context) {
	if g.coming < len(g.turn) && g.leaders < g.opt.Connections {
		g.leaders++
		g.coming++
		go g.lead(context.WithoutCancel(ctx))
	}
}

// line gives the lane a place in turn if it may have one more leader. The caller
// has the lock.
func (g *group[Q, A]) line(l *lane[Q, A]) {
	may := l.leaders < g.opt.InFlight || l.leaders == g.opt.InFlight && len(l.queue) >= g.opt.MaxBatch
	if may && !l.waits && len(l.queue) > 0 {
		l.waits = true
		g.turn = append(g.turn, l)
	}
}

// lead runs batches until no lane waits.
func (g *group[Q, A]) lead(ctx context.Context) {
	var l *lane[Q, A]
	var batch []*call[Q, A]
	for {
		if l, batch = g.take(ctx, l, batch[:0]); l == nil {
			return
		}
		g.run(ctx, l.sale, batch)
	}
}

// take ends the leader's batch of one lane and begins that of the next in turn,
// without the calls that have left. When no lane waits the leader steps down, in
// the same step, so that whoever comes next starts another.
func (g *group[Q, A]) take(ctx context.Context, l *lane[Q, A], batch []*call[Q, A]) (*lane[Q, A], []*call[Q, A]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l == nil {
		g.coming--
	}
	for len(batch) == 0 {
		if l != nil {
			l.leaders--
			g.line(l)
			g.retire(l)
		}
		if len(g.turn) == 0 {
			g.leaders--
			return nil, nil
		}
		l = g.turn[0]
		copy(g.turn, g.turn[1:])
		g.turn = g.turn[:len(g.turn)-1]
		l.waits = false
		l.leaders++
		batch = l.take(batch, g.opt.MaxBatch)
		g.line(l) // what is left may be another leader's
	}
	g.start(ctx)
	return l, batch
}

// take moves the next calls from the lane to batch.
func (l *lane[Q, A]) take(batch []*call[Q, A], most int) []*call[Q, A] {
	n := 0
	for n < len(l.queue) && len(batch) < most {
		if c := l.queue[n]; c.state.CompareAndSwap(queued, sent) {
			batch = append(batch, c)
		}
		n++
	}
	rest := copy(l.queue, l.queue[n:])
	clear(l.queue[rest:])
	l.queue = l.queue[:rest]
	return batch
}

// retire drops a lane without work. The caller has the lock.
func (g *group[Q, A]) retire(l *lane[Q, A]) {
	if l.leaders > 0 || l.waits {
		return
	}
	delete(g.lanes, l.sale)
	if len(g.spare) < maxSpare {
		g.spare = append(g.spare, l)
	}
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

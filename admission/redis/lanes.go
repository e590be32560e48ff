package redis

import (
	"context"
	"fmt"
	"runtime"

	"github.com/holdfast/holdfast/admission"
)

// lane is the queue of one sale.
type lane[Q, A any] struct {
	sale    string
	at      *crew[Q, A] // of the primary that served the sale when last asked
	queue   []*call[Q, A]
	leaders int  // batches under way
	waits   bool // in turn
}

// crew is the leaders of the batches that go to one primary, and the lanes that
// wait for one of them.
type crew[Q, A any] struct {
	turn    []*lane[Q, A] // in order
	leaders int           // batches under way, of all lanes
	coming  int           // of the leaders those that have not begun
}

// maxSpare bounds the lanes that are kept for the next sale with work.
const maxSpare = 16

// enqueue puts c into its sale's lane, and starts a leader if one may start.
func (g *group[Q, A]) enqueue(ctx context.Context, sale string, c *call[Q, A]) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[sale]
	if l == nil {
		g.mu.Unlock()
		primary := g.primary(ctx, sale) // may have to ask the cluster
		g.mu.Lock()
		l = g.open(sale, primary)
	}
	if len(l.queue) >= g.opt.MaxQueue {
		return fmt.Errorf("%w: %d calls are queued", admission.ErrUnavailable, len(l.queue))
	}
	l.queue = append(l.queue, c)
	g.line(l)
	g.start(ctx, l.at)
	return nil
}

// open returns the sale's lane. The caller has the lock.
func (g *group[Q, A]) open(sale, primary string) *lane[Q, A] {
	if l := g.lanes[sale]; l != nil {
		return l
	}
	l := &lane[Q, A]{}
	if n := len(g.spare); n > 0 {
		l, g.spare = g.spare[n-1], g.spare[:n-1]
	}
	l.sale, l.at = sale, g.crew(primary)
	g.lanes[sale] = l
	return l
}

// crew is that of the primary. The caller has the lock.
func (g *group[Q, A]) crew(primary string) *crew[Q, A] {
	w := g.crews[primary]
	if w == nil {
		w = &crew[Q, A]{}
		g.crews[primary] = w
	}
	return w
}

// start starts a leader if a lane waits for one. The caller has the lock.
func (g *group[Q, A]) start(ctx context.Context, w *crew[Q, A]) {
	if w.coming < len(w.turn) && w.leaders < g.opt.Connections {
		w.leaders++
		w.coming++
		go g.lead(context.WithoutCancel(ctx), w)
	}
}

// line gives the lane a place in turn if it may have one more leader. The caller
// has the lock.
func (g *group[Q, A]) line(l *lane[Q, A]) {
	may := l.leaders < g.opt.InFlight || l.leaders == g.opt.InFlight && len(l.queue) >= g.opt.MaxBatch
	if may && !l.waits && len(l.queue) > 0 {
		l.waits = true
		l.at.turn = append(l.at.turn, l)
	}
}

// lead runs batches until no lane waits. Before each it lets those run first who
// are ready to: they are callers with a call of their own, which would have to wait
// for the batch after. A leader in whose way nobody is loses nothing.
func (g *group[Q, A]) lead(ctx context.Context, w *crew[Q, A]) {
	runtime.Gosched()
	l, batch := g.first(ctx, w)
	for l != nil {
		g.run(ctx, l.sale, batch)
		runtime.Gosched()
		l, batch = g.next(ctx, w, l, g.primary(ctx, l.sale), batch[:0])
	}
}

// first is a new leader's first batch.
func (g *group[Q, A]) first(ctx context.Context, w *crew[Q, A]) (*lane[Q, A], []*call[Q, A]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.coming--
	return g.take(ctx, w, nil)
}

// next ends the leader's batch of one lane, whose sale is served by primary by
// now, and begins another.
func (g *group[Q, A]) next(ctx context.Context, w *crew[Q, A], l *lane[Q, A], primary string, batch []*call[Q, A]) (*lane[Q, A], []*call[Q, A]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !l.waits {
		l.at = g.crew(primary)
	}
	g.leave(l)
	if l.at != w {
		g.start(ctx, l.at)
	}
	return g.take(ctx, w, batch)
}

// leave ends a batch of the lane. The caller has the lock.
func (g *group[Q, A]) leave(l *lane[Q, A]) {
	l.leaders--
	g.line(l)
	g.retire(l)
}

// take begins a batch of the lane that is next in turn, without the calls that
// have left. When no lane waits the leader steps down, in the same step, so that
// whoever comes next starts another. The caller has the lock.
func (g *group[Q, A]) take(ctx context.Context, w *crew[Q, A], batch []*call[Q, A]) (l *lane[Q, A], _ []*call[Q, A]) {
	for {
		if len(w.turn) == 0 {
			w.leaders--
			return nil, nil
		}
		l = w.turn[0]
		copy(w.turn, w.turn[1:])
		w.turn = w.turn[:len(w.turn)-1]
		l.waits = false
		l.leaders++
		if batch = l.take(batch, g.opt.MaxBatch); len(batch) > 0 {
			break
		}
		g.leave(l)
	}
	g.line(l) // what is left may be another leader's
	g.start(ctx, w)
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

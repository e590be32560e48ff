package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfast/holdfast/admission"
)

// CommitOptions size the group commit. The zero value is right for a replica
// that acknowledges within a millisecond.
type CommitOptions struct {
	InFlight int // batches of a sale under way at a time; 0 = 2. Use 4 where an acknowledgement takes over 1 ms
	MaxBatch int // admissions per batch; 0 = 128
	MaxQueue int // admissions of a sale that wait for their batch; 0 = 8192, beyond it they are refused
}

// Committer is an Admitter that commits many admissions in one script and one
// acknowledgement (protocol.md 3.11). A lone request commits at once; requests
// that come while batches are under way wait for the next, which takes all of
// them. There are no timers. It starts goroutines only while it has work, so it
// needs no Close. It is safe for concurrent use.
type Committer struct {
	store *Store
	opt   CommitOptions

	mu    sync.Mutex
	lanes map[string]*lane // sales with work
}

var _ admission.Admitter = (*Committer)(nil)

// NewCommitter returns a group commit in front of the store.
func NewCommitter(s *Store, opt CommitOptions) *Committer {
	if opt.InFlight == 0 {
		opt.InFlight = 2
	}
	if opt.MaxBatch == 0 {
		opt.MaxBatch = 128
	}
	if opt.MaxQueue == 0 {
		opt.MaxQueue = 8192
	}
	return &Committer{store: s, opt: opt, lanes: map[string]*lane{}}
}

// lane is the queue of one sale.
type lane struct {
	queue   []*waiter
	leaders int // batches under way
}

// waiter is a caller's request on its way. It may leave while it is queued; once
// it is sent, leaving has the admission undone.
type waiter struct {
	req    admission.Request
	state  atomic.Int32
	done   chan struct{} // closed when answer and err are set
	answer admission.Answer
	err    error
}

const (
	queued int32 = iota
	sent
	answered
	left
)

// Admit joins the sale's next batch and waits for its own answer. A caller whose
// ctx ends while it is queued was never sent (ErrUnavailable); later its
// admission, if there is one, is undone (ErrUnknown).
func (c *Committer) Admit(ctx context.Context, r admission.Request) (admission.Answer, error) {
	if validRequest(&r) != nil {
		return admission.Answer{Outcome: admission.BadArgument, BookingID: r.BookingID}, nil
	}
	if err := ctx.Err(); err != nil {
		return admission.Answer{}, fmt.Errorf("%w: %w", admission.ErrUnavailable, err)
	}
	w := &waiter{req: r, done: make(chan struct{})}
	if err := c.enqueue(ctx, w); err != nil {
		return admission.Answer{}, err
	}
	select {
	case <-w.done:
		return w.answer, w.err
	case <-ctx.Done():
	}
	switch {
	case w.state.CompareAndSwap(queued, left):
		return admission.Answer{}, fmt.Errorf("%w: %w while queued", admission.ErrUnavailable, ctx.Err())
	case w.state.CompareAndSwap(sent, left):
		return admission.Answer{}, fmt.Errorf("%w: %w", admission.ErrUnknown, ctx.Err())
	}
	<-w.done
	return w.answer, w.err
}

// enqueue puts w into its lane, and starts a leader if one may start.
func (c *Committer) enqueue(ctx context.Context, w *waiter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lanes[w.req.Sale]
	if l == nil {
		l = &lane{}
		c.lanes[w.req.Sale] = l
	}
	if len(l.queue) >= c.opt.MaxQueue {
		return fmt.Errorf("%w: %d admissions are queued", admission.ErrUnavailable, len(l.queue))
	}
	l.queue = append(l.queue, w)
	if l.leaders < c.opt.InFlight {
		l.leaders++
		go c.lead(context.WithoutCancel(ctx), w.req.Sale, l)
	}
	return nil
}

// lead commits batches until the lane is empty.
func (c *Committer) lead(ctx context.Context, sale string, l *lane) {
	for {
		batch := c.take(sale, l)
		if len(batch) == 0 {
			return
		}
		reqs := make([]*admission.Request, len(batch))
		for i, w := range batch {
			reqs[i] = &w.req
		}
		c.store.commit(ctx, reqs, func(i int, a admission.Answer, err error) bool {
			return batch[i].deliver(a, err)
		})
	}
}

// take removes the next batch from the lane, without those who have left. When
// there is none the leader steps down, in the same step, so that whoever comes
// next starts another.
func (c *Committer) take(sale string, l *lane) []*waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	var batch []*waiter
	n := 0
	for _, w := range l.queue {
		if len(batch) == c.opt.MaxBatch {
			break
		}
		n++
		if w.state.CompareAndSwap(queued, sent) {
			batch = append(batch, w)
		}
	}
	l.queue = append(l.queue[:0:0], l.queue[n:]...)
	if len(batch) == 0 {
		l.leaders--
		if l.leaders == 0 {
			delete(c.lanes, sale)
		}
	}
	return batch
}

func (w *waiter) deliver(a admission.Answer, err error) bool {
	w.answer, w.err = a, err
	if !w.state.CompareAndSwap(sent, answered) {
		return false
	}
	close(w.done)
	return true
}

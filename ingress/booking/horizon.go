package booking

import (
	"context"
	"sync"
	"time"
)

// grain is how exact the deadlines of bookings are: never later than was asked
// for, earlier by less than this.
const grain = 20 * time.Millisecond

// horizon gives bookings their deadlines. A context with a timer of its own is
// five allocations and a timer, three times in each booking; here the bookings
// that end within the same grain share one. It is safe for concurrent use.
type horizon struct {
	from time.Time // the grid begins here

	mu   sync.Mutex
	ends map[int64]end // by their place on the grid
}

// end is an instant that bookings share.
type end struct {
	ctx    context.Context
	cancel context.CancelFunc
}

func newHorizon() *horizon { return &horizon{from: time.Now(), ends: map[int64]end{}} }

// term is a context with the deadline of an end and the values of a request. The
// end of the request does not end it: from the script on the work is detached
// (protocol.md 3.5). Nothing but its deadline does, so it needs no cancelling.
type term struct {
	context.Context
	values context.Context
}

// Value asks the end first: a context that is derived finds its parent so, and
// must not find the request's.
func (t *term) Value(key any) any {
	if v := t.Context.Value(key); v != nil {
		return v
	}
	return t.values.Value(key)
}

// within is a term of d, or of what parent has left if that is less, in place;
// nil: in a new one. parent must be a term itself, or end by its deadline alone.
func (h *horizon) within(parent context.Context, d time.Duration, place *term) context.Context {
	now := time.Now()
	at := now.Add(d)
	if until, ok := parent.Deadline(); ok && !until.After(at) {
		return parent
	}
	if place == nil {
		place = new(term)
	}
	place.Context, place.values = h.end(now, at), parent
	return place
}

// detached is a term of d with the values of a request, whatever becomes of that.
func (h *horizon) detached(request context.Context, d time.Duration, place *term) context.Context {
	now := time.Now()
	place.Context, place.values = h.end(now, now.Add(d)), request
	return place
}

// end is the last instant of the grid that is not after at, but ahead of now.
func (h *horizon) end(now, at time.Time) context.Context {
	n := max(int64(at.Sub(h.from)/grain), int64(now.Sub(h.from)/grain)+1)
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.ends[n]
	if !ok {
		h.forget()
		e.ctx, e.cancel = context.WithDeadline(context.Background(), h.from.Add(time.Duration(n)*grain))
		h.ends[n] = e
	}
	return e.ctx
}

// forget drops the ends that have come. The caller has the lock.
func (h *horizon) forget() {
	for n, e := range h.ends {
		if e.ctx.Err() != nil {
			e.cancel()
			delete(h.ends, n)
		}
	}
}

package seats

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast/holdfast/ingress/booking"
)

// remembered is how many deltas a viewer may have missed and still be told them.
const remembered = 256

// queued is how many events a slow viewer may be behind before it is let go: it
// comes back with the version that it has.
const queued = 64

// ErrTooMany: the process has as many viewers as it may.
var ErrTooMany = errors.New("seats: too many viewers")

// event is one server-sent event, ready to write, and the version it leads to.
type event struct {
	seq  int64
	text []byte
}

// event builds it once for all viewers.
func (s *house) event(name string, v *View, data []byte) event {
	var b []byte
	b = append(b, "event: "...)
	b = append(b, name...)
	b = append(b, "\nid: "...)
	b = append(b, v.Version()...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return event{seq: v.seq, text: append(b, "\n\n"...)}
}

// subscribers are the viewers of a sale, with the last deltas.
type subscribers struct {
	mu   sync.Mutex
	all  map[*Stream]bool
	ring []event // deltas, oldest first, without gaps
}

func (s *subscribers) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// tell sends a delta to everybody. Who does not take it is let go.
func (s *subscribers) tell(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ring = append(s.ring, e); len(s.ring) > remembered {
		s.ring = append(s.ring[:0:0], s.ring[len(s.ring)-remembered:]...)
	}
	s.send(e)
}

// restart begins a new chain with a snapshot.
func (s *subscribers) restart(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring = nil
	s.send(e)
}

func (s *subscribers) send(e event) {
	for c := range s.all {
		select {
		case c.events <- e.text:
		default:
			delete(s.all, c)
			close(c.events)
		}
	}
}

// Stream is one viewer's.
type Stream struct {
	events chan []byte
	of     *house
	gone   bool // off the count; guarded by the hub
}

// Events are the events from the first on, ready to write. It is closed when the
// viewer is too slow, or when the process shuts down.
func (c *Stream) Events() <-chan []byte { return c.events }

// Close ends the stream. Safe to call twice.
func (c *Stream) Close() {
	c.of.subs.mu.Lock()
	if c.of.subs.all[c] {
		delete(c.of.subs.all, c)
		close(c.events)
	}
	c.of.subs.mu.Unlock()
	c.of.hub.left(c)
}

// Subscribe begins a stream. A viewer that has a version of this chain gets the
// deltas from there on; every other one a snapshot first. Nothing that changes
// after the first event is missed.
func (h *Hub) Subscribe(ctx context.Context, p *booking.Plan, since string) (*Stream, error) {
	if !h.enter() {
		return nil, ErrTooMany
	}
	s := h.house(p.Sale.ID)
	if _, err := s.current(ctx, p, MaxAge); err != nil {
		h.leave()
		return nil, err
	}
	c := &Stream{events: make(chan []byte, queued), of: s}
	s.turn <- struct{}{} // no version passes between the first event and the next
	defer func() { <-s.turn }()
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	missed, ok := s.missed(since)
	if !ok {
		missed = []event{s.event("snapshot", s.view, append(s.view.snapshot(h.Now()), '}'))}
	}
	for _, e := range missed {
		c.events <- e.text
	}
	if s.subs.all == nil {
		s.subs.all = make(map[*Stream]bool)
	}
	s.subs.all[c] = true
	return c, nil
}

// missed are the deltas after a version, if it is one of this chain and if there
// are few enough to queue.
func (s *house) missed(since string) ([]event, bool) {
	nonce, number, _ := strings.Cut(since, "-")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || nonce != s.view.nonce || seq > s.view.seq {
		return nil, false
	}
	n := int(s.view.seq - seq)
	if n > len(s.subs.ring) || n > queued/2 {
		return nil, false
	}
	return s.subs.ring[len(s.subs.ring)-n:], true
}

func (h *Hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.count >= h.Viewers {
		return false
	}
	h.count++
	return true
}

func (h *Hub) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
}

// left takes a stream off the count, once.
func (h *Hub) left(c *Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !c.gone {
		c.gone = true
		h.count--
	}
}

// Watching is how many streams there are.
func (h *Hub) Watching() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// Close ends every stream, and lets none begin: browsers come back to another
// process. Safe to call twice.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	houses := make([]*house, 0, len(h.sales))
	for _, s := range h.sales {
		houses = append(houses, s)
	}
	h.mu.Unlock()
	for _, s := range houses {
		s.subs.mu.Lock()
		for c := range s.subs.all {
			delete(s.subs.all, c)
			close(c.events)
		}
		s.subs.mu.Unlock()
	}
}

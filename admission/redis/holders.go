package redis

import (
	"context"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis/resp"
)

// holders answers a batch of CandidateBooking in one HMGET.
func (s *Store) holders(ctx context.Context, sale string, calls []*call[string, string]) {
	held := make([]string, len(calls))
	k := saleKeys(sale)
	err := s.readFields(ctx, k, []string{k.seen()}, len(calls), func(i int) string { return calls[i].ask }, func(i int, v string) { held[i] = v })
	for i, c := range calls {
		switch {
		case err != nil:
			c.deliver("", err)
		case held[i] == "":
			c.deliver("", admission.ErrNotFound)
		default:
			c.deliver(held[i], nil)
		}
	}
}

// known answers for a batch of candidates whether they have anything that admit
// would answer with before it looks at caps: a booking, or a released one whose
// key may be repeated (protocol.md 3.12). seen is read before last: an undo in
// between moves the booking from the one to the other, never past both.
func (s *Store) known(ctx context.Context, sale string, calls []*call[string, bool]) {
	has := make([]bool, len(calls))
	k := saleKeys(sale)
	err := s.readFields(ctx, k, []string{k.seen(), k.last()}, len(calls), func(i int) string { return calls[i].ask }, func(i int, _ string) { has[i] = true })
	for i, c := range calls {
		c.deliver(has[i], err)
	}
}

// readFields tells found of every field that is there. It may tell it twice. Of a
// sale of another layout it reads nothing.
func (s *Store) readFields(ctx context.Context, k keys, from []string, n int, field func(i int) string, found func(i int, value string)) error {
	return s.again(ctx, func(ctx context.Context) error {
		return s.onWire(ctx, k.cfg(), func(w *wire) error {
			return w.fields(k.cfg(), from, n, field, func(_ int, values []resp.Value) {
				for i, v := range values {
					if v.Kind == resp.Text {
						found(i, v.Text)
					}
				}
			})
		})
	})
}

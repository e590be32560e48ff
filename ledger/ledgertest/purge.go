package ledgertest

import (
	"context"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/ledger"
)

var _ ledger.Purger = (*Store)(nil)

// PurgeBooking implements ledger.Purger.
func (s *Store) PurgeBooking(ctx context.Context, bookingID string) (changed bool, err error) {
	err = s.do(ctx, "PurgeBooking", func() error {
		b, ok := s.bookings[bookingID]
		if !ok {
			return ledger.ErrNotFound
		}
		if changed = b.Personal(); !changed {
			return nil
		}
		after := b.Purged()
		if b.State.Live() {
			delete(s.claims, owned{b.Sale, b.Candidate})
			s.claims[owned{b.Sale, after.Candidate}] = b.ID
		}
		s.bookings[bookingID] = after
		return nil
	})
	return changed, err
}

// PurgeParked implements ledger.Purger.
func (s *Store) PurgeParked(ctx context.Context, saleID, id string) (changed bool, err error) {
	err = s.do(ctx, "PurgeParked", func() error {
		it, ok := s.inbox[owned{saleID, id}]
		if changed = ok && it.Done && it.Detail != ""; changed {
			it.Detail = ""
			s.inbox[owned{saleID, id}] = it
		}
		return nil
	})
	return changed, err
}

// purgeTests: who booked is forgotten, what was sold is not.
var purgeTests = []suiteTest{
	{"a purged booking keeps everything but who it was", func(w *world) {
		w.in(ledger.Paid, booking(1))
		w.in(ledger.Released, booking(2))
		w.in(ledger.Held, booking(3))
		before := contents(w, w.store)
		for n := 1; n <= 3; n++ {
			w.purged(booking(n).ID, true)
			w.purged(booking(n).ID, false)
		}
		w.same()
		for id, was := range before.Bookings {
			is, err := w.store.Booking(w.ctx, id)
			w.equal(err, nil)
			if diff := cmp.Diff(was.Purged(), is, cmpopts.EquateEmpty()); diff != "" || is.Personal() {
				w.Errorf("booking %s, personal %v (-want +got):\n%s", id, is.Personal(), diff)
			}
		}
		owner, err := w.store.CandidateBooking(w.ctx, theSale, ledger.Pseudonym(booking(1).ID))
		w.equal(err, nil)
		w.equal(owner, booking(1).ID)
		for n := 1; n <= 3; n++ {
			_, err := w.store.CandidateBooking(w.ctx, theSale, booking(n).Candidate)
			w.is(err, ledger.ErrNotFound)
		}
	}},
	{"a purged booking goes on living", func(w *world) {
		w.in(ledger.Held, booking(1))
		w.purged(booking(1).ID, true)
		b, err := w.store.Booking(w.ctx, booking(1).ID)
		w.equal(err, nil)
		w.done(ledger.Confirm(b, capture(b), "worker", w.now.Add(time.Minute)))
		w.same()
	}},
	{"only a booking that is there can be purged", func(w *world) {
		_, err := w.purger(w.store).PurgeBooking(w.ctx, "nobody")
		w.is(err, ledger.ErrNotFound)
	}},
	{"a parked item is purged when it is done", func(w *world) {
		it := ledger.InboxItem{Sale: theSale, ID: "p:1", Payment: booking(1).Payment, Reason: "no booking", Detail: `{"candidate":"c0001"}`, At: start}
		w.equal(w.store.Park(w.ctx, it), nil)
		purge := func(id string, want bool) {
			w.Helper()
			changed, err := w.purger(w.store).PurgeParked(w.ctx, theSale, id)
			w.equal(err, nil)
			w.equal(changed, want)
		}
		purge(it.ID, false) // somebody still has to read it
		w.parked(it)
		w.equal(w.store.ResolveParked(w.ctx, theSale, it.ID, "operator:ann"), nil)
		purge(it.ID, true)
		purge(it.ID, false)
		purge("nobody", false)
		it.Detail, it.Done, it.DoneBy = "", true, "operator:ann"
		w.parked(it)
	}},
}

func (w *world) purger(s ledger.Store) ledger.Purger {
	w.Helper()
	p, ok := s.(ledger.Purger)
	if !ok {
		w.Fatalf("%T can't forget who booked", s)
	}
	return p
}

// purged purges in both stores and wants the same answer of both.
func (w *world) purged(bookingID string, want bool) {
	w.Helper()
	for _, s := range []ledger.Store{w.store, w.oracle} {
		changed, err := w.purger(s).PurgeBooking(w.ctx, bookingID)
		w.equal(err, nil)
		w.equal(changed, want)
	}
}

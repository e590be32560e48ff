package ledgertest

import (
	"errors"
	"sync"

	"github.com/holdfast/holdfast/ledger"
)

// contentionTests release everybody by one closed channel and count winners.
var contentionTests = []suiteTest{
	{"T2 and T3 in the same instant", func(w *world) {
		for n := range 20 {
			b := booking(n)
			w.done(ledger.Hold(b, "worker", w.now))
			won := w.race(
				w.build(ledger.Confirm(as(b, ledger.Held), capture(b), "worker", w.now)),
				w.build(ledger.Expire(as(b, ledger.Held), b.HoldUntil, "reaper", w.now)),
			)
			w.equal(len(won), 1)
			got, _ := w.store.Booking(w.ctx, b.ID)
			want := map[ledger.Name]ledger.State{ledger.T2Pay: ledger.Paid, ledger.T3Expire: ledger.Released}[won[0].Name]
			w.equal(got.State, want)
			w.equal(len(got.History), 2)
		}
	}},
	{"two T1 for one candidate", func(w *world) {
		w.oneWinner(func(b *ledger.Booking) { b.Candidate = "same" })
	}},
	{"two T1 for one seat", func(w *world) {
		w.oneWinner(func(b *ledger.Booking) { b.Seats[0].Token = "same" })
	}},
	{"two bookings with one payment", func(w *world) {
		w.oneWinner(func(b *ledger.Booking) { b.Payment.ID = "same" })
	}},
	{"T4 and T1 of one booking", func(w *world) {
		for n := range 20 {
			b := booking(n)
			won := w.race(
				w.build(ledger.Hold(b, "worker", w.now)),
				w.build(ledger.Tombstone(b, ledger.ReasonNotQueued, "ingress", w.now)),
			)
			w.equal(len(won), 1)
			got, _ := w.store.Booking(w.ctx, b.ID)
			w.equal(got.State, won[0].Create.State)
		}
	}},
	{"late payment: applied or refunded", func(w *world) {
		for n := range 20 {
			b := booking(n)
			w.in(ledger.Released, b)
			late := readmitted(b)
			late.Seats = b.Seats
			won := w.race(
				w.build(ledger.ApplyLate(late, b.ID, capture(b), "worker", w.now)),
				ledger.RefundLate(b, capture(b), "no seat", w.now),
			)
			w.equal(len(won), 1)
		}
	}},
	{"ten repeats of one release", func(w *world) {
		b := booking(1)
		w.in(ledger.Held, b)
		t := w.build(ledger.Expire(as(b, ledger.Held), b.HoldUntil, "reaper", w.now))
		same := make([]ledger.Transition, 10)
		for i := range same {
			same[i] = t
		}
		w.equal(len(w.race(same...)), 1)
		got, _ := w.store.Booking(w.ctx, b.ID)
		w.equal(len(got.History), 2)
	}},
}

// oneWinner races eight bookings that have something in common.
func (w *world) oneWinner(share func(*ledger.Booking)) {
	w.Helper()
	const rivals = 8
	all := make([]ledger.Transition, rivals)
	for n := range all {
		b := booking(n)
		share(&b)
		all[n] = w.build(ledger.Hold(b, "worker", w.now))
	}
	won := w.race(all...)
	w.equal(len(won), 1)
	h := contents(w, w.store)
	w.equal(len(h.Bookings), 1)
	w.equal(len(h.Candidates), 1)
	w.equal(len(h.Seats), 1)
	w.equal(len(h.Payments), 1)
}

// race applies all at once and returns those that were written. The others must
// have failed a condition.
func (w *world) race(all ...ledger.Transition) []ledger.Transition {
	w.Helper()
	gate, errs := make(chan struct{}), make([]error, len(all))
	var wg sync.WaitGroup
	for i, t := range all {
		wg.Go(func() {
			<-gate
			errs[i] = patiently(w.ctx, w.store, t)
		})
	}
	close(gate)
	wg.Wait()
	var won []ledger.Transition
	for i, err := range errs {
		var failed *ledger.ConditionError
		switch {
		case err == nil:
			won = append(won, all[i])
		case !errors.As(err, &failed):
			w.Fatalf("%s: %v", all[i].Name, err)
		}
	}
	if len(won) == 0 {
		w.Fatalf("nobody won")
	}
	return won
}

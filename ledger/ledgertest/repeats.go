package ledgertest

import (
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// repeatTests: whoever repeats his step learns that it was done, and nothing is
// done twice; the history only grows.
var repeatTests = []suiteTest{
	{"a repeat of each step is understood", func(w *world) {
		b := booking(1)
		w.in(ledger.Held, b)
		w.verdict(ledger.ReadHold(b, w.refused(ledger.Hold(b, "worker", w.now))), ledger.VerdictDone)
		later := b.HoldUntil.Add(time.Minute)
		w.done(ledger.AskAgain(as(b, ledger.Held), later, "reaper", w.now))
		f := w.refused(ledger.AskAgain(as(b, ledger.Held), later, "reaper", w.now))
		w.equal(f.Booking.ReleaseAsks, 1)
		w.equal(f.Booking.HoldUntil.Equal(later), true)
		pay := func() (ledger.Transition, error) {
			return ledger.Confirm(as(b, ledger.Held), capture(b), "worker", w.now)
		}
		w.done(pay())
		w.verdict(ledger.ReadPay(b, b.Payment, w.refused(pay())), ledger.VerdictDone)
		w.done(ledger.Cancel(as(b, ledger.Paid), "operator:ann", w.now))
		w.equal(w.refused(ledger.Cancel(as(b, ledger.Paid), "operator:ann", w.now)).Booking.State, ledger.Released)
		w.done(ledger.UndoDone(as(b, ledger.Released), w.now))
		w.done(ledger.UndoDone(as(b, ledger.Released), w.now))
		w.same()
	}},
	{"the history tells who, when and why", func(w *world) {
		b := booking(1)
		at := func(m int) time.Time { return start.Add(time.Duration(m) * time.Minute) }
		w.done(ledger.Hold(b, "worker", at(0)))
		w.done(ledger.Extend(as(b, ledger.Held), at(20), "candidate", at(1)))
		w.done(ledger.Commit(as(b, ledger.Held), b.Payment, at(23), at(2))) // leaves none
		w.done(ledger.Confirm(as(b, ledger.Held), capture(b), "gateway:sandbox", at(3)))
		w.done(ledger.Cancel(as(b, ledger.Paid), "operator:ann", at(4)))
		w.done(ledger.UndoDone(as(b, ledger.Released), at(5))) // leaves none
		got, err := w.store.Booking(w.ctx, b.ID)
		w.equal(err, nil)
		want := []ledger.Change{
			{From: ledger.None, To: ledger.Held, At: at(0), Actor: "worker", Reason: ledger.ReasonHeld},
			{From: ledger.Held, To: ledger.Held, At: at(1), Actor: "candidate", Reason: ledger.ReasonExtended},
			{From: ledger.Held, To: ledger.Paid, At: at(3), Actor: "gateway:sandbox", Reason: ledger.ReasonCaptured},
			{From: ledger.Paid, To: ledger.Released, At: at(4), Actor: "operator:ann", Reason: ledger.ReasonCancelled},
		}
		w.equal(len(got.History), len(want))
		for i := range min(len(got.History), len(want)) {
			w.equal(got.History[i], want[i])
		}
		w.equal(got.Actor, ledger.Actor("operator:ann"))
		w.equal(got.ReleasedAt.Equal(at(4)), true)
		w.same()
	}},
	{"the commit gate never shortens a hold (B21)", func(w *world) {
		b := booking(1)
		w.in(ledger.Held, b)
		late := b.HoldUntil.Add(time.Hour)
		w.done(ledger.Extend(as(b, ledger.Held), late, "candidate", w.now))
		stale := as(b, ledger.Held) // read before the extension
		f := w.refused(ledger.Commit(stale, b.Payment, b.HoldUntil.Add(3*time.Minute), w.now))
		w.done(ledger.Commit(*f.Booking, b.Payment, b.HoldUntil.Add(3*time.Minute), w.now))
		got, _ := w.store.Booking(w.ctx, b.ID)
		w.equal(got.HoldUntil.Equal(late), true)
		w.same()
	}},
	{"a candidate books again after a release", func(w *world) {
		b, again := booking(1), booking(2)
		again.Candidate, again.Seats = b.Candidate, b.Seats
		w.in(ledger.Released, b)
		w.in(ledger.Held, again)
		// Steps of the first booking that come late touch nothing of the second (B29, B31).
		w.refused(ledger.Confirm(as(b, ledger.Held), capture(b), "worker", w.now))
		w.refused(ledger.Release(as(b, ledger.Held), ledger.ReasonOwner, "candidate", w.now))
		w.done(ledger.UndoDone(as(b, ledger.Released), w.now))
		owner, err := w.store.CandidateBooking(w.ctx, theSale, b.Candidate)
		w.equal(err, nil)
		w.equal(owner, again.ID)
		owner, err = w.store.SeatBooking(w.ctx, theSale, b.Seats[0].Token)
		w.equal(err, nil)
		w.equal(owner, again.ID)
		w.same()
	}},
	{"one candidate books in two sales", func(w *world) {
		b, there := booking(1), booking(2)
		there.Sale, there.Candidate, there.Seats = otherSale, b.Candidate, b.Seats
		w.in(ledger.Held, b)
		w.in(ledger.Paid, there)
		w.same()
		w.equal(len(contents(w, w.store).Bookings), 1)
		w.equal(contentsOf(w, w.store, otherSale).Candidates[b.Candidate], there.ID)
		w.equal(len(w.lists(start.Add(24*time.Hour)).Holds), 1)
	}},
	{"a booking of ten seats goes and comes whole", func(w *world) {
		b := booking(1)
		b.Seats = nil
		for n := range 10 {
			b.Seats = append(b.Seats, booking(n+1).Seats...)
		}
		w.in(ledger.Held, b)
		w.equal(len(contents(w, w.store).Seats), 10)
		w.done(ledger.Expire(as(b, ledger.Held), b.HoldUntil, "reaper", w.now))
		w.equal(len(contents(w, w.store).Seats), 0)
		w.same()
	}},
	{"reading what is not there", func(w *world) {
		_, err := w.store.Booking(w.ctx, "b")
		w.is(err, ledger.ErrNotFound)
		_, err = w.store.Payment(w.ctx, ledger.PaymentKey{Gateway: "g", ID: "p"})
		w.is(err, ledger.ErrNotFound)
		_, err = w.store.CandidateBooking(w.ctx, theSale, "c")
		w.is(err, ledger.ErrNotFound)
		_, err = w.store.SeatBooking(w.ctx, theSale, "t")
		w.is(err, ledger.ErrNotFound)
	}},
}

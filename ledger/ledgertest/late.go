package ledgertest

import (
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// readmitted is what a late payment of b becomes (protocol.md 3.7).
func readmitted(b ledger.Booking) ledger.Booking {
	late := b.Clone()
	late.ID = sale.LateBookingID(b.ID)
	late.Seats = []ledger.Seat{{Token: "N1-900", Score: 900}}
	return late
}

// lateTests: a late payment becomes a seat or a refund, exactly one of the two.
var lateTests = []suiteTest{
	{"late payment gets a seat", func(w *world) {
		b := booking(1)
		w.in(ledger.Released, b)
		late := readmitted(b)
		w.done(ledger.ApplyLate(late, b.ID, capture(b), "worker", w.now))
		got, err := w.store.Booking(w.ctx, b.ID)
		w.equal(err, nil)
		w.equal(got.Successor, late.ID)
		w.equal(got.State, ledger.Released)
		w.verdict(ledger.ReadLate(late, w.refused(ledger.ApplyLate(late, b.ID, capture(b), "worker", w.now))), ledger.VerdictDone)
		w.refused(ledger.RefundLate(b, capture(b), "no seat", w.now), nil)
		w.same()
	}},
	{"late payment was refunded before", func(w *world) {
		b := booking(1)
		w.in(ledger.Released, b)
		w.done(ledger.RefundLate(b, capture(b), "no seat", w.now), nil)
		late := readmitted(b)
		w.verdict(ledger.ReadLate(late, w.refused(ledger.ApplyLate(late, b.ID, capture(b), "worker", w.now))), ledger.VerdictResolved)
		w.refused(ledger.RefundLate(b, capture(b), "no seat", w.now), nil)
	}},
	{"late booking was tombstoned before", func(w *world) {
		b := booking(1)
		w.in(ledger.Released, b)
		late := readmitted(b)
		w.done(ledger.Tombstone(late, ledger.ReasonLateAbandoned, "reaper", w.now))
		w.verdict(ledger.ReadLate(late, w.refused(ledger.ApplyLate(late, b.ID, capture(b), "worker", w.now))), ledger.VerdictReleased)
		w.done(ledger.RefundLate(b, capture(b), "no seat", w.now), nil)
		w.same()
	}},
	{"late payment meets the candidate's new booking", func(w *world) {
		b, next := booking(1), booking(2)
		next.Candidate = b.Candidate
		w.in(ledger.Released, b)
		w.in(ledger.Held, next)
		late := readmitted(b)
		w.verdict(ledger.ReadLate(late, w.refused(ledger.ApplyLate(late, b.ID, capture(b), "worker", w.now))), ledger.VerdictConflict)
	}},
	{"late payment of a booking that is still live", func(w *world) {
		b := booking(1)
		b.Candidate = "someone"
		w.in(ledger.Held, b)
		late := readmitted(booking(1))
		f := w.refused(ledger.ApplyLate(late, b.ID, capture(b), "worker", w.now))
		w.equal(f.Linked.State, ledger.Held)
	}},
	{"late payment of a booking that nobody knows", func(w *world) {
		b := booking(1)
		f := w.refused(ledger.ApplyLate(readmitted(b), b.ID, capture(b), "worker", w.now))
		w.equal(f.Linked == nil, true)
		w.same() // the link must not create a booking
	}},
}

// reviewed is the payment of b, held, in review for being too small.
func (w *world) reviewed(b ledger.Booking) ledger.PaymentRecord {
	w.Helper()
	w.in(ledger.Held, b)
	short := capture(b)
	short.AmountMinor = 1
	w.done(ledger.Flag(b, short, "amount differs", w.now), nil)
	p, err := w.store.Payment(w.ctx, b.Payment)
	w.equal(err, nil)
	return p
}

// moneyTests: refunds are driven to the end, and only T8 undoes APPLIED.
var moneyTests = []suiteTest{
	{"refund goes DUE, SENT, DONE", func(w *world) {
		b := booking(1)
		w.in(ledger.Paid, b)
		w.done(ledger.Cancel(as(b, ledger.Paid), "operator:ann", w.now))
		for _, next := range []ledger.RefundStep{ledger.RefundSent, ledger.RefundDone} {
			p, err := w.store.Payment(w.ctx, b.Payment)
			w.equal(err, nil)
			w.done(ledger.RefundNext(p, w.now.Add(time.Minute)))
			w.equal(w.refused(ledger.RefundNext(p, w.now)).Payment.Refund, next) // the repeat
			w.same()
			w.lists(start)
		}
		p, _ := w.store.Payment(w.ctx, b.Payment)
		w.equal(p.AmountMinor, b.Price.AmountMinor)
		w.equal(p.Reason, string(ledger.ReasonCancelled))
	}},
	{"an operator sends a reviewed payment back", func(w *world) {
		b := booking(1)
		p := w.reviewed(b)
		w.done(ledger.RefundReviewed(p, "not enough", w.now), nil)
		w.refused(ledger.RefundReviewed(p, "again", w.now), nil)
		w.equal(w.lists(start).Refunds[0], b.Payment.String())
		w.same()
	}},
	{"an operator accepts a reviewed payment", func(w *world) {
		b := booking(1)
		p := w.reviewed(b)
		w.done(ledger.AcceptReviewed(as(b, ledger.Held), p, "operator:ann", "enough", w.now))
		w.refused(ledger.AcceptReviewed(as(b, ledger.Held), p, "operator:ann", "again", w.now))
		w.refused(ledger.RefundReviewed(p, "after all", w.now), nil)
		w.refused(ledger.Expire(as(b, ledger.Held), b.HoldUntil, "reaper", w.now))
		got, err := w.store.Payment(w.ctx, b.Payment)
		w.equal(err, nil)
		w.equal(got.Resolution, ledger.Applied)
		w.equal(got.AmountMinor, int64(1))
		w.equal(got.Reason, "enough")
		w.same()
		w.done(ledger.Cancel(as(b, ledger.Paid), "operator:ann", w.now)) // what goes back is what came
		w.same()
	}},
	{"a reviewed payment that goes back pays nobody", func(w *world) {
		b := booking(1)
		p := w.reviewed(b)
		w.done(ledger.RefundReviewed(p, "not enough", w.now), nil)
		w.refused(ledger.AcceptReviewed(as(b, ledger.Held), p, "operator:ann", "enough", w.now))
		w.same()
	}},
	{"a reviewed payment pays only the booking it is of", func(w *world) {
		b, other := booking(1), booking(2)
		p := w.reviewed(b)
		w.in(ledger.Held, other)
		p.BookingID = other.ID
		w.refused(ledger.AcceptReviewed(as(other, ledger.Held), p, "operator:ann", "enough", w.now))
		w.same()
	}},
	{"an applied payment is never refunded but by T8", func(w *world) {
		b := booking(1)
		w.in(ledger.Paid, b)
		w.refused(ledger.RefundLate(b, capture(b), "late", w.now), nil)
		w.refused(ledger.RefundSecond(b, capture(b), w.now), nil)
		w.refused(ledger.Flag(b, capture(b), "differs", w.now), nil)
		w.done(ledger.Cancel(as(b, ledger.Paid), "operator:ann", w.now))
	}},
	{"T8 needs the booking's own applied payment", func(w *world) {
		b, other := booking(1), booking(2)
		w.in(ledger.Paid, b)
		w.in(ledger.Paid, other)
		wrong := as(b, ledger.Paid)
		wrong.Payment = other.Payment
		w.equal(w.refused(ledger.Cancel(wrong, "operator:ann", w.now)).Payment.BookingID, other.ID)
	}},
}

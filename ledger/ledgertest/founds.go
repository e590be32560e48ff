package ledgertest

import (
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// foundTests: one condition of a transition fails, and Found still tells of all
// the others. attempt compares the whole Found; these tests name what must be
// read from it (the tables of protocol.md 3.3).
var foundTests = []suiteTest{
	{"T1 meets a candidate with another booking", func(w *world) {
		other, b := booking(1), booking(2)
		b.Candidate = other.Candidate
		w.in(ledger.Held, other)
		f := w.refused(ledger.Hold(b, "worker", w.now))
		w.verdict(ledger.ReadHold(b, f), ledger.VerdictConflict)
		w.equal(f.Candidate, other.ID)
	}},
	{"T1 meets a seat of another booking", func(w *world) {
		other, b := booking(1), booking(2)
		b.Seats = append(b.Seats, other.Seats...)
		w.in(ledger.Paid, other)
		f := w.refused(ledger.Hold(b, "worker", w.now))
		w.verdict(ledger.ReadHold(b, f), ledger.VerdictConflict)
		w.equal(f.Seats[other.Seats[0].Token], other.ID)
		w.equal(len(f.Seats), 1)
	}},
	{"T1 meets a payment of another booking", func(w *world) {
		other, b := booking(1), booking(2)
		b.Payment = other.Payment
		w.in(ledger.Held, other)
		w.verdict(ledger.ReadHold(b, w.refused(ledger.Hold(b, "worker", w.now))), ledger.VerdictForeign)
	}},
	{"T1 meets its own refunded payment", func(w *world) {
		b := booking(1)
		w.done(ledger.RefundLate(b, capture(b), "no seat", w.now), nil)
		w.verdict(ledger.ReadHold(b, w.refused(ledger.Hold(b, "worker", w.now))), ledger.VerdictResolved)
	}},
	{"T1 meets its tombstone", func(w *world) {
		b := booking(1)
		w.done(ledger.Tombstone(b, ledger.ReasonOrphan, "reaper", w.now))
		w.verdict(ledger.ReadHold(b, w.refused(ledger.Hold(b, "worker", w.now))), ledger.VerdictReleased)
	}},
	{"T1 does not overwrite PAID (D04)", func(w *world) {
		b := booking(1)
		w.done(ledger.ConfirmUnheld(b, capture(b), "worker", w.now))
		f := w.refused(ledger.Hold(b, "worker", w.now))
		w.verdict(ledger.ReadHold(b, f), ledger.VerdictDone)
		w.equal(f.Candidate, b.ID)
	}},
	{"T2 meets nothing", func(w *world) {
		b := booking(1)
		f := w.refused(ledger.Confirm(as(b, ledger.Held), capture(b), "worker", w.now))
		w.verdict(ledger.ReadPay(b, b.Payment, f), ledger.VerdictUnheld)
	}},
	{"T2 meets a release", func(w *world) {
		b := booking(1)
		w.in(ledger.Released, b)
		f := w.refused(ledger.Confirm(as(b, ledger.Held), capture(b), "worker", w.now))
		w.verdict(ledger.ReadPay(b, b.Payment, f), ledger.VerdictReleased)
		w.equal(f.Payment.Resolution, ledger.Open)
	}},
	{"T2 meets another payment's PAID", func(w *world) {
		b := booking(1)
		w.in(ledger.Paid, b)
		second := capture(b)
		second.Key.ID = "second"
		f := w.refused(ledger.Confirm(as(b, ledger.Held), second, "worker", w.now))
		w.verdict(ledger.ReadPay(b, second.Key, f), ledger.VerdictSecond)
	}},
	{"T2 meets a reviewed payment", func(w *world) {
		b := booking(1)
		w.in(ledger.Held, b)
		w.done(ledger.Flag(b, capture(b), "payee differs", w.now), nil)
		f := w.refused(ledger.Confirm(as(b, ledger.Held), capture(b), "worker", w.now))
		w.verdict(ledger.ReadPay(b, b.Payment, f), ledger.VerdictResolved)
		w.equal(f.Booking.State, ledger.Held)
	}},
	{"T2 meets a payment of another booking", func(w *world) {
		other, b := booking(1), booking(2)
		w.in(ledger.Held, other)
		w.in(ledger.Held, b)
		f := w.refused(ledger.Confirm(as(b, ledger.Held), capture(other), "worker", w.now))
		w.verdict(ledger.ReadPay(b, other.Payment, f), ledger.VerdictForeign)
	}},
	{"T2' meets HELD", func(w *world) {
		b := booking(1)
		w.in(ledger.Held, b)
		f := w.refused(ledger.ConfirmUnheld(b, capture(b), "worker", w.now))
		w.verdict(ledger.ReadPayUnheld(b, b.Payment, f), ledger.VerdictHeld)
	}},
	{"T3 does not free what another booking owns", func(w *world) {
		b, other := booking(1), booking(2)
		w.in(ledger.Held, b)
		w.in(ledger.Held, other)
		mixed := as(b, ledger.Held)
		mixed.Seats = slices.Concat(b.Seats, other.Seats)
		f := w.refused(ledger.Release(mixed, ledger.ReasonOwner, "candidate", w.now))
		w.equal(f.Seats[other.Seats[0].Token], other.ID)
		w.equal(f.Seats[b.Seats[0].Token], b.ID)
	}},
	{"T1 takes what is its own already", func(w *world) {
		b := booking(1)
		w.done(ledger.Transition{Name: "claim", At: start, Claim: &ledger.Ownership{Sale: b.Sale, Candidate: b.Candidate, BookingID: b.ID, Tokens: b.Tokens()}}, nil)
		w.done(ledger.Hold(b, "worker", w.now))
		w.same()
	}},
	{"T4 meets a live booking", func(w *world) {
		b := booking(1)
		w.in(ledger.Held, b)
		f := w.refused(ledger.Tombstone(b, ledger.ReasonOrphan, "reaper", w.now))
		w.equal(f.Booking.State, ledger.Held)
	}},
}

func (w *world) verdict(got, want ledger.Verdict) {
	w.Helper()
	if got != want {
		w.Errorf("verdict %d, want %d", got, want)
	}
}

func (w *world) equal(got, want any) {
	w.Helper()
	if got != want {
		w.Errorf("found %v, want %v", got, want)
	}
}

package ledger_test

import (
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// act is one event: what its sender believes, the transition, and, for the
// oracle, when it may happen and what is so afterwards.
type act struct {
	believes ledger.State
	make     func(ledger.Booking, ledger.Capture) (ledger.Transition, error)
	may      func(o *oracle, b ledger.Booking, payment string) bool
	happens  func(o *oracle, b ledger.Booking, payment string)
}

func is(s ledger.State) func(*oracle, ledger.Booking, string) bool {
	return func(o *oracle, b ledger.Booking, _ string) bool { return o.states[b.ID] == s }
}

func nothing(*oracle, ledger.Booking, string) {}

func becomes(s ledger.State) func(*oracle, ledger.Booking, string) {
	return func(o *oracle, b ledger.Booking, _ string) { o.take(b, s) }
}

var acts = map[string]act{
	"hold": {ledger.None, func(b ledger.Booking, _ ledger.Capture) (ledger.Transition, error) {
		return ledger.Hold(b, "worker", start)
	},
		func(o *oracle, b ledger.Booking, _ string) bool {
			return o.states[b.ID] == ledger.None && o.free(b) && o.unspent(b.Payment.ID, b.ID)
		},
		func(o *oracle, b ledger.Booking, _ string) {
			o.take(b, ledger.Held)
			o.resolve(b.Payment.ID, b.ID, ledger.Open)
		}},
	"pay": {ledger.Held, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		return ledger.Confirm(b, c, "worker", start)
	},
		func(o *oracle, b ledger.Booking, payment string) bool {
			return o.states[b.ID] == ledger.Held && o.unspent(payment, b.ID)
		},
		func(o *oracle, b ledger.Booking, payment string) {
			o.take(b, ledger.Paid)
			o.paidBy[b.ID] = payment
			o.resolve(payment, b.ID, ledger.Applied)
		}},
	"pay unheld": {ledger.None, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		return ledger.ConfirmUnheld(b, c, "worker", start)
	},
		func(o *oracle, b ledger.Booking, payment string) bool {
			return o.states[b.ID] == ledger.None && o.free(b) && o.unspent(payment, b.ID)
		},
		func(o *oracle, b ledger.Booking, payment string) {
			o.take(b, ledger.Paid)
			o.paidBy[b.ID] = payment
			o.resolve(payment, b.ID, ledger.Applied)
		}},
	"apply late": {ledger.None, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		released := b.ID
		b.ID = "L-" + b.ID
		return ledger.ApplyLate(b, released, c, "worker", start)
	},
		func(o *oracle, b ledger.Booking, payment string) bool {
			late := b
			late.ID = "L-" + b.ID
			return o.states[late.ID] == ledger.None && o.states[b.ID] == ledger.Released && o.free(late) && o.unresolved(payment)
		},
		func(o *oracle, b ledger.Booking, payment string) {
			b.ID = "L-" + b.ID
			o.take(b, ledger.Paid)
			o.paidBy[b.ID] = payment
			o.resolve(payment, b.ID, ledger.Applied)
		}},
	"refund late": {ledger.None, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		return ledger.RefundLate(b, c, "no seat", start), nil
	},
		func(o *oracle, _ ledger.Booking, payment string) bool { return o.unresolved(payment) },
		func(o *oracle, b ledger.Booking, payment string) { o.resolve(payment, b.ID, ledger.Refund) }},
	"refund second": {ledger.None, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		return ledger.RefundSecond(b, c, start), nil
	},
		func(o *oracle, b ledger.Booking, payment string) bool { return o.unspent(payment, b.ID) },
		func(o *oracle, b ledger.Booking, payment string) { o.resolve(payment, b.ID, ledger.Refund) }},
	"review": {ledger.None, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		return ledger.Flag(b, c, "differs", start), nil
	},
		func(o *oracle, _ ledger.Booking, payment string) bool { return o.unresolved(payment) },
		func(o *oracle, b ledger.Booking, payment string) { o.resolve(payment, b.ID, ledger.Review) }},
	"accept": {ledger.Held, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		p := ledger.PaymentRecord{Key: c.Key, Sale: b.Sale, BookingID: b.ID, Resolution: ledger.Review}
		return ledger.AcceptReviewed(b, p, "operator:ann", "enough", start)
	},
		func(o *oracle, b ledger.Booking, payment string) bool {
			return o.states[b.ID] == ledger.Held && o.payments[payment] == ledger.Review && o.payee[payment] == b.ID
		},
		func(o *oracle, b ledger.Booking, payment string) {
			o.take(b, ledger.Paid)
			o.paidBy[b.ID] = payment
			o.resolve(payment, b.ID, ledger.Applied)
		}},
	"expire": {ledger.Held, func(b ledger.Booking, _ ledger.Capture) (ledger.Transition, error) {
		return ledger.Expire(b, b.HoldUntil, "reaper", start)
	}, is(ledger.Held), becomes(ledger.Released)},
	"expire early": {ledger.Held, func(b ledger.Booking, _ ledger.Capture) (ledger.Transition, error) {
		b.HoldUntil = b.HoldUntil.Add(-time.Second)
		return ledger.Expire(b, b.HoldUntil, "reaper", start)
	}, func(*oracle, ledger.Booking, string) bool { return false }, nothing},
	"release": {ledger.Held, func(b ledger.Booking, _ ledger.Capture) (ledger.Transition, error) {
		return ledger.Release(b, ledger.ReasonOwner, "candidate", start)
	}, is(ledger.Held), becomes(ledger.Released)},
	"tombstone": {ledger.None, func(b ledger.Booking, _ ledger.Capture) (ledger.Transition, error) {
		return ledger.Tombstone(b, ledger.ReasonOrphan, "reaper", start)
	}, is(ledger.None), func(o *oracle, b ledger.Booking, _ string) { o.states[b.ID] = ledger.Released }},
	"undo done": {ledger.Released, func(b ledger.Booking, _ ledger.Capture) (ledger.Transition, error) { return ledger.UndoDone(b, start) },
		is(ledger.Released), nothing},
	"commit gate": {ledger.Held, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		return ledger.Commit(b, c.Key, b.HoldUntil, start)
	}, is(ledger.Held), nothing},
	"extend by nothing": {ledger.Held, func(b ledger.Booking, _ ledger.Capture) (ledger.Transition, error) {
		return ledger.Extend(b, b.HoldUntil, "candidate", start)
	}, func(*oracle, ledger.Booking, string) bool { return false }, nothing},
	"cancel": {ledger.Paid, func(b ledger.Booking, c ledger.Capture) (ledger.Transition, error) {
		b.Payment = c.Key
		return ledger.Cancel(b, "operator:ann", start)
	},
		func(o *oracle, b ledger.Booking, payment string) bool {
			return o.states[b.ID] == ledger.Paid && o.payments[payment] == ledger.Applied && o.payee[payment] == b.ID
		},
		func(o *oracle, b ledger.Booking, payment string) {
			o.take(b, ledger.Released)
			o.resolve(payment, b.ID, ledger.Refund)
		}},
}

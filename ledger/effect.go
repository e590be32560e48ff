package ledger

import (
	"slices"
	"time"
)

// The functions below say what a Transition's parts require and do, as plain
// data. The in-memory store and the simulator run them; the DynamoDB adapter
// writes the same as expressions, and the conformance suite of ledgertest holds
// the two together.

// Allows reports whether a stored booking lets the change happen.
func (c BookingChange) Allows(b Booking) bool {
	switch {
	case b.State != c.From:
		return false
	case !c.HeldUntil.IsZero() && b.HoldUntil.After(c.HeldUntil):
		return false
	case !c.Before.IsZero() && !b.HoldUntil.Before(c.Before):
		return false
	}
	return true
}

// Apply is the booking after the change at time at. It shares no memory with b.
func (c BookingChange) Apply(b Booking, at time.Time) Booking {
	b = b.Clone()
	if c.To == Released && b.State != Released {
		b.ReleasedAt = at
	}
	b.State = c.To
	if !c.PaidAt.IsZero() {
		b.PaidAt = c.PaidAt
	}
	if !c.Payment.Zero() {
		b.Payment = c.Payment
	}
	if !c.HoldUntil.IsZero() {
		b.HoldUntil = c.HoldUntil
	}
	b.UndoOwed = (b.UndoOwed || c.SetUndo) && !c.ClearUndo
	b.ReleaseAsks += c.ReleaseAsks
	b.Paying = b.Paying || c.Paying
	if c.Append {
		b.Reason, b.Actor = c.Reason, c.Actor
		b.History = append(b.History, c.Entry(at))
	}
	return b
}

// Entry is what the change appends to the history.
func (c BookingChange) Entry(at time.Time) Change {
	return Change{From: c.From, To: c.To, At: at, Actor: c.Actor, Reason: c.Reason}
}

// Allows reports whether the linked booking may be given a successor: it must
// be released, and have none or this one.
func (l Link) Allows(b Booking) bool {
	return b.State == Released && (b.Successor == "" || b.Successor == l.Successor)
}

// Allows reports whether the payment as stored, nil if absent, lets the change
// happen.
func (c PaymentChange) Allows(p *PaymentRecord) bool {
	switch c.When {
	case AbsentOrOwnOpen:
		return p == nil || p.BookingID == c.BookingID && p.Resolution == Open
	case AbsentOrOpen:
		return p == nil || p.Resolution == Open
	case OwnApplied:
		return p != nil && p.BookingID == c.BookingID && p.Resolution == Applied
	case RefundIs:
		return p != nil && p.Resolution == Refund && p.Refund == c.FromRefund
	case InReview:
		return p != nil && p.Resolution == Review
	case OwnInReview:
		return p != nil && p.BookingID == c.BookingID && p.Resolution == Review
	}
	return false
}

// Apply is the payment after the change at time at; p is nil if it was absent.
func (c PaymentChange) Apply(p *PaymentRecord, at time.Time) PaymentRecord {
	var r PaymentRecord
	if p != nil {
		r = *p
	}
	r.Key, r.Sale, r.BookingID, r.Resolution, r.At = c.Key, c.Sale, c.BookingID, c.Resolution, at
	if c.Refund != NoRefund {
		r.Refund = c.Refund
	}
	if c.AmountMinor != 0 {
		r.AmountMinor, r.Currency = c.AmountMinor, c.Currency
	}
	if c.Reason != "" {
		r.Reason = c.Reason
	}
	return r
}

// Clone shares no memory with b.
func (b Booking) Clone() Booking {
	b.Seats, b.History = slices.Clone(b.Seats), slices.Clone(b.History)
	return b
}

// BookingID is the booking that the transition is about.
func (t Transition) BookingID() string {
	switch {
	case t.Create != nil:
		return t.Create.ID
	case t.Update != nil:
		return t.Update.ID
	case t.Payment != nil:
		return t.Payment.BookingID
	}
	return ""
}

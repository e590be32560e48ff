package ledger

import "time"

// RefundLate is step 4 of protocol.md 3.7: a late payment that gets no seat is
// to be refunded. If the condition fails, Found.Payment says what it became
// instead: REFUND (also by a repeat of this), APPLIED or REVIEW.
func RefundLate(b Booking, c Capture, why string, now time.Time) Transition {
	return refund(TLateRefund, b, c, AbsentOrOpen, why, now)
}

// RefundSecond marks a further payment of a paid booking for refund.
func RefundSecond(b Booking, c Capture, now time.Time) Transition {
	return refund(TSecond, b, c, AbsentOrOwnOpen, "second payment of a paid booking", now)
}

// Flag puts a payment that differs in amount, currency or payee to review; it
// never pays a booking (protocol.md 2.2.6).
func Flag(b Booking, c Capture, why string, now time.Time) Transition {
	return Transition{Name: TReview, At: Instant(now), Payment: &PaymentChange{Key: c.Key, Sale: b.Sale, BookingID: b.ID,
		When: AbsentOrOpen, Resolution: Review, AmountMinor: c.AmountMinor, Currency: c.Currency, Reason: why}}
}

// RefundReviewed is an operator's decision that a reviewed payment goes back.
func RefundReviewed(p PaymentRecord, why string, now time.Time) Transition {
	return Transition{Name: TRefundReset, At: Instant(now), Payment: &PaymentChange{Key: p.Key, Sale: p.Sale, BookingID: p.BookingID,
		When: InReview, Resolution: Refund, Refund: RefundDue, Reason: why}}
}

// AcceptReviewed is an operator's decision that a reviewed payment pays its
// booking as it is: T2 for money that differs (protocol.md 2.2.6, "operators
// decide"). Only a booking that is still held can be paid so; the payment of any
// other one can only go back (RefundReviewed). One of the two decisions wins,
// by the condition on P.
func AcceptReviewed(b Booking, p PaymentRecord, actor Actor, why string, now time.Time) (Transition, error) {
	if b.State != Held || p.Resolution != Review || p.BookingID != b.ID {
		return Transition{}, &TransitionError{b.ID, b.State, TAccept}
	}
	return Transition{
		Name: TAccept, At: Instant(now),
		Update: &BookingChange{ID: b.ID, Sale: b.Sale, From: Held, To: Paid, PaidAt: Instant(now), Payment: p.Key,
			Append: true, Reason: ReasonAccepted, Actor: actor},
		Payment: &PaymentChange{Key: p.Key, Sale: p.Sale, BookingID: b.ID, When: OwnInReview, Resolution: Applied, Reason: why},
	}, nil
}

// RefundNext is T6: DUE to SENT, or SENT to DONE. Repeated, or overtaken by
// another sweep, its condition fails and Found.Payment.Refund is at that step
// or beyond: go on from there.
func RefundNext(p PaymentRecord, now time.Time) (Transition, error) {
	to := map[RefundStep]RefundStep{RefundDue: RefundSent, RefundSent: RefundDone}[p.Refund]
	if p.Resolution != Refund || to == NoRefund {
		return Transition{}, &TransitionError{p.BookingID, State(p.Resolution + "/" + Resolution(p.Refund)), T6Refund}
	}
	return Transition{Name: T6Refund, At: Instant(now), Payment: &PaymentChange{Key: p.Key, Sale: p.Sale, BookingID: p.BookingID,
		When: RefundIs, FromRefund: p.Refund, Resolution: Refund, Refund: to}}, nil
}

func refund(n Name, b Booking, c Capture, when PaymentCondition, why string, now time.Time) Transition {
	return Transition{Name: n, At: Instant(now), Payment: &PaymentChange{Key: c.Key, Sale: b.Sale, BookingID: b.ID, When: when,
		Resolution: Refund, Refund: RefundDue, AmountMinor: c.AmountMinor, Currency: c.Currency, Reason: why}}
}

func applied(b Booking, c Capture, when PaymentCondition) *PaymentChange {
	return &PaymentChange{Key: c.Key, Sale: b.Sale, BookingID: b.ID, When: when, Resolution: Applied,
		AmountMinor: c.AmountMinor, Currency: c.Currency}
}

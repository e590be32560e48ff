package ledger

// Verdict says what a failed T1, T2 or T2' means (the two tables of
// protocol.md 3.3). The set is closed.
type Verdict int

// The verdicts.
const (
	// VerdictDone: ours, done before (also by a retry inside the SDK).
	VerdictDone Verdict = iota + 1
	// VerdictReleased: a tombstone or a release came first. HELD: drop the event
	// and repeat the undo. PAID: the payment is late (protocol.md 3.7).
	VerdictReleased
	// VerdictResolved: the payment was resolved before. Look at Found.Payment:
	// REFUND is driven on unless DONE, REVIEW waits for operators, APPLIED here
	// is an alarm.
	VerdictResolved
	// VerdictForeign: the payment belongs to another booking: inbox and alarm.
	VerdictForeign
	// VerdictConflict: candidate or seat belong to another booking: tombstone,
	// undo, refund if paid, alarm, reconcile the other.
	VerdictConflict
	// VerdictUnheld: the ledger has no booking yet (T2 only): T2'.
	VerdictUnheld
	// VerdictSecond: the booking is paid by another payment (T2 only).
	VerdictSecond
	// VerdictHeld: the booking is held meanwhile (T2' only): T2.
	VerdictHeld
	// VerdictAgain: nothing stands in the way any more: repeat.
	VerdictAgain
)

// ReadHold reads a failed T1 of booking b.
func ReadHold(b Booking, f Found) Verdict {
	if f.Booking != nil {
		if f.Booking.State == Released {
			return VerdictReleased
		}
		return VerdictDone
	}
	if v := readPayment(b.ID, f.Payment); v != VerdictAgain {
		return v
	}
	return readOwners(b, f)
}

// ReadPay reads a failed T2 of booking b paid by k.
func ReadPay(b Booking, k PaymentKey, f Found) Verdict {
	if f.Booking == nil {
		return VerdictUnheld
	}
	switch f.Booking.State {
	case Released:
		return VerdictReleased
	case Paid:
		if f.Booking.Payment == k {
			return VerdictDone
		}
		return VerdictSecond
	}
	return readPayment(b.ID, f.Payment)
}

// ReadPayUnheld reads a failed T2' of booking b paid by k.
func ReadPayUnheld(b Booking, k PaymentKey, f Found) Verdict {
	if f.Booking != nil {
		if f.Booking.State == Held {
			return VerdictHeld
		}
		return ReadPay(b, k, f)
	}
	if v := readPayment(b.ID, f.Payment); v != VerdictAgain {
		return v
	}
	return readOwners(b, f)
}

// ReadLate reads a failed ApplyLate of the re-admitted booking b: done means
// that this very booking has won the payment; everything else ends in a refund
// or was one already (protocol.md 3.7.3).
func ReadLate(b Booking, f Found) Verdict {
	if f.Booking != nil {
		if f.Booking.State == Paid {
			return VerdictDone
		}
		return VerdictReleased
	}
	if f.Payment != nil && f.Payment.Resolution != Open {
		return VerdictResolved
	}
	return readOwners(b, f)
}

// readPayment: P may be absent, or ours and open; all else decides.
func readPayment(bookingID string, p *PaymentRecord) Verdict {
	switch {
	case p == nil:
		return VerdictAgain
	case p.BookingID != bookingID:
		return VerdictForeign
	case p.Resolution != Open:
		return VerdictResolved
	}
	return VerdictAgain
}

func readOwners(b Booking, f Found) Verdict {
	if f.Candidate != "" && f.Candidate != b.ID {
		return VerdictConflict
	}
	for _, owner := range f.Seats {
		if owner != "" && owner != b.ID {
			return VerdictConflict
		}
	}
	return VerdictAgain
}

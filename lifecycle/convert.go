package lifecycle

import (
	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// BookingFromRecord is the booking that an admission's record describes, in
// state None: enough for T1, T2' and T4 (protocol.md 3.2).
func BookingFromRecord(saleID string, r admission.Record) ledger.Booking {
	key, _ := ledger.ParsePaymentKey(r.PaymentID) // none before the attach: zero
	b := ledger.Booking{
		ID: r.BookingID, Sale: saleID, Candidate: r.Candidate, Level: r.Level, Gen: r.Gen,
		Payment: key, Price: sale.Money{AmountMinor: r.AmountMinor, Currency: r.Currency},
		Key: r.Key, InputHash: r.InputHash, EmailHash: r.EmailHash,
		AdmittedAt: ledger.Instant(r.AdmittedAt), HoldUntil: ledger.Instant(r.HoldUntil),
	}
	for i, token := range r.Tokens {
		seat := ledger.Seat{Token: token}
		if i < len(r.Scores) {
			seat.Score = r.Scores[i]
		}
		b.Seats = append(b.Seats, seat)
	}
	return b
}

// BookingFromHeld is the booking that a booking.held event describes, in state
// None. The event must carry Held.
func BookingFromHeld(e events.Event) ledger.Booking {
	h := e.Held
	b := ledger.Booking{
		ID: e.BookingID, Sale: e.Sale, Candidate: e.Candidate, Level: h.Level, Gen: e.Gen,
		Payment: ledger.PaymentKey{Gateway: h.Gateway, ID: h.PaymentID},
		Price:   sale.Money{AmountMinor: h.AmountMinor, Currency: h.Currency},
		Key:     h.Key, InputHash: h.InputHash, EmailHash: h.EmailHash,
		AdmittedAt: ledger.Instant(h.AdmittedAt), HoldUntil: ledger.Instant(h.HoldUntil),
	}
	for _, seat := range h.Seats {
		b.Seats = append(b.Seats, ledger.Seat(seat))
	}
	return b
}

// RecordOf is the record that a live booking has in Redis, for a reseed
// (protocol.md S4): attached while held, paid when paid.
func RecordOf(b ledger.Booking) admission.Record {
	r := admission.Record{
		BookingID: b.ID, Candidate: b.Candidate, Level: b.Level, Tokens: b.Tokens(),
		Key: b.Key, InputHash: b.InputHash, EmailHash: b.EmailHash,
		AdmittedAt: b.AdmittedAt, DriverAt: b.AdmittedAt, Stage: admission.StageAttached, Driver: 1,
		PaymentID: b.Payment.String(), AmountMinor: b.Price.AmountMinor, Currency: b.Price.Currency,
		HoldUntil: b.HoldUntil, Gen: b.Gen,
	}
	if b.State == ledger.Paid {
		r.Stage = admission.StagePaid
	}
	for _, seat := range b.Seats {
		r.Scores = append(r.Scores, seat.Score)
	}
	return r
}

// CaptureOf is a captured payment as the ledger sees it.
func CaptureOf(gateway string, p payment.Payment) ledger.Capture {
	return ledger.Capture{
		Key:         ledger.PaymentKey{Gateway: gateway, ID: p.PaymentID},
		AmountMinor: p.AmountMinor, Currency: p.Currency, At: ledger.Instant(p.CapturedAt),
	}
}

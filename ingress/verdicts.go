package ingress

import (
	"net/http"

	"github.com/holdfast/holdfast/ingress/booking"
)

// refusal says how a verdict looks over HTTP. This table is the edge at which
// verdicts become status codes (docs/protocol.md 3.5).
type refusal struct {
	status        int
	title, detail string
}

var refusals = map[booking.Verdict]refusal{
	booking.InProgress: {http.StatusConflict, "A booking of yours is being made",
		"Try again after the seconds in Retry-After, with the same Idempotency-Key."},
	booking.Duplicate: {http.StatusConflict, "You have a booking already",
		"You hold what this answer says, until hold_until. Pay for it, or give it back with DELETE /bookings/{booking_id}."},
	booking.LevelFull: {http.StatusConflict, "No seat is free in this level",
		"Choose another level, or come back: unpaid seats become free again."},
	booking.SoldOut: {http.StatusConflict, "No seat is free",
		"Come back later: unpaid seats become free again."},
	booking.SeatTaken: {http.StatusConflict, "This seat is taken", "Choose another seat."},
	booking.IdempotencyMismatch: {http.StatusUnprocessableEntity, "This Idempotency-Key stands for another request",
		"Use a new Idempotency-Key for a new wish."},
	booking.InvalidRequest: {http.StatusBadRequest, "The request is not valid",
		"Check level and seats: a level with named seats takes a list of names, every other a number."},
	booking.InvalidCode: {http.StatusBadRequest, "This code can't book here",
		"Check the code; it is on your invitation."},
	booking.EmailMismatch: {http.StatusBadRequest, "This e-mail does not belong to the code",
		"Use the e-mail address at which you were invited."},
	booking.LevelNotAllowed: {http.StatusBadRequest, "This code can't book this level",
		"Choose a level that is on your invitation."},
	booking.HoldGone: {http.StatusConflict, "This hold is over",
		"Its time has passed, or it was replaced in another tab. Nothing was paid. Choose seats again."},
	booking.Closed: {http.StatusServiceUnavailable, "The sale is not open",
		"If opens_at is given, come back then."},
	booking.Unavailable: {http.StatusServiceUnavailable, "Not possible at the moment",
		"No booking was confirmed. Try again after the seconds in Retry-After, with the same Idempotency-Key."},
	booking.PaymentUnavailable: {http.StatusServiceUnavailable, "The payment service does not answer",
		"Your seat was given back. Try again after the seconds in Retry-After."},
}

// fixedRefusals are those without a word about this request.
var fixedRefusals = func() map[booking.Verdict]fixed {
	m := make(map[booking.Verdict]fixed)
	for v, r := range refusals {
		m[v] = fix(newProblem(r.status, Code(v), r.title, r.detail))
	}
	return m
}()

// writeRefusal sends a refusal.
func (in *Ingress) writeRefusal(w http.ResponseWriter, a booking.Answer) {
	if a.RetryAfter == 0 && a.BookingID == "" && a.TakenSeat == "" && a.State == "" {
		fixedRefusals[a.Verdict].write(w)
		return
	}
	r := refusals[a.Verdict]
	p := newProblem(r.status, Code(a.Verdict), r.title, r.detail)
	p.retryAfter, p.Seat, p.OpensAt = a.RetryAfter, a.TakenSeat, instant(a.OpensAt)
	if a.Verdict == booking.Duplicate {
		p.BookingID, p.State, p.Level = a.BookingID, string(a.State), a.Level
		p.PaymentURL, p.HoldUntil = a.PaymentURL, instant(a.HoldUntil)
		switch a.State {
		case booking.Paid:
			p.Detail = "Your booking is paid. There is nothing left to do."
		case booking.Choosing:
			p.Detail = "You hold seats that you are choosing. Book them with hold_id, or replace them with POST /sales/{sale}/holds."
		}
		p.Now = instant(in.Now())
	}
	p.write(w)
}

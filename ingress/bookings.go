package ingress

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/booking"
)

// giveBackFor bounds a release: the gateway is asked, then the ledger, then
// Redis.
const giveBackFor = 15 * time.Second

// showFor bounds reading a booking.
const showFor = 5 * time.Second

// bookingDoc is a booking as GET /bookings/{id} shows it.
type bookingDoc struct {
	BookingID  string        `json:"booking_id"`
	Sale       string        `json:"sale"`
	State      booking.State `json:"state"`
	Level      string        `json:"level"`
	Seats      []string      `json:"seats"`
	PaymentURL string        `json:"payment_url,omitempty"`
	AdmittedAt *Instant      `json:"admitted_at,omitempty"`
	HoldUntil  *Instant      `json:"hold_until,omitempty"`
	PaidAt     *Instant      `json:"paid_at,omitempty"`
	ReleasedAt *Instant      `json:"released_at,omitempty"`
	Successor  string        `json:"successor,omitempty"`
	Now        *Instant      `json:"now"`
}

// showBooking is GET /bookings/{id}. The query may name the sale, which saves
// looking for a young booking in all of them.
func (in *Ingress) showBooking(c echo.Context) error {
	if err := in.limitClient(c); err != nil {
		return err
	}
	if !in.Hasher.Minted(c.Param("id")) {
		return notFound()
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), showFor)
	defer cancel()
	return in.sendBooking(ctx, c)
}

func (in *Ingress) sendBooking(ctx context.Context, c echo.Context) error {
	v, err := in.driver.Show(ctx, c.Param("id"), c.QueryParam("sale"))
	if errors.Is(err, booking.ErrNotFound) {
		return notFound()
	}
	if err != nil {
		return err
	}
	doc := bookingDoc{BookingID: v.BookingID, Sale: v.Sale, State: v.State, Level: v.Level, Seats: v.Seats, PaymentURL: v.PaymentURL,
		AdmittedAt: instant(v.AdmittedAt), PaidAt: instant(v.PaidAt), ReleasedAt: instant(v.ReleasedAt),
		Successor: v.Successor, Now: instant(in.Now())}
	if doc.Seats == nil {
		doc.Seats = []string{}
	}
	if v.State == booking.Held {
		doc.HoldUntil = instant(v.HoldUntil)
	}
	writeJSON(c.Response(), http.StatusOK, doc)
	return nil
}

// giveBack is DELETE /bookings/{id}. It goes on when its client has gone: a
// release must not stop between the gateway and the ledger.
func (in *Ingress) giveBack(c echo.Context) error {
	if err := in.limitClient(c); err != nil {
		return err
	}
	if !in.Hasher.Minted(c.Param("id")) {
		return notFound()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), giveBackFor)
	defer cancel()
	err := in.driver.GiveBack(ctx, c.Param("id"), c.QueryParam("sale"))
	switch {
	case err == nil:
		return in.sendBooking(ctx, c)
	case errors.Is(err, booking.ErrNotFound):
		return notFound()
	case errors.Is(err, booking.ErrAlreadyPaid):
		return newProblem(http.StatusConflict, codeAlreadyPaid, "The booking is paid", "A paid booking can't be given back here: ask the organiser.")
	case errors.Is(err, booking.ErrBusy):
		p := newProblem(http.StatusConflict, codeInProgress, "A payment is under way", "Try again after the seconds in Retry-After.")
		p.retryAfter = 3 * time.Second
		return p
	}
	return err
}

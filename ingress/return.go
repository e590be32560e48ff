package ingress

import (
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/web"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// askFor bounds asking the gateway because of a redirect.
const askFor = 5 * time.Second

// paymentReturn is GET /payments/{gateway}/return: where the gateway sends the
// customer. Anybody can forge it, so it only makes us ask the gateway; what that
// says can confirm a booking, never release one (protocol.md 2.2.2, scenario 35).
func (in *Ingress) paymentReturn(c echo.Context) error {
	if err := in.limitClient(c); err != nil {
		return err
	}
	gw := in.Gateways[c.Param("gateway")]
	if gw == nil {
		return notFound()
	}
	page := web.Return{BookingID: c.QueryParam("booking"), Sale: c.QueryParam("sale")}
	n, err := gw.ParseReturn(c.QueryParams())
	switch {
	case err != nil:
		in.notice(gw, "return", "unreadable")
	case in.askedTooOften(c, page.BookingID):
		in.notice(gw, "return", "limited") // the page asks us, and the webhook tells
	default:
		in.ask(c.Request().Context(), gw, n, &page)
	}
	if !booking.ValidID(page.BookingID) {
		page.BookingID = ""
	}
	if !sale.ValidName(page.Sale) {
		page.Sale = ""
	}
	return web.ShowReturn(c.Response(), page)
}

// askedTooOften counts a redirect for the booking that it names, or for its
// client if that is none of ours: a stranger must not use up what the gateway
// allows us.
func (in *Ingress) askedTooOften(c echo.Context, bookingID string) bool {
	key := bookingID
	if !in.Hasher.Minted(bookingID) {
		key = in.client.Key(c.Request())
	}
	_, limited := in.overLimit(in.asks, "redirects", key, in.Now())
	return limited
}

// ask asks the gateway about a redirect's payment, and queues a notice if there
// is something for a worker to do. The page is shown in any case: it asks us
// for the truth until it knows.
func (in *Ingress) ask(ctx context.Context, gw payment.Gateway, n payment.Notice, page *web.Return) {
	asking, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	p, err := gw.Query(asking, n.PaymentID)
	switch {
	case errors.Is(err, payment.ErrNotFound):
		in.notice(gw, "return", "unknown_payment")
		return
	case err != nil: // the worker asks, when the gateway answers again
		n.Sale, n.BookingID = page.Sale, page.BookingID // hints, as good as nothing
	case p.Status == payment.StatusOpen || p.Status == payment.StatusCancelled || p.Status == payment.StatusExpired || p.Status == payment.StatusFailed:
		in.notice(gw, "return", "nothing_new")
		in.aboutBooking(p.Metadata, page)
		return
	default:
		in.aboutBooking(p.Metadata, page)
		n.Metadata = p.Metadata
		// One notice for each thing that the gateway said, however often the page is
		// loaded; never the id of a webhook.
		n.EventID = "return-" + n.PaymentID + "-" + string(p.Status)
	}
	if err := in.queueNotice(ctx, gw, n, "return"); err != nil {
		in.Log.WarnContext(ctx, "the webhook or the reaper will have to tell", "gateway", gw.Name(), "err", err)
	}
}

// aboutBooking lets the page follow the booking that the gateway named, not the
// one in an address that anybody can write.
func (in *Ingress) aboutBooking(m payment.Metadata, page *web.Return) {
	if m.BookingID != "" {
		page.BookingID = m.BookingID
	}
	if m.Sale != "" {
		page.Sale = m.Sale
	}
}

package ingress

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/web"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

const (
	maxWebhook = 64 << 10
	// noticeFor bounds queueing a notice, askFor asking the gateway because of a
	// redirect. Gateways give a webhook about ten seconds.
	noticeFor = 5 * time.Second
	askFor    = 5 * time.Second
)

// unknownSale stands for a sale that nobody can name in a deployment without
// any: the worker parks the event where operators see it.
const unknownSale = "_"

// webhook is POST /webhooks/{gateway}. It answers 2xx only after the notice is
// durably queued, and believes nothing of it: the worker asks the gateway
// (protocol.md 2.2.2, 2.2.3). It asks nobody itself (case D18).
func (in *Ingress) webhook(c echo.Context) error {
	gw := in.Gateways[c.Param("gateway")]
	if gw == nil {
		return notFound()
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxWebhook))
	if err != nil {
		in.notice(gw, "webhook", "unreadable")
		return invalid(Field{"body", "must arrive whole and be at most 64 KiB"})
	}
	n, err := gw.ParseWebhook(c.Request().Header, body, in.Now())
	switch {
	case errors.Is(err, payment.ErrBadSignature):
		in.notice(gw, "webhook", "bad_signature")
		return newProblem(http.StatusUnauthorized, codeBadSignature, "The signature is not valid", "Sign with the shared secret and the present time.")
	case err != nil:
		in.notice(gw, "webhook", "unreadable")
		return invalid(Field{"body", "is not a notice of this gateway"})
	}
	if err := in.queueNotice(c.Request().Context(), gw, n, "webhook"); err != nil {
		return err
	}
	c.Response().WriteHeader(http.StatusNoContent)
	return nil
}

// queueNotice publishes payment.notified. A problem says what to answer.
func (in *Ingress) queueNotice(ctx context.Context, gw payment.Gateway, n payment.Notice, source string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeFor)
	defer cancel()
	start := in.Now()
	err := in.Publish.Publish(ctx, in.notified(ctx, gw, n, source))
	in.metrics.Published(in.Now().Sub(start), err)
	switch {
	case err == nil:
		in.notice(gw, source, "queued")
		return nil
	case errors.Is(err, events.ErrInvalid): // never worth a retry
		in.notice(gw, source, "unreadable")
		return invalid(Field{"body", "names a payment or event that no gateway of ours can have"})
	}
	in.notice(gw, source, "not_queued")
	in.Log.WarnContext(ctx, "notice not queued", "gateway", gw.Name(), "source", source, "err", err)
	return unavailable(5 * time.Second)
}

// notified is the event of a notice. The hints it came with are kept where they
// are well formed; nothing is decided by them.
func (in *Ingress) notified(ctx context.Context, gw payment.Gateway, n payment.Notice, source string) events.Event {
	e := events.Event{Type: events.PaymentNotified, At: in.Now().UTC(),
		Notice: &events.Notice{Gateway: gw.Name(), PaymentID: n.PaymentID, EventID: n.EventID, Source: source}}
	if booking.ValidID(n.BookingID) {
		e.BookingID = n.BookingID
	}
	if len(n.Candidate) == 43 && sale.ValidName(n.Candidate[:40]) && sale.ValidName(n.Candidate[40:]) {
		e.Candidate = n.Candidate
	}
	e.Sale = in.saleOf(ctx, gw, n, e.BookingID)
	if p, ok := in.plans.Plan(e.Sale); ok {
		e.Gen = p.Gen
	}
	return e
}

// saleOf finds the sale that a notice is about: by its metadata, else by what we
// know of the booking or of the payment (gateways that take only an invoice).
// If nothing says, it is some sale of ours: the worker looks for the payment
// itself, and parks what it can't place in that sale's inbox (protocol.md 3.6).
func (in *Ingress) saleOf(ctx context.Context, gw payment.Gateway, n payment.Notice, bookingID string) string {
	if _, ok := in.plans.Plan(n.Sale); ok {
		return n.Sale
	}
	if bookingID != "" {
		if v, err := in.driver.Show(ctx, bookingID, ""); err == nil {
			return v.Sale
		}
	}
	if p, err := in.Ledger.Payment(ctx, ledger.PaymentKey{Gateway: gw.Name(), ID: n.PaymentID}); err == nil && sale.ValidName(p.Sale) {
		return p.Sale
	}
	if ids := in.plans.Sales(); len(ids) > 0 {
		return ids[0]
	}
	return unknownSale
}

func (in *Ingress) notice(gw payment.Gateway, source, result string) {
	in.metrics.notices.WithLabelValues(gw.Name(), source, result).Inc()
}

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
	if n, err := gw.ParseReturn(c.QueryParams()); err == nil {
		in.ask(c.Request().Context(), gw, n, &page)
	} else {
		in.notice(gw, "return", "unreadable")
	}
	if !booking.ValidID(page.BookingID) {
		page.BookingID = ""
	}
	if !sale.ValidName(page.Sale) {
		page.Sale = ""
	}
	return web.ShowReturn(c.Response(), page)
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

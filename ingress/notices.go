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
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

const (
	maxWebhook = 64 << 10
	// noticeFor bounds queueing a notice; gateways give a webhook about ten seconds.
	noticeFor = 5 * time.Second
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

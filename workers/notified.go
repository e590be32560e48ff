package workers

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
)

// notified is payment.notified: somebody says that a payment has news. It is a
// reason to ask the gateway and nothing else (protocol.md 2.2.2), so a forged
// one changes nothing (scenario 35).
func (w *walk) notified(ctx context.Context) error {
	n := w.e.Notice
	gw := w.Gateways[n.Gateway]
	if gw == nil {
		return events.Park("unknown_gateway", fmt.Errorf("workers: gateway %q: %w", n.Gateway, lifecycle.ErrUnknownGateway))
	}
	key := ledger.PaymentKey{Gateway: n.Gateway, ID: n.PaymentID}
	if w.recall.paid(key, w.Now()) {
		return nil // the redirect and the webhook tell of the same money, one right after the other
	}
	p, err := gw.Query(ctx, n.PaymentID)
	if err != nil {
		return w.askLater(ctx, key, p, fmt.Errorf("workers: query payment %s: %w", key, err))
	}
	return w.answered(ctx, gw, key, p)
}

// answered acts on what the gateway said of a payment.
func (w *walk) answered(ctx context.Context, gw payment.Gateway, key ledger.PaymentKey, p payment.Payment) error {
	switch {
	case p.Status == payment.StatusCompleted:
		return w.captured(ctx, gw, p)
	case p.Status == payment.StatusApproved && gw.Moves() == payment.MovesOnExecute:
		return w.execute(ctx, gw, key, p)
	case p.Status.Final(): // unpaid for good: the hold's end decides about the seat
		return nil
	}
	return w.askLater(ctx, key, p, fmt.Errorf("workers: the gateway says payment %s is %q", key, p.Status))
}

// askLater asks again by redelivery, a few times: a notice is only a hint and
// must not block its group for ever. Then the reaper asks, who looks at every
// hold and every pending booking when it ends. If the booking is neither, nobody
// would ask again, and a payment that may yet be captured is parked where an
// operator sees it.
func (w *walk) askLater(ctx context.Context, key ledger.PaymentKey, p payment.Payment, cause error) error {
	if w.meta.ReceiveCount < w.tries {
		return cause
	}
	if errors.Is(cause, payment.ErrNotFound) || p.Status == payment.StatusOpen {
		return nil // nothing was paid: whoever pays makes the gateway notify again
	}
	asks, err := w.reaperAsks(ctx, key, p)
	if err != nil {
		return err
	}
	if asks {
		w.log.InfoContext(ctx, "notice left to the reaper", "payment", key.String(), "err", cause)
		return nil
	}
	return events.Park("payment_unknown", cause)
}

// reaperAsks says whether the booking of the payment is held, or pending.
func (w *walk) reaperAsks(ctx context.Context, key ledger.PaymentKey, p payment.Payment) (bool, error) {
	id, err := w.bookingOf(ctx, key, p.Metadata)
	if err != nil || id == "" {
		return false, err
	}
	b, err := w.Store.Booking(ctx, id)
	if err == nil {
		return b.State == ledger.Held && b.Payment == key, nil
	}
	if !errors.Is(err, ledger.ErrNotFound) {
		return false, fmt.Errorf("workers: read booking %s: %w", id, err)
	}
	r, err := w.Redis.Record(ctx, w.control.Sale, id)
	if errors.Is(err, admission.ErrNotFound) {
		return false, nil
	}
	return err == nil && r.PaymentID == key.String(), err
}

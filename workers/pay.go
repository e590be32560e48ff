package workers

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// money is a captured payment on its way to a seat or a refund.
type money struct {
	gateway payment.Gateway
	payment payment.Payment // as the gateway said
	capture ledger.Capture
}

// reported is payment.captured: the gateway was asked by one of us, who also
// checked what the event has no room for (see lifecycle.Steps.Release).
func (w *walk) reported(ctx context.Context) error {
	c := w.e.Captured
	gw := w.Gateways[c.Gateway]
	if gw == nil {
		return events.Park("unknown_gateway", fmt.Errorf("workers: gateway %q: %w", c.Gateway, lifecycle.ErrUnknownGateway))
	}
	return w.captured(ctx, gw, payment.Payment{
		PaymentID: c.PaymentID, Status: payment.StatusCompleted, AmountMinor: c.AmountMinor, Currency: c.Currency,
		Payee: c.Payee, Live: gw.Live(), CapturedAt: c.CapturedAt,
		Metadata: payment.Metadata{Sale: w.e.Sale, BookingID: w.e.BookingID, Candidate: w.e.Candidate},
	})
}

// captured brings a captured payment to its end: paid seat, refund, review, or
// the inbox (protocol.md 3.6, promise 4).
func (w *walk) captured(ctx context.Context, gw payment.Gateway, p payment.Payment) error {
	if p.CapturedAt.IsZero() {
		p.CapturedAt = w.Now()
	}
	m := money{gateway: gw, payment: p, capture: lifecycle.CaptureOf(gw.Name(), p)}
	if err := w.follow(ctx, p.Metadata); err != nil {
		return err
	}
	id, err := w.bookingOf(ctx, m.capture.Key, p.Metadata)
	if err != nil {
		return err
	}
	if id == "" {
		return w.unattached(ctx, "", m)
	}
	return w.pay(ctx, id, m)
}

func (w *walk) unattached(ctx context.Context, bookingID string, m money) error {
	return w.inbox(ctx, w.control.Sale, bookingID, m.capture.Key, ReasonUnattached, lifecycle.AlarmUnattached)
}

// pay applies the payment to the booking as the ledger has it now. Each turn
// reads afresh; a turn that met somebody else's step is repeated.
func (w *walk) pay(ctx context.Context, bookingID string, m money) error {
	if done, err := w.payRemembered(ctx, bookingID, m); done || err != nil {
		return err
	}
	for range turns {
		b, err := w.Store.Booking(ctx, bookingID)
		if err != nil && !errors.Is(err, ledger.ErrNotFound) {
			return fmt.Errorf("workers: read booking %s: %w", bookingID, err)
		}
		again := false
		switch {
		case err != nil:
			again, err = w.payUnheld(ctx, bookingID, m)
		case b.State == ledger.Paid && b.Payment == m.capture.Key:
			return w.settlePaid(ctx, b, m.capture.Key)
		default:
			again, err = w.payKnown(ctx, b, m)
		}
		if err != nil || !again {
			return err
		}
	}
	return errTurns(bookingID)
}

// payRemembered is T2 of a booking that this process has just written as held: the
// condition says whether it still is, so it need not be read. One that it has just
// written as paid is done. Anything out of the ordinary is left to a reading.
func (w *walk) payRemembered(ctx context.Context, bookingID string, m money) (done bool, err error) {
	b, ok := w.recall.of(m.capture.Key, w.Now())
	switch {
	case !ok || b.ID != bookingID:
		return false, nil
	case b.State == ledger.Paid:
		return true, nil
	case lifecycle.CheckPayment(b, m.gateway, m.payment) != nil:
		return false, nil
	}
	if err := w.use(ctx, b.Sale); err != nil {
		return false, err
	}
	t, err := ledger.Confirm(b, m.capture, actor, w.Now())
	if err != nil {
		return false, err
	}
	if err = w.Write(ctx, t); err == nil {
		return true, w.settlePaid(ctx, b, m.capture.Key)
	}
	if _, ok := condition(err); ok { // it is held no more, or the payment is another's
		return false, nil
	}
	return false, fmt.Errorf("workers: confirm booking %s: %w", b.ID, err)
}

// settlePaid is S3 of a booking that the ledger has as paid by its payment.
func (w *walk) settlePaid(ctx context.Context, b ledger.Booking, key ledger.PaymentKey) error {
	b.State, b.Payment = ledger.Paid, key
	if err := w.Settle(ctx, b); err != nil {
		return err
	}
	w.recall.wrote(b, w.Now())
	return nil
}

// payKnown is a payment of a booking that the ledger has, and that this payment
// has not paid yet.
func (w *walk) payKnown(ctx context.Context, b ledger.Booking, m money) (again bool, err error) {
	if err := w.use(ctx, b.Sale); err != nil {
		return false, err
	}
	switch outcome, err := w.review(ctx, b, m); {
	case err != nil || outcome == inReview:
		return false, err
	case outcome == resolvedBefore:
		return false, w.resumeResolved(ctx, b, m)
	}
	switch b.State {
	case ledger.Released:
		return false, w.late(ctx, b, m)
	case ledger.Paid:
		return false, w.second(ctx, b, m)
	}
	t, err := ledger.Confirm(b, m.capture, actor, w.Now())
	if err != nil {
		return false, err
	}
	if err = w.Write(ctx, t); err == nil { // T2: no test of time, a payment before the release wins
		return false, w.settlePaid(ctx, b, m.capture.Key)
	}
	f, ok := condition(err)
	if !ok {
		return false, fmt.Errorf("workers: confirm booking %s: %w", b.ID, err)
	}
	switch ledger.ReadPay(b, m.capture.Key, f) {
	case ledger.VerdictResolved:
		return false, w.resolved(ctx, b, *f.Payment)
	case ledger.VerdictForeign:
		return false, w.foreign(ctx, b.Sale, b.ID, m.capture.Key)
	}
	return true, nil // released, paid or gone meanwhile: the next turn reads it so
}

// reviewed is what a comparison of a payment with its booking came to.
type reviewed int

const (
	matches reviewed = iota
	inReview
	resolvedBefore // it differs, but its end was decided before
)

// review compares the payment with its booking and puts one that differs to
// review (protocol.md 2.2.6). One that belongs to another booking is left
// alone, in the inbox.
func (w *walk) review(ctx context.Context, b ledger.Booking, m money) (reviewed, error) {
	mismatch := lifecycle.CheckPayment(b, m.gateway, m.payment)
	if mismatch == nil {
		return matches, nil
	}
	p, err := w.Store.Payment(ctx, m.capture.Key)
	if err == nil && p.BookingID != b.ID && p.BookingID != sale.LateBookingID(b.ID) && sale.LateBookingID(p.BookingID) != b.ID {
		return inReview, w.foreign(ctx, b.Sale, b.ID, m.capture.Key) // whose it is stays as it is
	}
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return matches, fmt.Errorf("workers: read payment %s: %w", m.capture.Key, err)
	}
	flagged, err := w.FlagMismatch(ctx, b, m.capture, mismatch)
	if flagged || err != nil {
		return inReview, err
	}
	return resolvedBefore, nil
}

// resumeResolved drives on what a payment had become before.
func (w *walk) resumeResolved(ctx context.Context, b ledger.Booking, m money) error {
	p, err := w.Store.Payment(ctx, m.capture.Key)
	if err != nil {
		return fmt.Errorf("workers: read payment %s: %w", m.capture.Key, err)
	}
	return w.resolved(ctx, b, p)
}

// second refunds a further payment of a paid booking (protocol.md 2.2.9).
func (w *walk) second(ctx context.Context, b ledger.Booking, m money) error {
	err := w.Write(ctx, ledger.RefundSecond(b, m.capture, w.Now()))
	if err == nil {
		return w.driveRefund(ctx, m.capture.Key)
	}
	f, ok := condition(err)
	if !ok {
		return fmt.Errorf("workers: refund second payment %s: %w", m.capture.Key, err)
	}
	if f.Payment == nil {
		return errTurns(b.ID)
	}
	if f.Payment.BookingID != b.ID {
		return w.foreign(ctx, b.Sale, b.ID, m.capture.Key)
	}
	return w.resolved(ctx, b, *f.Payment)
}

// resolved goes on from what a payment had become before (protocol.md 3.3).
func (w *walk) resolved(ctx context.Context, b ledger.Booking, p ledger.PaymentRecord) error {
	switch p.Resolution {
	case ledger.Refund:
		return w.driveRefund(ctx, p.Key)
	case ledger.Review:
		return nil // an operator decides; the alarm was raised when it was flagged
	case ledger.Applied:
		w.Alarm(lifecycle.Alarm{Kind: lifecycle.AlarmApplied, Sale: b.Sale, BookingID: b.ID,
			Detail: fmt.Sprintf("payment %s is applied to %s, but this booking is not paid by it", p.Key, p.BookingID)})
		return nil
	}
	return fmt.Errorf("workers: payment %s is open again: again later", p.Key)
}

// driveRefund drives a refund that the ledger owes. What fails is the refund
// sweep's: the group must not wait for a gateway.
func (w *walk) driveRefund(ctx context.Context, key ledger.PaymentKey) error {
	if err := w.DriveRefund(ctx, key); err != nil {
		w.log.WarnContext(ctx, "refund stays due", "payment", key.String(), "err", err)
	}
	return nil
}

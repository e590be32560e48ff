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
	"github.com/holdfast/holdfast/sale"
)

// bookingOf finds the booking that a payment was made for, "" if nothing says
// so: what the gateway itself keeps with the payment, else our own map P, else
// the event. A payment.captured is our own and believed; a notice can be forged,
// so its booking counts only if that booking names the payment (protocol.md
// 2.2.1).
func (w *walk) bookingOf(ctx context.Context, key ledger.PaymentKey, meta payment.Metadata) (string, error) {
	if meta.BookingID != "" {
		return meta.BookingID, nil
	}
	p, err := w.Store.Payment(ctx, key)
	if err == nil {
		return p.BookingID, nil
	}
	if !errors.Is(err, ledger.ErrNotFound) {
		return "", fmt.Errorf("workers: read payment %s: %w", key, err)
	}
	if w.e.Type == events.PaymentCaptured || w.e.BookingID == "" {
		return w.e.BookingID, nil
	}
	names, err := w.namesPayment(ctx, w.e.BookingID, key)
	if err != nil || !names {
		return "", err
	}
	return w.e.BookingID, nil
}

func (w *walk) namesPayment(ctx context.Context, bookingID string, key ledger.PaymentKey) (bool, error) {
	b, err := w.Store.Booking(ctx, bookingID)
	if err == nil {
		return b.Payment == key, nil
	}
	if !errors.Is(err, ledger.ErrNotFound) {
		return false, fmt.Errorf("workers: read booking %s: %w", bookingID, err)
	}
	r, err := w.Redis.Record(ctx, w.control.Sale, bookingID)
	if errors.Is(err, admission.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("workers: look for booking %s in Redis: %w", bookingID, err)
	}
	return r.PaymentID == key.String(), nil
}

// follow goes to the sale that the gateway keeps with the payment, if it does:
// a redirect may name any.
func (w *walk) follow(ctx context.Context, meta payment.Metadata) error {
	if meta.Sale == "" {
		return nil
	}
	return w.use(ctx, meta.Sale)
}

// evidence is what is known of a booking that the ledger does not have.
type evidence struct {
	booking ledger.Booking // in state None
	inRedis bool           // the booking is Redis's own record
	driver  int            // of that record
	count   int            // seats to admit; for a booking that is not in Redis
}

// errNoEvidence: neither Redis nor the gateway knows enough to write the booking.
var errNoEvidence = errors.New("workers: nothing is known of this booking")

// evidenceOf gathers what T2' needs: from bk, else from what the gateway keeps
// with the payment {sale, bid, ch} and from the event (protocol.md 3.6). Neither
// says the level; it counts as known only where the amount leaves no choice.
func (w *walk) evidenceOf(ctx context.Context, bookingID string, c ledger.Capture, meta payment.Metadata) (evidence, error) {
	r, err := w.Redis.Record(ctx, w.control.Sale, bookingID)
	if err == nil {
		b := lifecycle.BookingFromRecord(w.control.Sale, r)
		b.Payment = c.Key
		return evidence{booking: b, inRedis: true, driver: r.Driver}, nil
	}
	if !errors.Is(err, admission.ErrNotFound) {
		return evidence{}, fmt.Errorf("workers: look for booking %s in Redis: %w", bookingID, err)
	}
	candidate := meta.Candidate
	if candidate == "" && w.e.Type == events.PaymentCaptured {
		candidate = w.e.Candidate
	}
	price := sale.Money{AmountMinor: c.AmountMinor, Currency: c.Currency}
	level, count, ok := w.control.Plan.ByAmount(price)
	if candidate == "" || !ok {
		return evidence{}, errNoEvidence
	}
	return evidence{count: count, booking: ledger.Booking{
		ID: bookingID, Sale: w.control.Sale, Candidate: candidate, Level: level, Gen: w.control.Gen, Payment: c.Key,
		Price: price, AdmittedAt: w.e.At, HoldUntil: w.e.At,
	}}, nil
}

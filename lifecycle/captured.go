package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
)

// publishCaptured queues a payment that the gate found captured; a worker
// applies it. One that differs from its booking goes to review instead: the
// event has no room for everything that is compared.
func (s *Steps) publishCaptured(ctx context.Context, b ledger.Booking, p payment.Payment, askedBy string) error {
	gw := s.Gateways[b.Payment.Gateway]
	c := CaptureOf(b.Payment.Gateway, p)
	if err := CheckPayment(b, gw, p); err != nil {
		flagged, err := s.FlagMismatch(ctx, b, c, err)
		if err != nil || flagged {
			return err
		} // else it was resolved before, and the worker goes on from there
	}
	now := s.Now().UTC()
	at := p.CapturedAt.UTC()
	if at.IsZero() {
		at = now
	}
	bookingID := b.ID
	if p.BookingID != "" {
		bookingID = p.BookingID // the one that was paid for; b may be its re-admission (protocol.md 3.7)
	}
	e := events.Event{
		Version: events.Version, Type: events.PaymentCaptured, Sale: b.Sale, Candidate: b.Candidate,
		BookingID: bookingID, Gen: b.Gen, At: now,
		Captured: &events.Captured{
			Gateway: c.Key.Gateway, PaymentID: c.Key.ID, AmountMinor: p.AmountMinor, Currency: p.Currency,
			Payee: p.Payee, CapturedAt: at, AskedBy: askedBy,
		},
	}
	if err := s.Publish.Publish(ctx, e); err != nil {
		return fmt.Errorf("lifecycle: queue captured payment %s of booking %s: %w", c.Key, b.ID, err)
	}
	return nil
}

// FlagMismatch puts a payment that differs from its booking to review and
// alarms (protocol.md 2.2.6). It reports whether it is in review now, by this
// call or an earlier one; if not, the payment had been resolved before and
// stays as it is.
func (s *Steps) FlagMismatch(ctx context.Context, b ledger.Booking, c ledger.Capture, mismatch error) (bool, error) {
	err := s.Write(ctx, ledger.Flag(b, c, mismatch.Error(), s.Now()))
	var condition *ledger.ConditionError
	if errors.As(err, &condition) {
		p := condition.Found.Payment
		return p != nil && p.Resolution == ledger.Review, nil
	}
	if err != nil {
		return false, fmt.Errorf("lifecycle: put payment %s to review: %w", c.Key, err)
	}
	s.Alarm(Alarm{AlarmMismatch, b.Sale, b.ID, mismatch.Error()})
	return true, nil
}

// ReportCapture asks the release gate about a booking that has just been
// withdrawn: an unpaid page is closed, and money that was taken is queued as
// payment.captured, so that it ends as a seat or a refund. It reports whether
// any was.
func (s *Steps) ReportCapture(ctx context.Context, b ledger.Booking) (bool, error) {
	ans, err := s.Gate(ctx, b.Sale, b.Payment)
	if err != nil {
		return false, err
	}
	switch ans.Verdict {
	case GateUnpaid:
		return false, nil
	case GateCaptured:
		return true, s.publishCaptured(ctx, b, ans.Payment, askedByGate)
	}
	return false, ans.Cause
}

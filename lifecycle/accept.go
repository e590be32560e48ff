package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
)

// ErrNotAcceptable: a reviewed payment can pay only its own booking, and only
// while that is held; any other one can only be refunded.
var ErrNotAcceptable = errors.New("lifecycle: the payment can't pay a booking any more: refund it")

// AcceptReviewed is an operator's decision that a payment in review pays its
// booking though it differs (protocol.md 2.2.6). The booking is held: a hold
// whose captured payment is in review keeps its seat until somebody decides.
// Safe to call again; a decision that was made otherwise, or a booking that is
// not held, is ErrNotAcceptable. ledger.ErrNotFound if there is no such payment.
func (s *Steps) AcceptReviewed(ctx context.Context, key ledger.PaymentKey, actor ledger.Actor, why string) error {
	p, err := s.Store.Payment(ctx, key)
	if err != nil {
		return fmt.Errorf("lifecycle: accept payment %s: %w", key, err)
	}
	b, err := s.Store.Booking(ctx, p.BookingID)
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("payment %s: %w", key, ErrNotAcceptable)
	}
	if err != nil {
		return fmt.Errorf("lifecycle: accept payment %s: %w", key, err)
	}
	if b.State == ledger.Held && p.Resolution == ledger.Review {
		t, err := ledger.AcceptReviewed(b, p, actor, why, s.Now())
		if err != nil {
			return err
		}
		if b, err = s.accept(ctx, b, t); err != nil {
			return fmt.Errorf("lifecycle: accept payment %s: %w", key, err)
		}
	}
	if b.State != ledger.Paid || b.Payment != key {
		return fmt.Errorf("payment %s, booking %s is %s: %w", key, b.ID, b.State, ErrNotAcceptable)
	}
	return s.Settle(ctx, b)
}

// accept writes the decision and returns the booking as it is then.
func (s *Steps) accept(ctx context.Context, b ledger.Booking, t ledger.Transition) (ledger.Booking, error) {
	err := s.Write(ctx, t)
	if err == nil {
		b.State, b.Payment = ledger.Paid, t.Payment.Key
		return b, nil
	}
	if f, ok := found(err); ok && f.Booking != nil {
		return *f.Booking, nil
	}
	return b, err
}

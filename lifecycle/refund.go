package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
)

// refundTurns bounds the steps of one call: DUE, SENT, DONE, and a few lost
// races with another driver of the same refund.
const refundTurns = 6

// RefundKey is the idempotency key of a payment's refund: one for ever
// (protocol.md 2.2.8).
func RefundKey(k ledger.PaymentKey) string { return "R:" + k.ID }

// DriveRefund drives a refund that is due or sent as far as it goes: ask the
// gateway first, then repeat the refund under the same key, T6 for each step
// (protocol.md 2.2.8, 3.8.4). nil means that it is done, that the gateway is
// at it (the sweep asks again), or that there is nothing to refund. Safe to
// call again and by any number at once: the gateway's key makes it one refund.
func (s *Steps) DriveRefund(ctx context.Context, key ledger.PaymentKey) error {
	gw := s.Gateways[key.Gateway]
	if gw == nil {
		return fmt.Errorf("refund payment %s: gateway %q: %w", key.ID, key.Gateway, ErrUnknownGateway)
	}
	for range refundTurns {
		p, err := s.Store.Payment(ctx, key)
		if err != nil {
			return fmt.Errorf("lifecycle: refund payment %s: %w", key, err)
		}
		if p.Resolution != ledger.Refund || p.Refund == ledger.RefundDone {
			return nil
		}
		goOn, err := s.refundStep(ctx, gw, p)
		if err != nil || !goOn {
			return err
		}
	}
	return fmt.Errorf("lifecycle: refund payment %s: lost too many races: try again", key)
}

// refundStep makes one step; goOn says that another may follow.
func (s *Steps) refundStep(ctx context.Context, gw payment.Gateway, p ledger.PaymentRecord) (goOn bool, err error) {
	status, err := gw.QueryRefund(ctx, p.Key.ID, RefundKey(p.Key))
	if err != nil {
		return false, fmt.Errorf("lifecycle: ask for the refund of payment %s: %w", p.Key, err)
	}
	if p.Refund == ledger.RefundDue { // SENT before it is sent: whoever dies now leaves a trace
		return true, s.refundNext(ctx, p)
	}
	if status == payment.RefundNone {
		if status, err = gw.Refund(ctx, p.Key.ID, RefundKey(p.Key), p.AmountMinor); err != nil {
			return false, fmt.Errorf("lifecycle: refund payment %s: %w", p.Key, err)
		}
	}
	if status != payment.RefundDone {
		return false, nil
	}
	return true, s.refundNext(ctx, p)
}

// refundNext is T6. A failed condition means that another driver was faster.
func (s *Steps) refundNext(ctx context.Context, p ledger.PaymentRecord) error {
	t, err := ledger.RefundNext(p, s.Now())
	if err != nil {
		return err
	}
	var condition *ledger.ConditionError
	if err := s.Write(ctx, t); err != nil && !errors.As(err, &condition) {
		return fmt.Errorf("lifecycle: note the refund of payment %s: %w", p.Key, err)
	}
	return nil
}

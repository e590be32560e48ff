package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// Execute takes the money of an approved payment. ErrRefused means that nothing
// moved: not approved, over, or a page account. If it was executed before, the
// answer is what a query says. Any other error: query, never execute again
// before that (protocol.md 2.2.4). Execute itself never repeats the call.
func (g *Gateway) Execute(ctx context.Context, paymentID string) (payment.Payment, error) {
	if g.config.Moves != payment.MovesOnExecute {
		return payment.Payment{}, fmt.Errorf("%w: gateway %q takes the money on its page; query the payment instead", payment.ErrRefused, g.Name())
	}
	var p api.Payment
	err := g.call(ctx, request{method: http.MethodPost, path: []string{"payments", paymentID, "execute"}}, &p)
	if errors.Is(err, payment.ErrCompleted) {
		return g.Query(ctx, paymentID)
	}
	return answered(p, paymentID, err)
}

// Cancel makes sure that the payment can never complete. Safe to repeat.
func (g *Gateway) Cancel(ctx context.Context, paymentID string) error {
	var p api.Payment
	if err := g.call(ctx, request{method: http.MethodPost, path: []string{"payments", paymentID, "cancel"}}, &p); err != nil {
		return err
	}
	found, err := answered(p, paymentID, nil)
	switch {
	case err != nil:
		return err
	case found.Status == payment.StatusCompleted:
		return payment.ErrCompleted
	case !found.Status.Final():
		return fmt.Errorf("sandbox gateway: cancel left the payment %q; query it and cancel again", p.Status)
	}
	return nil
}

// Refund pays back under a key. RefundDone also when everything was paid back
// before, under this key or another.
func (g *Gateway) Refund(ctx context.Context, paymentID, key string, amountMinor int64) (payment.RefundStatus, error) {
	var r api.Refund
	err := g.call(ctx, request{
		method: http.MethodPost, path: []string{"payments", paymentID, "refunds"},
		idemKey: key, body: api.RefundRequest{Key: key, AmountMinor: amountMinor},
	}, &r)
	if errors.Is(err, errRefunded) {
		return payment.RefundDone, nil
	}
	return refundAnswered(r, key, err)
}

// QueryRefund asks for the refund with this key; RefundNone if there is none.
func (g *Gateway) QueryRefund(ctx context.Context, paymentID, key string) (payment.RefundStatus, error) {
	var r api.Refund
	err := g.call(ctx, request{method: http.MethodGet, path: []string{"payments", paymentID, "refunds", key}}, &r)
	if errors.Is(err, errNoRefund) {
		return payment.RefundNone, nil
	}
	return refundAnswered(r, key, err)
}

func refundAnswered(r api.Refund, key string, err error) (payment.RefundStatus, error) {
	if err != nil {
		return "", err
	}
	if r.Key != key {
		return "", fmt.Errorf("sandbox gateway: the answer is about another refund; query this one again")
	}
	switch s := payment.RefundStatus(r.Status); s {
	case payment.RefundPending, payment.RefundDone:
		return s, nil
	}
	return "", fmt.Errorf("sandbox gateway: unknown refund status %q; query it again", r.Status)
}

// answered turns an answer into the port's payment. One about another payment
// is no answer.
func answered(p api.Payment, paymentID string, err error) (payment.Payment, error) {
	if err != nil {
		return payment.Payment{}, err
	}
	if p.PaymentID != paymentID {
		return payment.Payment{}, fmt.Errorf("sandbox gateway: the answer is about another payment; query this one again")
	}
	return payment.Payment{
		PaymentID: p.PaymentID, Status: statusOf(p.Status),
		AmountMinor: p.AmountMinor, Currency: p.Currency, Payee: p.Payee, Live: p.Live,
		CapturedAt: fromMS(p.CapturedAtMS), RefundedMinor: p.RefundedMinor,
		Metadata: payment.Metadata{Sale: p.Metadata.Sale, BookingID: p.Metadata.BookingID, Candidate: p.Metadata.Candidate},
	}, nil
}

func statusOf(s string) payment.Status {
	switch known := payment.Status(s); known {
	case payment.StatusOpen, payment.StatusApproved, payment.StatusPending, payment.StatusCompleted,
		payment.StatusCancelled, payment.StatusExpired, payment.StatusFailed:
		return known
	}
	return payment.StatusUnknown
}

func fromMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

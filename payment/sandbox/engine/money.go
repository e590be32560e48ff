package engine

import (
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

type refund struct {
	key         string
	status      payment.RefundStatus
	amountMinor int64
}

// capture takes the money. It alone adds to captured totals.
func (e *Engine) capture(p *record, now time.Time) {
	p.status, p.latePending = payment.StatusCompleted, false
	p.capturedMinor += p.request.AmountMinor
	p.captures++
	p.capturedAt = now
	e.emit(p, "payment.completed", now)
}

// Execute takes the money of an approved payment. A second execute is refused,
// unless ChargeAgain makes it the disaster that it is elsewhere.
func (e *Engine) Execute(account, paymentID string) (api.Payment, error) {
	now := e.begin()
	defer e.mu.Unlock()
	p, err := e.find(account, paymentID)
	if err != nil {
		return api.Payment{}, err
	}
	if p.account.Moves != payment.MovesOnExecute {
		return api.Payment{}, refuse(api.CodeUnsupported, "this account takes the money on its page; there is nothing to execute")
	}
	p.executeCalls++
	switch p.status {
	case payment.StatusApproved:
		e.capture(p, now)
	case payment.StatusCompleted:
		if !e.take(p.account, "charge_again", func(f *Faults) *Times { return &f.ChargeAgain }) {
			return api.Payment{}, refuse(api.CodeCompleted, "this payment was executed before; query it")
		}
		e.capture(p, now)
	case payment.StatusOpen, payment.StatusPending:
		return api.Payment{}, refuse(api.CodeNotApproved, "the customer has not approved")
	default:
		return api.Payment{}, refuse(api.CodeOver, "this payment is "+string(p.status))
	}
	if e.take(p.account, "lose_execute", func(f *Faults) *Times { return &f.LoseExecute }) {
		return api.Payment{}, ErrLost
	}
	return e.distorted(p), nil
}

// Cancel ends a payment that was not captured. A payment that is over already
// stays as it is, and that is a success; one under way can't be stopped.
func (e *Engine) Cancel(account, paymentID string) (api.Payment, error) {
	now := e.begin()
	defer e.mu.Unlock()
	p, err := e.find(account, paymentID)
	if err != nil {
		return api.Payment{}, err
	}
	switch p.status {
	case payment.StatusCompleted:
		return api.Payment{}, refuse(api.CodeCompleted, "the money was captured; refund it instead")
	case payment.StatusPending:
		return api.Payment{}, refuse(api.CodePending, "the payment is under way and can't be stopped; query it again")
	case payment.StatusOpen, payment.StatusApproved:
		p.status = payment.StatusCancelled
		e.emit(p, "payment.cancelled", now)
	}
	if e.take(p.account, "lose_cancel", func(f *Faults) *Times { return &f.LoseCancel }) {
		return api.Payment{}, ErrLost
	}
	return p.answer(), nil
}

// Refund pays back once per key. The same key with another amount is refused.
func (e *Engine) Refund(account, paymentID, key string, amountMinor int64) (api.Refund, error) {
	now := e.begin()
	defer e.mu.Unlock()
	p, err := e.find(account, paymentID)
	if err != nil {
		return api.Refund{}, err
	}
	if key == "" || len(key) > api.MaxFieldBytes || amountMinor <= 0 {
		return api.Refund{}, refuse(api.CodeInvalid, "a refund needs a key of at most 128 bytes and a positive amount_minor")
	}
	if e.take(p.account, "refuse_refund", func(f *Faults) *Times { return &f.RefuseRefund }) {
		return api.Refund{}, refuse(api.CodeRefused, "the gateway refuses this refund")
	}
	r := p.refunds[key]
	if r == nil {
		if r, err = e.newRefund(p, key, amountMinor, now); err != nil {
			return api.Refund{}, err
		}
	}
	if r.amountMinor != amountMinor {
		return api.Refund{}, refuse(api.CodeMismatch, "this key refunded another amount; use one key for one refund")
	}
	if e.take(p.account, "lose_refund", func(f *Faults) *Times { return &f.LoseRefund }) {
		return api.Refund{}, ErrLost
	}
	return r.answer(), nil
}

func (e *Engine) newRefund(p *record, key string, amountMinor int64, now time.Time) (*refund, error) {
	if p.status != payment.StatusCompleted {
		return nil, refuse(api.CodeNotCaptured, "nothing was captured, so there is nothing to pay back")
	}
	left := p.capturedMinor - p.refundedMinor(payment.RefundDone) - p.refundedMinor(payment.RefundPending)
	switch {
	case left == 0:
		return nil, refuse(api.CodeRefunded, "everything was paid back under another key")
	case amountMinor > left, len(p.refunds) >= api.MaxRefundKeys:
		return nil, refuse(api.CodeTooMuch, "more than what is left of the captured amount, or too many refunds of one payment")
	}
	r := &refund{key: key, status: payment.RefundPending, amountMinor: amountMinor}
	p.refunds[key] = r
	if ms := e.number(p.account, func(f *Faults) int64 { return f.RefundPendingMS }); ms > 0 {
		e.at(now.Add(time.Duration(ms)*time.Millisecond), timerRefund, p, key)
		return r, nil
	}
	e.finishRefund(p, key, now)
	return r, nil
}

func (e *Engine) finishRefund(p *record, key string, now time.Time) {
	p.refunds[key].status = payment.RefundDone
	e.emit(p, "refund.done", now)
}

// QueryRefund finds a refund by its key.
func (e *Engine) QueryRefund(account, paymentID, key string) (api.Refund, error) {
	e.begin()
	defer e.mu.Unlock()
	p, err := e.find(account, paymentID)
	if err != nil {
		return api.Refund{}, err
	}
	if r := p.refunds[key]; r != nil {
		return r.answer(), nil
	}
	return api.Refund{}, refuse(api.CodeNoRefund, "no refund with this key")
}

func (r *refund) answer() api.Refund {
	return api.Refund{Key: r.key, Status: string(r.status), AmountMinor: r.amountMinor}
}

package engine

import (
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// Action is what a customer does on the pay page.
type Action string

// The actions of a customer.
const (
	// ActPay pays (page) or approves (execute).
	ActPay Action = "pay"
	// ActFail lets the payment fail for good.
	ActFail Action = "fail"
	// ActLate pays so late that the gateway learns of it only after the hold's
	// end, and takes the money even if the session was cancelled or has expired
	// by then: the payment that protocol.md 3.7 is about. On an execute account
	// only the approval is late, and a cancelled payment stays cancelled.
	ActLate Action = "late"
	// ActSlow pays by a method that is pending for a while.
	ActSlow Action = "slow"
	// ActClose leaves without deciding; the payment stays open.
	ActClose Action = "close"
)

// Act does what the customer does. after says how long a late or slow payment
// takes: for ActLate from the hold's end, for ActSlow from now; zero takes the
// account's. Paying twice is harmless; a payment that is over refuses.
func (e *Engine) Act(paymentID string, action Action, after time.Duration) (api.Payment, error) {
	now := e.begin()
	defer e.mu.Unlock()
	p := e.payments[paymentID]
	if p == nil {
		return api.Payment{}, refuse(api.CodeNotFound, "no such payment")
	}
	var err error
	switch action {
	case ActPay:
		err = e.pay(p, now)
	case ActFail:
		err = e.fail(p, now)
	case ActLate:
		err = e.payLate(p, after)
	case ActSlow:
		err = e.paySlowly(p, after, now)
	case ActClose:
	default:
		err = refuse(api.CodeUnknownAction, "use pay, fail, late, slow or close")
	}
	return p.answer(), err
}

func (e *Engine) pay(p *record, now time.Time) error {
	switch {
	case p.status == payment.StatusCompleted, p.status == payment.StatusApproved, p.status == payment.StatusPending, p.latePending:
		return nil
	case p.status.Final():
		return refuse(api.CodeOver, "this payment is "+string(p.status)+"; book again")
	}
	e.agree(p, now)
	return nil
}

// agree is where the customer's consent takes effect: money on a page account,
// an approval on an execute account.
func (e *Engine) agree(p *record, now time.Time) {
	if p.account.Moves == payment.MovesOnPage {
		e.capture(p, now)
		return
	}
	p.status = payment.StatusApproved
	e.emit(p, "payment.approved", now)
}

func (e *Engine) fail(p *record, now time.Time) error {
	if p.status == payment.StatusFailed {
		return nil
	}
	if p.status.Final() || p.latePending {
		return refuse(api.CodeOver, "this payment is paid or over and can't fail any more")
	}
	p.status = payment.StatusFailed
	e.emit(p, "payment.failed", now)
	return nil
}

func (e *Engine) payLate(p *record, after time.Duration) error {
	if p.latePending {
		return nil
	}
	if p.status != payment.StatusOpen {
		return refuse(api.CodeOver, "this payment is "+string(p.status)+"; only an open one can be paid late")
	}
	if after <= 0 {
		after = p.account.LateAfter
	}
	p.latePending = true
	e.at(p.request.ExpiresAt.Add(after), timerLate, p, "")
	return nil
}

func (e *Engine) paySlowly(p *record, after time.Duration, now time.Time) error {
	if p.status == payment.StatusPending {
		return nil
	}
	if p.status != payment.StatusOpen {
		return refuse(api.CodeOver, "this payment is "+string(p.status)+"; only an open one can be paid")
	}
	if after <= 0 {
		after = p.account.SlowFor
	}
	p.status = payment.StatusPending
	e.at(now.Add(after), timerSlow, p, "")
	e.emit(p, "payment.pending", now)
	return nil
}

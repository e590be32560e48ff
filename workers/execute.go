package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
)

// execute takes the money of an approved payment at a gateway where we move it
// (protocol.md 2.2.4). The order is: guard, ask again, commit gate, Execute.
//
//   - The guard lets one caller at a time, so redirect and webhook in the same
//     millisecond execute once. What was asked before the guard may be old, so
//     the gateway is asked again behind it: the other one may have executed and
//     let go in between.
//   - The commit gate comes after the guard, so that an owner's release, which
//     takes the same guard, is either before it (then it finds RELEASED and the
//     money is not taken) or waits (see lifecycle.Steps.Gate).
//   - The guard is let go only when the outcome is known. A lost answer means
//     asking; while the gateway does not say completed, the guard stays until
//     the hold ends, so nobody executes blindly a second time.
func (w *walk) execute(ctx context.Context, gw payment.Gateway, key ledger.PaymentKey, p payment.Payment) error {
	if err := w.follow(ctx, p.Metadata); err != nil {
		return err
	}
	b, ok, err := w.payable(ctx, key, p)
	if err != nil || !ok {
		return err
	}
	if err := lifecycle.CheckPayment(b, gw, p); err != nil {
		w.Alarm(lifecycle.Alarm{Kind: lifecycle.AlarmMismatch, Sale: b.Sale, BookingID: b.ID, Detail: "not executed: " + err.Error()})
		return nil
	}
	until := w.stretch(b)
	holder, taken := lifecycle.GuardHolder(), w.Now()
	granted, err := w.Guard.AcquireExecute(ctx, b.Sale, key.String(), holder, until.Sub(taken))
	if err != nil {
		return fmt.Errorf("workers: take the execute guard of payment %s: %w", key, err)
	}
	if !granted {
		return w.askLater(ctx, key, p, fmt.Errorf("workers: payment %s is being executed by somebody else", key))
	}
	p, known, err := w.executeGuarded(ctx, gw, b, key)
	if known && w.Now().Before(until) { // else the guard has run out by itself
		if err := w.Guard.ReleaseExecute(context.WithoutCancel(ctx), b.Sale, key.String(), holder); err != nil {
			w.log.WarnContext(ctx, "execute guard is left to run out", "payment", key.String(), "err", err)
		}
	}
	if err != nil || p.Status == "" {
		return err
	}
	if p.Status == payment.StatusCompleted {
		return w.captured(ctx, gw, p)
	}
	if p.Status.Final() {
		return nil
	}
	return w.askLater(ctx, key, p, fmt.Errorf("workers: payment %s is %q", key, p.Status))
}

// stretch is until when the commit gate keeps the hold.
func (w *walk) stretch(b ledger.Booking) time.Time {
	until := w.Now().Add(w.control.Plan.Ages.CommitExtend)
	if b.HoldUntil.After(until) {
		return b.HoldUntil
	}
	return until
}

// payable is the held booking whose money may be taken; ok is false if it must
// not be. A booking whose event is still under way is written here, from what
// Redis has (protocol.md 2.2.4): that a payment exists proves that its
// admission was acknowledged (R4), because the payment is created after it.
func (w *walk) payable(ctx context.Context, key ledger.PaymentKey, p payment.Payment) (b ledger.Booking, ok bool, err error) {
	id, err := w.bookingOf(ctx, key, p.Metadata)
	if err != nil {
		return b, false, err
	}
	if id == "" {
		return b, false, w.askLater(ctx, key, p, fmt.Errorf("workers: no booking for approved payment %s", key))
	}
	b, err = w.Store.Booking(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		b, err = w.holdFromRedis(ctx, id, key)
		if errors.Is(err, admission.ErrNotFound) {
			return b, false, w.askLater(ctx, key, p, fmt.Errorf("workers: booking %s is nowhere yet: %w", id, err))
		}
	}
	if err != nil {
		return b, false, fmt.Errorf("workers: booking of approved payment %s: %w", key, err)
	}
	if err := w.use(ctx, b.Sale); err != nil {
		return b, false, err
	}
	if b.State != ledger.Held || b.Payment != key { // expired, or paid or attached with another payment
		w.log.InfoContext(ctx, "money not taken", "booking_id", b.ID, "state", string(b.State), "payment", key.String())
		return b, false, nil
	}
	return b, true, nil
}

// holdFromRedis is T1 on behalf of the booking's own event. It returns the
// booking as the ledger has it then, whatever its state.
func (w *walk) holdFromRedis(ctx context.Context, bookingID string, key ledger.PaymentKey) (ledger.Booking, error) {
	r, err := w.Redis.Record(ctx, w.control.Sale, bookingID)
	if err != nil {
		return ledger.Booking{}, err
	}
	b := lifecycle.BookingFromRecord(w.control.Sale, r)
	if b.Payment.Zero() {
		b.Payment = key
	}
	if !w.control.Frozen {
		if b, err = w.pin(ctx, b, r.Driver); err != nil {
			return b, err
		}
	}
	t, err := ledger.Hold(b, actor, w.Now())
	if err != nil {
		return b, err
	}
	err = w.Write(ctx, t)
	if err == nil {
		return *t.Create, nil
	}
	if f, ok := condition(err); ok && f.Booking != nil {
		return *f.Booking, nil
	}
	return b, err // a conflict is for the booking's own event: no money is taken
}

// executeGuarded runs behind the guard. known: the outcome is known, so the
// guard may go. An empty payment without an error: the money is not taken.
func (w *walk) executeGuarded(ctx context.Context, gw payment.Gateway, b ledger.Booking, key ledger.PaymentKey) (p payment.Payment, known bool, err error) {
	p, err = gw.Query(ctx, key.ID)
	if err != nil {
		return p, true, fmt.Errorf("workers: query payment %s before executing: %w", key, err)
	}
	if p.Status != payment.StatusApproved {
		return p, true, nil
	}
	if ok, err := w.commit(ctx, b, key); err != nil || !ok {
		return payment.Payment{}, true, err
	}
	limited, cancel := context.WithTimeout(ctx, w.control.Plan.Ages.CommitExtend/2)
	defer cancel()
	p, err = gw.Execute(limited, key.ID)
	switch {
	case err == nil:
		return p, p.Status.Final(), nil
	case errors.Is(err, payment.ErrRefused): // a definite no: nothing was moved
		return payment.Payment{}, true, nil
	}
	asked, queryErr := gw.Query(ctx, key.ID)
	if queryErr == nil && asked.Status.Final() {
		return asked, true, nil
	}
	return payment.Payment{}, false, fmt.Errorf("workers: execute of payment %s: outcome unknown: %w", key, err)
}

// commit is the commit gate; ok is false if the booking is not held any more.
func (w *walk) commit(ctx context.Context, b ledger.Booking, key ledger.PaymentKey) (ok bool, err error) {
	for range turns {
		t, err := ledger.Commit(b, key, w.stretch(b), w.Now())
		if err != nil {
			return false, err
		}
		if err = w.Write(ctx, t); err == nil {
			return true, nil
		}
		f, isCondition := condition(err)
		if !isCondition {
			return false, fmt.Errorf("workers: commit gate of booking %s: %w", b.ID, err)
		}
		if f.Booking == nil || f.Booking.State != ledger.Held {
			return false, nil
		}
		b = *f.Booking // still held, but for longer than was read
	}
	return false, errTurns(b.ID)
}

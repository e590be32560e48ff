package workers

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/sale"
)

// late is a payment that meets a released booking: it gets a seat under a new
// booking id or goes back, exactly one of the two, however often and by however
// many workers this runs (protocol.md 3.7). The one conditional write on P
// decides; the steps are numbered as there. P is read first, so that a
// redelivery of something settled touches nothing.
func (w *walk) late(ctx context.Context, b ledger.Booking, m money) error {
	if w.control.Frozen {
		return w.putAside(ctx)
	}
	done, err := w.lateResolved(ctx, b, m) // 1
	if done || err != nil {
		return err
	}
	if err := w.undone(ctx, b); err != nil { // 0: else S1 meets the candidate's own old entry
		return err
	}
	if b.Level == "" || b.Candidate == "" || len(b.Seats) == 0 {
		return w.refundLate(ctx, b, m, "released before its seats were known")
	}
	nb := readmission(b, m) // 2
	back, refusal, err := w.admit(ctx, nb, len(b.Seats), "")
	switch {
	case errors.Is(err, errDead):
		return w.lateDead(ctx, b, nb, m, err)
	case errors.Is(err, errImpossible):
		return w.inbox(ctx, b.Sale, b.ID, m.capture.Key, ReasonReadmit, lifecycle.AlarmReadmit)
	case err != nil:
		return err
	case refusal != "":
		return w.refundLate(ctx, b, m, string(refusal)) // 4
	}
	return w.applyLate(ctx, b, back, m) // 3
}

// readmission is the booking that a late payment asks for: the same candidate,
// level and number of seats (or the same named ones) under the id that every
// redelivery will use. It has no idempotency key: the old booking keeps it.
func readmission(b ledger.Booking, m money) ledger.Booking {
	return ledger.Booking{
		ID: sale.LateBookingID(b.ID), Sale: b.Sale, Candidate: b.Candidate, Level: b.Level, Seats: b.Seats,
		Payment: m.capture.Key, Price: b.Price, EmailHash: b.EmailHash,
	}
}

// lateResolved is step 1: what P says already.
func (w *walk) lateResolved(ctx context.Context, b ledger.Booking, m money) (done bool, err error) {
	p, err := w.Store.Payment(ctx, m.capture.Key)
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("workers: read payment %s: %w", m.capture.Key, err)
	}
	late := sale.LateBookingID(b.ID)
	switch {
	case p.BookingID != b.ID && p.BookingID != late:
		return true, w.foreign(ctx, b.Sale, b.ID, p.Key)
	case p.Resolution == ledger.Open:
		return false, nil
	case p.Resolution == ledger.Applied && p.BookingID == late:
		return true, w.settleLate(ctx, late)
	}
	return true, w.resolved(ctx, b, p)
}

// settleLate repeats S3 of a re-admitted booking: its worker may have died
// before it.
func (w *walk) settleLate(ctx context.Context, bookingID string) error {
	nb, err := w.Store.Booking(ctx, bookingID)
	if err != nil {
		return fmt.Errorf("workers: read late booking %s: %w", bookingID, err)
	}
	if nb.State != ledger.Paid {
		return nil // cancelled by an operator since
	}
	return w.Settle(ctx, nb)
}

// lateDead: the new id was undone lately. If the ledger has released it, an
// earlier try was abandoned and the money goes back. Nobody undoes such an id
// without the ledger (protocol.md 0.1); should somebody have, it is a hiccup and
// no refusal.
func (w *walk) lateDead(ctx context.Context, b, nb ledger.Booking, m money, dead error) error {
	found, err := w.Store.Booking(ctx, nb.ID)
	if errors.Is(err, ledger.ErrNotFound) {
		return dead
	}
	if err != nil {
		return fmt.Errorf("workers: read late booking %s: %w", nb.ID, err)
	}
	if found.State == ledger.Released {
		return w.refundLate(ctx, b, m, "re-admission abandoned")
	}
	return w.lateWon(ctx, b, found, m)
}

// applyLate is step 3: booking, ownership, payment and successor in one write.
func (w *walk) applyLate(ctx context.Context, b, nb ledger.Booking, m money) error {
	t, err := ledger.ApplyLate(nb, b.ID, m.capture, actor, w.Now())
	if err != nil {
		return err
	}
	if err = w.Write(ctx, t); err == nil {
		return w.Settle(ctx, *t.Create)
	}
	f, ok := condition(err)
	if !ok {
		return fmt.Errorf("workers: apply late payment %s: %w", m.capture.Key, err)
	}
	switch ledger.ReadLate(nb, f) {
	case ledger.VerdictDone:
		return w.lateWon(ctx, b, *f.Booking, m)
	case ledger.VerdictReleased:
		if err := w.giveBack(ctx, *f.Booking); err != nil {
			return err
		}
		return w.refundLate(ctx, b, m, "re-admission abandoned")
	case ledger.VerdictConflict:
		if err := w.conflict(ctx, nb, f); err != nil {
			return err
		}
		return w.refundLate(ctx, b, m, "re-admitted seat belongs to another booking")
	case ledger.VerdictResolved:
		if err := w.abandon(ctx, nb); err != nil {
			return err
		}
		_, err := w.lateResolved(ctx, b, m)
		return err
	}
	return fmt.Errorf("workers: late payment %s met a change: again later", m.capture.Key)
}

// lateWon: the new booking is paid. By this payment: done. By another payment of
// the same old booking: there is one seat, so this one goes back.
func (w *walk) lateWon(ctx context.Context, b, nb ledger.Booking, m money) error {
	if nb.Payment == m.capture.Key {
		return w.Settle(ctx, nb)
	}
	return w.refundLate(ctx, b, m, "second payment of a re-admitted booking")
}

// abandon ends a re-admission whose payment was resolved otherwise. That it is
// live means that it won after all; lateResolved sees that.
func (w *walk) abandon(ctx context.Context, nb ledger.Booking) error {
	_, err := w.Withdraw(ctx, nb, ledger.ReasonLateAbandoned, actor, admission.UndoAbort)
	return err
}

// refundLate is step 4. Whoever resolved the payment first was right.
func (w *walk) refundLate(ctx context.Context, b ledger.Booking, m money, why string) error {
	err := w.Write(ctx, ledger.RefundLate(b, m.capture, why, w.Now()))
	if err == nil {
		return w.driveRefund(ctx, m.capture.Key)
	}
	f, ok := condition(err)
	if !ok {
		return fmt.Errorf("workers: mark late payment %s for refund: %w", m.capture.Key, err)
	}
	if f.Payment == nil || f.Payment.Resolution == ledger.Open {
		return fmt.Errorf("workers: late payment %s met a change: again later", m.capture.Key)
	}
	if f.Payment.Resolution == ledger.Applied && f.Payment.BookingID == sale.LateBookingID(b.ID) {
		return w.settleLate(ctx, f.Payment.BookingID)
	}
	return w.resolved(ctx, b, *f.Payment)
}

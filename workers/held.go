package workers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// held is booking.held: T1, then S3 (protocol.md 3.6).
//
// An event older than the sale's generation was admitted by a Redis that is
// lost; the booking is looked for and, if need be, admitted again before T1, so
// that the ledger never holds a seat that Redis does not (R1, 3B.4). While the
// sale is frozen Redis is left alone and the last generation's events go
// straight to the ledger, where C and S decide; older ones wait for the
// unfreeze.
func (w *walk) held(ctx context.Context) error {
	b := lifecycle.BookingFromHeld(w.e)
	if old := w.control.Gen - w.e.Gen; w.control.Frozen && old > 1 {
		return w.putAside(ctx)
	} else if !w.control.Frozen && old > 0 {
		return w.heldBefore(ctx, b)
	}
	return w.hold(ctx, b)
}

// heldBefore is T1 of an event of an older generation.
func (w *walk) heldBefore(ctx context.Context, b ledger.Booking) error {
	_, err := w.Store.Booking(ctx, b.ID)
	if err == nil { // the ledger decided long ago; a new admission would only be undone
		return w.hold(ctx, b)
	}
	if !errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("workers: read booking %s: %w", b.ID, err)
	}
	back, refusal, err := w.lookOrAdmit(ctx, b)
	if errors.Is(err, errDead) && w.meta.ReceiveCount >= w.tries {
		// Undone without the ledger (nobody does: protocol.md 0.1), and the id may be
		// barred for long: it ends here. Whoever pays now is a late payment.
		return w.withdraw(ctx, b, ledger.ReasonStaleGeneration)
	}
	if err != nil {
		return err
	}
	if refusal != "" {
		return w.withdraw(ctx, b, ledger.ReasonStaleGeneration)
	}
	return w.hold(ctx, back)
}

// hold writes T1 and settles, or obeys what was there first.
func (w *walk) hold(ctx context.Context, b ledger.Booking) error {
	for range turns {
		t, err := ledger.Hold(b, actor, w.Now())
		if err != nil {
			return err
		}
		err = w.Write(ctx, t)
		if err == nil {
			w.recall.wrote(*t.Create, w.Now())
			return w.Settle(ctx, *t.Create)
		}
		f, ok := condition(err)
		if !ok {
			return fmt.Errorf("workers: hold booking %s: %w", b.ID, err)
		}
		switch ledger.ReadHold(b, f) {
		case ledger.VerdictAgain:
			continue
		case ledger.VerdictDone:
			return w.Settle(ctx, *f.Booking)
		case ledger.VerdictReleased: // R3: the event is dropped, the undo repeated
			return w.giveBack(ctx, *f.Booking)
		case ledger.VerdictResolved:
			return w.holdResolved(ctx, b, *f.Payment)
		case ledger.VerdictForeign:
			return w.holdForeign(ctx, b, *f.Payment)
		case ledger.VerdictConflict:
			return w.holdConflict(ctx, b, f)
		}
	}
	return errTurns(b.ID)
}

// holdResolved: the payment was resolved before the booking came.
func (w *walk) holdResolved(ctx context.Context, b ledger.Booking, p ledger.PaymentRecord) error {
	if err := w.withdraw(ctx, b, ledger.ReasonPaymentResolved); err != nil {
		return err
	}
	return w.resolved(ctx, b, p)
}

// holdForeign: one payment id, two bookings. The payment stays whose it is.
func (w *walk) holdForeign(ctx context.Context, b ledger.Booking, p ledger.PaymentRecord) error {
	if err := w.withdraw(ctx, b, ledger.ReasonConflict); err != nil {
		return err
	}
	return w.foreign(ctx, b.Sale, b.ID, p.Key)
}

// holdConflict: candidate or seat belong to another booking, which takes lost
// Redis data or a bug. The newcomer goes; the gate sees to it that a page can't
// be paid any more, and reports what was captured already (protocol.md 3.3).
func (w *walk) holdConflict(ctx context.Context, b ledger.Booking, f ledger.Found) error {
	if err := w.conflict(ctx, b, f); err != nil {
		return err
	}
	_, err := w.ReportCapture(ctx, b)
	if err != nil { // a hint lost: whoever pays now is found as a late payment
		w.log.WarnContext(ctx, "payment of a conflicted booking not asked for", "booking_id", b.ID, "err", err)
	}
	return nil
}

// conflict withdraws b, alarms, and puts the other booking back into Redis if
// it is proved lost there: that is how such a conflict comes about (protocol.md
// 3.8.5b, scenario 11).
func (w *walk) conflict(ctx context.Context, b ledger.Booking, f ledger.Found) error {
	rivals := rivalsOf(b, f)
	for _, other := range rivals {
		w.Alarm(lifecycle.Alarm{Kind: lifecycle.AlarmConflict, Sale: b.Sale, BookingID: b.ID,
			Detail: "its candidate or seat belongs to booking " + other})
	}
	if err := w.withdraw(ctx, b, ledger.ReasonConflict); err != nil {
		return err
	}
	for _, other := range rivals {
		if _, err := w.RestoreLost(ctx, other); err != nil { // the diff tries again
			w.log.WarnContext(ctx, "the other booking of a conflict was not restored", "booking_id", other, "err", err)
		}
	}
	return nil
}

// rivalsOf are the bookings that own what b wants, each once, in the order of their
// ids: the same conflict is settled the same way each time.
func rivalsOf(b ledger.Booking, f ledger.Found) []string {
	list := append(slices.Collect(maps.Values(f.Seats)), f.Candidate)
	list = slices.DeleteFunc(list, func(id string) bool { return id == "" || id == b.ID })
	slices.Sort(list)
	return slices.Compact(list)
}

// withdraw is T4, S2, T5. That another worker has made the booking live
// meanwhile is an error: the redelivery finds it so.
func (w *walk) withdraw(ctx context.Context, b ledger.Booking, why ledger.Reason) error {
	out, err := w.Withdraw(ctx, b, why, actor, admission.UndoRelease)
	if err != nil {
		return err
	}
	if out == lifecycle.WithdrawLive {
		return fmt.Errorf("workers: booking %s has become live: again later", b.ID)
	}
	return nil
}

// giveBack repeats the undo of a released booking. While the sale is frozen
// Redis is left alone: its rebuild admits only what is live.
func (w *walk) giveBack(ctx context.Context, b ledger.Booking) error {
	err := w.GiveBackOrOwe(ctx, b)
	if errors.Is(err, lifecycle.ErrFrozen) {
		return nil
	}
	return err
}

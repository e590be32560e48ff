package booking

import (
	"context"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// A driver that fails is not always the only one: its candidate's retry may have
// taken the booking over, or found it attached and sent its event (protocol.md
// 3.5, Resume), and been told that it has the seat. So a driver ends only what is
// still its own and has no payment; it writes no tombstone at all, because between
// any look of its own and the tombstone a retry may have been promised the seat.

// forsake ends a booking for which this driver has no payment: S2 quick, which
// takes only what is un-attached and has this driver's number. Nothing was sent,
// so the ledger has nothing that a tombstone could stop. Who has taken a booking
// over leaves it alone: stage A proves nothing to it, a failover may have lost
// the attach of a driver whose event is out (docs/model.md, M15b). It stays
// pending for the next retry, or the reaper.
func (w *drive) forsake(ctx context.Context, why ledger.Reason) (goneOn bool) {
	if w.resumed {
		return false
	}
	u, err := w.undoQuickly(ctx, w.ans.Driver)
	switch {
	case err != nil:
		w.Observe.Withdrawn(w.r.Sale, why, 0, err)
		return false
	case u.Outcome == admission.Superseded || u.Outcome == admission.Armed:
		w.Log.InfoContext(ctx, "driver stops: the booking has gone on without it", "sale", w.r.Sale, "booking_id", w.r.BookingID, "outcome", int(u.Outcome))
		w.Observe.Withdrawn(w.r.Sale, why, lifecycle.WithdrawLive, nil)
		return true
	}
	w.Observe.Withdrawn(w.r.Sale, why, lifecycle.Withdrawn, nil)
	return false
}

// undoQuickly is S2 quick as the driver of this number. It bars the id, whatever
// became of the admission. Seats that came from a soft hold go back to it: its
// owner chose them, and may try again.
func (w *drive) undoQuickly(ctx context.Context, driver int) (admission.UndoAnswer, error) {
	ctx, cancel := cleanup(ctx)
	defer cancel()
	u, err := w.Admission.Undo(ctx, admission.Undo{Sale: w.r.Sale, BookingID: w.r.BookingID, Candidate: w.r.Candidate,
		Level: w.r.Level, Mode: admission.UndoQuick, Driver: driver, HoldID: w.order.HoldID})
	if err != nil {
		w.Log.WarnContext(ctx, "quick undo failed: the reaper will do it", "sale", w.r.Sale, "booking_id", w.r.BookingID, "err", err)
		return u, err
	}
	w.changed(u.Version)
	if u.Outcome == admission.Undone || u.Outcome == admission.Gone {
		w.Gates.Undone(w.r.Sale)
	}
	return u, nil
}

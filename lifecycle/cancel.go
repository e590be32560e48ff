package lifecycle

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
)

// Cancel ends a paid booking for an operator and refunds it: T8 in one
// transaction (3B.2), then S2, T5 and the refund. What fails after T8 is owed
// by the ledger and done by the sweeps, so it is no error. Safe to call again;
// ErrNotPaid if the booking is held, ledger.ErrNotFound if there is none.
func (s *Steps) Cancel(ctx context.Context, bookingID string, actor ledger.Actor) error {
	b, err := s.Store.Booking(ctx, bookingID)
	if err != nil {
		return fmt.Errorf("lifecycle: cancel booking %s: %w", bookingID, err)
	}
	switch b.State {
	case ledger.Held:
		return fmt.Errorf("booking %s: %w", bookingID, ErrNotPaid)
	case ledger.Paid:
		if b, err = s.cancelPaid(ctx, b, actor); err != nil {
			return err
		}
	}
	if b.UndoOwed {
		if err := s.GiveBack(ctx, b); err != nil {
			s.owed(ctx, b, err)
		}
	}
	if b.Payment.Zero() || b.Reason != ledger.ReasonCancelled {
		return nil // released in another way: its payment is not ours to touch
	}
	if err := s.DriveRefund(ctx, b.Payment); err != nil {
		s.log().WarnContext(ctx, "refund stays due", "sale", b.Sale, "booking_id", b.ID, "err", err)
	}
	return nil
}

func (s *Steps) cancelPaid(ctx context.Context, b ledger.Booking, actor ledger.Actor) (ledger.Booking, error) {
	t, err := ledger.Cancel(b, actor, s.Now())
	if err != nil {
		return b, err
	}
	err = s.Write(ctx, t)
	if f, ok := found(err); ok && f.Booking != nil && f.Booking.State == ledger.Released {
		return *f.Booking, nil // another call was faster
	} else if ok {
		s.Alarm(Alarm{AlarmOwnership, b.Sale, b.ID, "paid, but its candidate, a seat or its payment is not its own: it can't be cancelled"})
	}
	if err != nil {
		return b, fmt.Errorf("lifecycle: cancel booking %s: %w", b.ID, err)
	}
	b.State, b.Reason, b.Actor, b.UndoOwed = ledger.Released, ledger.ReasonCancelled, actor, true
	return b, nil
}

package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// WithdrawOutcome is the closed set of answers of a withdrawal.
type WithdrawOutcome int

// The outcomes of a withdrawal.
const (
	// Withdrawn: the tombstone stands and the seats are back.
	Withdrawn WithdrawOutcome = iota + 1
	// WithdrawOwed: the tombstone stands, so the booking is dead for good; Redis
	// still holds its seats and the sweep gives them back (protocol.md 3.8.3).
	WithdrawOwed
	// WithdrawLive: the ledger has the booking as held or paid. Nothing was
	// undone, and nothing may be: it has gone on (protocol.md 3.5 step 5).
	WithdrawLive
)

// Withdraw ends a booking that the ledger may never have seen: T4, and only
// when the tombstone stands S2 with the given mode, then T5 once the replicas
// have acknowledged (protocol.md R3). An error means that it is not known
// whether the tombstone stands: leave everything as it is, or call again. That
// only the undo failed is not an error, it is owed (WithdrawOwed).
func (s *Steps) Withdraw(ctx context.Context, b ledger.Booking, why ledger.Reason, actor ledger.Actor, mode admission.UndoMode) (WithdrawOutcome, error) {
	if mode == admission.UndoQuick {
		return 0, errors.New("lifecycle: a withdrawal undoes by abort or release: quick is for a driver before anything was sent")
	}
	t, err := ledger.Tombstone(b, why, actor, s.Now())
	if err != nil {
		return 0, err
	}
	dead := *t.Create
	if err := s.Write(ctx, t); err != nil {
		f, ok := found(err)
		if !ok || f.Booking == nil {
			return 0, fmt.Errorf("lifecycle: tombstone booking %s: %w", b.ID, err)
		}
		if f.Booking.State.Live() {
			return WithdrawLive, nil
		}
		dead = *f.Booking
	}
	if err := s.undo(ctx, dead, mode); err != nil {
		s.owed(ctx, dead, err)
		return WithdrawOwed, nil
	}
	return Withdrawn, nil
}

// GiveBack gives the seats of a released booking back to Redis: S2, abort if
// the candidate was never told of the booking and release otherwise, then T5
// once the replicas have acknowledged (protocol.md 3.8.3). On an error the undo
// stays owed by the ledger. admission.ErrUnacknowledged means that S2 was done
// and only the acknowledgement is missing.
func (s *Steps) GiveBack(ctx context.Context, b ledger.Booking) error {
	mode := admission.UndoRelease
	if b.Reason.Unanswered() {
		mode = admission.UndoAbort
	}
	return s.undo(ctx, b, mode)
}

func (s *Steps) undo(ctx context.Context, b ledger.Booking, mode admission.UndoMode) error {
	if b.State != ledger.Released {
		return fmt.Errorf("booking %s is %s: %w", b.ID, b.State, ErrNotReleased)
	}
	frozen, err := s.Frozen(ctx, b.Sale)
	if err != nil {
		return err
	}
	if frozen {
		return ErrFrozen
	}
	ans, err := s.Redis.Undo(ctx, admission.Undo{Sale: b.Sale, BookingID: b.ID, Candidate: b.Candidate, Level: b.Level, Mode: mode})
	if err != nil {
		return fmt.Errorf("lifecycle: undo booking %s: %w", b.ID, err)
	}
	s.Notify(b.Sale, ans.Version)
	if ans.Outcome != admission.Undone && ans.Outcome != admission.Gone {
		return fmt.Errorf("lifecycle: undo booking %s: unexpected outcome %d", b.ID, ans.Outcome)
	}
	if !ans.Acknowledged {
		return fmt.Errorf("lifecycle: undo booking %s: %w", b.ID, admission.ErrUnacknowledged)
	}
	t, err := ledger.UndoDone(b, s.Now())
	if err != nil {
		return err
	}
	if err := s.Write(ctx, t); err != nil {
		return fmt.Errorf("lifecycle: note that booking %s is undone: %w", b.ID, err)
	}
	return nil
}

// GiveBackOrOwe gives the seats back, or leaves that to the sweep if the ledger
// owes it. An error means that nobody would do it.
func (s *Steps) GiveBackOrOwe(ctx context.Context, b ledger.Booking) error {
	err := s.GiveBack(ctx, b)
	if err != nil && b.State == ledger.Released && b.UndoOwed {
		s.owed(ctx, b, err)
		return nil
	}
	return err
}

func (s *Steps) owed(ctx context.Context, b ledger.Booking, err error) {
	s.log().WarnContext(ctx, "undo stays owed", "sale", b.Sale, "booking_id", b.ID, "reason", b.Reason, "err", err)
}

// Settle tells Redis that the ledger knows the booking: its pending entry goes,
// and a paid one reaches stage P (protocol.md S3). Only for a booking as the
// ledger has it. While the sale is frozen Redis is left alone and nothing is
// lost: the rebuild seeds Redis from the ledger.
func (s *Steps) Settle(ctx context.Context, b ledger.Booking) error {
	frozen, err := s.Frozen(ctx, b.Sale)
	if err != nil || frozen {
		return err
	}
	if _, err := s.Redis.Settle(ctx, b.Sale, b.ID, b.Candidate, b.State == ledger.Paid); err != nil {
		return fmt.Errorf("lifecycle: settle booking %s: %w", b.ID, err)
	}
	if b.State == ledger.Paid { // the last held seat of a full level may have been this one
		s.Notify(b.Sale, 1)
	}
	return nil
}

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// ReleaseOutcome is the closed set of answers of Release, ReleaseUnheld and Expire.
type ReleaseOutcome int

// The outcomes of a release.
const (
	// Released: it is released. Its seats are back, or their undo is owed.
	Released ReleaseOutcome = iota + 1
	// AlreadyReleased: somebody was faster; an owed undo was tried once more.
	AlreadyReleased
	// AlreadyPaid: the payment was faster and wins.
	AlreadyPaid
	// Postponed: the gateway can't say, or the customer is just paying: later.
	Postponed
	// NotDue: (Expire) the hold has not ended by the cut.
	NotDue
	// StillHeld: (ReleaseUnheld) the ledger has the booking as held meanwhile, so
	// it is no orphan; Redis was told.
	StillHeld
)

const actorReaper ledger.Actor = "reaper"

// Who asked the gateway, in payment.captured.
const (
	askedByReaper = "reaper"
	askedByGate   = "release"
)

// Release gives a held booking back for its owner or an operator: the release
// gate, T3', S2, T5 (protocol.md 3.3 T3', section 4). A payment that was faster
// wins: it is queued as payment.captured and the answer is AlreadyPaid. A
// booking that the ledger does not have is ledger.ErrNotFound: see
// ReleaseUnheld. Safe to call again.
func (s *Steps) Release(ctx context.Context, bookingID string, why ledger.Reason, actor ledger.Actor) (ReleaseOutcome, error) {
	b, err := s.Store.Booking(ctx, bookingID)
	if err != nil {
		return 0, fmt.Errorf("lifecycle: release booking %s: %w", bookingID, err)
	}
	if b.State != ledger.Held {
		return s.settled(ctx, b)
	}
	ans, done, err := s.gate(ctx, b.Sale, b.Payment)
	defer done() // the guard is kept until T3' is decided: see Gate
	if err != nil {
		return 0, err
	}
	if out, err := s.passed(ctx, b, ans, askedByGate); out != 0 || err != nil {
		return out, err
	}
	if ans.Payment.Status == payment.StatusApproved { // the worker is about to execute: see Gate
		return Postponed, nil
	}
	t, err := ledger.Release(b, why, actor, s.Now())
	if err != nil {
		return 0, err
	}
	return s.release(ctx, b, t)
}

// ReleaseUnheld ends a booking that Redis has and the ledger has not: an owner
// who gives it back before its event was written, or an orphan in the pending
// set (protocol.md 3.8.1). The release gate if a payment is attached, then T4,
// S2, T5. The mode is abort if why says that the candidate was never told. A
// customer who has agreed to pay is waited for as in Expire.
func (s *Steps) ReleaseUnheld(ctx context.Context, b ledger.Booking, why ledger.Reason, actor ledger.Actor) (ReleaseOutcome, error) {
	ans, done, err := s.gate(ctx, b.Sale, b.Payment)
	defer done()
	if err != nil {
		return 0, err
	}
	if out, err := s.passed(ctx, b, ans, askedByOf(actor)); out != 0 || err != nil {
		return out, err
	}
	if ans.Payment.Status == payment.StatusApproved {
		if postponed, err := s.remindUnheld(ctx, b); postponed || err != nil {
			return Postponed, err
		}
	}
	mode := admission.UndoRelease
	if why.Unanswered() {
		mode = admission.UndoAbort
	}
	out, err := s.Withdraw(ctx, b, why, actor, mode)
	if err != nil {
		return 0, err
	}
	if out != WithdrawLive {
		return Released, nil
	}
	live, err := s.Store.Booking(ctx, b.ID)
	if err != nil {
		return 0, fmt.Errorf("lifecycle: read live booking %s: %w", b.ID, err)
	}
	if live.State != ledger.Held {
		return s.settled(ctx, live)
	}
	return StillHeld, s.Settle(ctx, live)
}

// Expire is the reaper's release of a hold that ended at or before cut: the
// release gate, T3, S2, T5 (protocol.md 3.8.2). While the gateway can't say,
// the hold is put off by the sale's GateExtend, five times at most; after that
// every call alarms and the hold stays (protocol.md 2.2.5). It is put off as
// often for a customer who has agreed to pay and whose money nobody has taken
// yet (see remind). Safe to call again and by any number at once.
func (s *Steps) Expire(ctx context.Context, bookingID string, cut time.Time) (ReleaseOutcome, error) {
	b, err := s.Store.Booking(ctx, bookingID)
	if err != nil {
		return 0, fmt.Errorf("lifecycle: expire booking %s: %w", bookingID, err)
	}
	if b.State != ledger.Held {
		return s.settled(ctx, b)
	}
	if b.HoldUntil.After(cut) {
		return NotDue, nil
	}
	ans, done, err := s.gate(ctx, b.Sale, b.Payment)
	defer done()
	if err != nil {
		return 0, err
	}
	if ans.Verdict == GateUnknown {
		return Postponed, s.putOff(ctx, b, ans.Cause)
	}
	if ans.Payment.Status == payment.StatusApproved && !b.Paying && b.ReleaseAsks < sale.GateExtendTimes {
		return Postponed, s.remind(ctx, b)
	}
	if out, err := s.passed(ctx, b, ans, askedByReaper); out != 0 || err != nil {
		return out, err
	}
	t, err := ledger.Expire(b, cut, actorReaper, s.Now())
	if err != nil {
		return 0, err
	}
	return s.release(ctx, b, t)
}

// passed turns the gate's answer into an outcome; 0 means: go on and release.
func (s *Steps) passed(ctx context.Context, b ledger.Booking, ans GateAnswer, askedBy string) (ReleaseOutcome, error) {
	switch ans.Verdict {
	case GateUnpaid:
		return 0, nil
	case GateCaptured:
		back, err := s.goesBack(ctx, b.Payment)
		if err != nil || back {
			return 0, err
		}
		return AlreadyPaid, s.publishCaptured(ctx, b, ans.Payment, askedBy)
	}
	s.log().InfoContext(ctx, "release postponed", "sale", b.Sale, "booking_id", b.ID, "err", ans.Cause)
	return Postponed, nil
}

// goesBack says whether the captured payment is refunded or about to be. That is
// for good (P leaves REFUND never), so it pays no booking any more, and a booking
// that waits for it would hold its seat for ever: a re-admission that lost to a
// refund, or a hold whose payment was in review.
func (s *Steps) goesBack(ctx context.Context, key ledger.PaymentKey) (bool, error) {
	p, err := s.Store.Payment(ctx, key)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return false, fmt.Errorf("lifecycle: read payment %s: %w", key, err)
	}
	return err == nil && p.Resolution == ledger.Refund, nil
}

// release writes T3 or T3' and gives the seats back.
func (s *Steps) release(ctx context.Context, b ledger.Booking, t ledger.Transition) (ReleaseOutcome, error) {
	if err := s.Write(ctx, t); err != nil {
		f, ok := found(err)
		if !ok || f.Booking == nil {
			return 0, fmt.Errorf("lifecycle: release booking %s: %w", b.ID, err)
		}
		return s.outrun(ctx, *f.Booking, t)
	}
	freed := b
	freed.State, freed.Reason, freed.UndoOwed = ledger.Released, t.Update.Reason, true
	return Released, s.GiveBackOrOwe(ctx, freed)
}

// outrun reads a failed T3 or T3'.
func (s *Steps) outrun(ctx context.Context, b ledger.Booking, t ledger.Transition) (ReleaseOutcome, error) {
	if b.State != ledger.Held {
		return s.settled(ctx, b)
	}
	if until := t.Update.HeldUntil; !until.IsZero() && b.HoldUntil.After(until) {
		return Postponed, nil // stretched meanwhile: a commit gate or another reaper's question
	}
	s.Alarm(Alarm{AlarmOwnership, b.Sale, b.ID, "held, but its candidate or a seat is not its own: it can't be released"})
	return 0, fmt.Errorf("lifecycle: booking %s does not own its candidate and seats: run the audit", b.ID)
}

// settled answers for a booking that is not held any more.
func (s *Steps) settled(ctx context.Context, b ledger.Booking) (ReleaseOutcome, error) {
	if b.State == ledger.Paid {
		return AlreadyPaid, s.Settle(ctx, b)
	}
	if b.UndoOwed {
		return AlreadyReleased, s.GiveBackOrOwe(ctx, b)
	}
	return AlreadyReleased, nil
}

// askedByOf names who asked the gateway, for the event.
func askedByOf(actor ledger.Actor) string {
	if actor == actorReaper {
		return askedByReaper
	}
	return askedByGate
}

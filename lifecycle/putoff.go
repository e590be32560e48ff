package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// putOff asks again later, or pages (protocol.md 2.2.5).
func (s *Steps) putOff(ctx context.Context, b ledger.Booking, cause error) error {
	if b.ReleaseAsks >= sale.GateExtendTimes {
		s.Alarm(Alarm{AlarmGateUnknown, b.Sale, b.ID, fmt.Sprintf("asked %d times: %v", b.ReleaseAsks, cause)})
		return nil
	}
	return s.askAgain(ctx, b)
}

// sourceReaper is where a notice comes from that no gateway has sent.
const sourceReaper = "reaper"

// remind queues a payment.notified for a due hold whose customer has agreed to
// pay at a gateway where we move the money, and puts the hold off so that a
// worker can take it. The customer has done everything in time; that nothing was
// executed is our fault: the webhook was dropped, or a worker died with the
// execute guard. At a gateway that moves the money itself the reaper finds such
// a payment completed; this is the same promise. It is bounded as the unknown
// answers are (GateExtendTimes), after that the hold is released unpaid: what
// can't be executed for so long (a wrong amount) never will be. Not for a booking
// whose money may have been moved already (Paying): an execute is never tried a
// second time; if the first one works after all, the payment is a late one.
func (s *Steps) remind(ctx context.Context, b ledger.Booking) error {
	if err := s.notifyApproved(ctx, b); err != nil {
		return err
	}
	return s.askAgain(ctx, b)
}

// remindUnheld is remind for a booking whose event is lost or late. There is no
// hold in the ledger to put off, so the bound is its age; the worker writes the
// hold itself, behind the commit gate (protocol.md 2.2.4).
func (s *Steps) remindUnheld(ctx context.Context, b ledger.Booking) (postponed bool, err error) {
	c, err := s.Controls.Control(ctx, b.Sale)
	if err != nil {
		return false, fmt.Errorf("lifecycle: read the control item of sale %s: %w", b.Sale, err)
	}
	ages := c.Plan.Ages
	if s.Now().Sub(b.AdmittedAt) > ages.AttachedMax+sale.GateExtendTimes*ages.GateExtend {
		return false, nil
	}
	return true, s.notifyApproved(ctx, b)
}

// notifyApproved queues the reminder.
func (s *Steps) notifyApproved(ctx context.Context, b ledger.Booking) error {
	e := events.Event{
		Version: events.Version, Type: events.PaymentNotified, Sale: b.Sale, Candidate: b.Candidate,
		BookingID: b.ID, Gen: b.Gen, At: s.Now().UTC(),
		Notice: &events.Notice{
			Gateway: b.Payment.Gateway, PaymentID: b.Payment.ID, Source: sourceReaper,
			// One for each time that the hold ends: the queue must not take the
			// next reminder for a repeat of this one.
			EventID: fmt.Sprintf("approved:%s:%d", b.Payment.ID, b.HoldUntil.UnixMilli()),
		},
	}
	if err := s.Publish.Publish(ctx, e); err != nil {
		return fmt.Errorf("lifecycle: queue approved payment %s of booking %s: %w", b.Payment, b.ID, err)
	}
	return nil
}

// askAgain puts the hold off by GateExtend and counts it.
func (s *Steps) askAgain(ctx context.Context, b ledger.Booking) error {
	c, err := s.Controls.Control(ctx, b.Sale)
	if err != nil {
		return fmt.Errorf("lifecycle: read the control item of sale %s: %w", b.Sale, err)
	}
	t, err := ledger.AskAgain(b, s.Now().Add(c.Plan.Ages.GateExtend), actorReaper, s.Now())
	if err != nil {
		return err
	}
	var condition *ledger.ConditionError
	if err := s.Write(ctx, t); err != nil && !errors.As(err, &condition) {
		return fmt.Errorf("lifecycle: put off the hold of booking %s: %w", b.ID, err)
	}
	return nil // a failed condition: somebody else put it off or ended it
}

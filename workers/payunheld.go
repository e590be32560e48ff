package workers

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// payUnheld is T2': the payment came, the booking's own event did not. It looks
// into Redis first, so that the ledger never holds a seat that Redis does not:
// present, go on; absent, admit again under the same id (protocol.md 3.6,
// 3B.4). While the sale is frozen only what Redis still knows is written, and
// the rest waits.
func (w *walk) payUnheld(ctx context.Context, bookingID string, m money) (again bool, err error) {
	ev, err := w.evidenceOf(ctx, bookingID, m.capture, m.payment.Metadata)
	switch {
	case w.control.Frozen && err != nil, w.control.Frozen && !ev.inRedis:
		return false, w.putAside(ctx)
	case errors.Is(err, errNoEvidence):
		return false, w.unattached(ctx, bookingID, m)
	case err != nil:
		return false, err
	}
	b := ev.booking
	switch outcome, err := w.review(ctx, b, m); {
	case err != nil || outcome == inReview:
		return false, err
	case outcome == resolvedBefore: // no payment is left for the booking (protocol.md 3.3)
		if err := w.withdraw(ctx, b, ledger.ReasonPaymentResolved); err != nil {
			return false, err
		}
		return false, w.resumeResolved(ctx, b, m)
	}
	switch {
	case ev.inRedis && !w.control.Frozen:
		if b, err = w.pin(ctx, b, ev.driver); err != nil {
			return false, err
		}
	case !ev.inRedis:
		back, refusal, err := w.admitUnheld(ctx, ev)
		if errors.Is(err, errImpossible) {
			return false, w.unattached(ctx, bookingID, m)
		}
		if err != nil {
			return false, err
		}
		if refusal != "" { // the tombstone first, then the payment is a late one without a seat
			return true, w.withdraw(ctx, b, ledger.ReasonReadmitRefused)
		}
		b = back
	}
	return w.confirmUnheld(ctx, b, m)
}

// admitUnheld admits a booking that only its payment proves. An id that was
// undone lately can't come back; the payment then is a late one (3.7).
func (w *walk) admitUnheld(ctx context.Context, ev evidence) (ledger.Booking, refusal, error) {
	b, why, err := w.admit(ctx, ev.booking, ev.count, admission.ProvenRoster)
	if errors.Is(err, errDead) {
		return b, refusal("not re-admitted: dead"), nil
	}
	return b, why, err
}

// confirmUnheld writes T2' or obeys what was there first.
func (w *walk) confirmUnheld(ctx context.Context, b ledger.Booking, m money) (again bool, err error) {
	t, err := ledger.ConfirmUnheld(b, m.capture, actor, w.Now())
	if err != nil {
		return false, err
	}
	if err = w.Write(ctx, t); err == nil {
		return false, w.Settle(ctx, *t.Create)
	}
	f, ok := condition(err)
	if !ok {
		return false, fmt.Errorf("workers: confirm booking %s without its hold: %w", b.ID, err)
	}
	switch ledger.ReadPayUnheld(b, m.capture.Key, f) {
	case ledger.VerdictResolved:
		if err := w.withdraw(ctx, b, ledger.ReasonPaymentResolved); err != nil {
			return false, err
		}
		return false, w.resolved(ctx, b, *f.Payment)
	case ledger.VerdictForeign:
		if err := w.withdraw(ctx, b, ledger.ReasonConflict); err != nil {
			return false, err
		}
		return false, w.foreign(ctx, b.Sale, b.ID, m.capture.Key)
	case ledger.VerdictConflict: // tombstoned; the next turn reads RELEASED and goes the late way
		return true, w.conflict(ctx, b, f)
	}
	return true, nil // held, paid or released meanwhile
}

package lifecycletest

import (
	"errors"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// Reap is one sweep of the healers of protocol.md 3.8, without breaker: pending,
// holds, owed undos, refunds. cut is when a hold must have ended to be due;
// older is the age at which pending entries are looked into.
func (w *World) Reap(cut time.Time, older time.Duration) error {
	ctx := w.T.Context()
	var ids []admission.Pending
	var holds, undos []string
	var refunds []ledger.PaymentKey
	errs := []error{
		w.Redis.ScanPending(ctx, Sale, func(p admission.Pending) error {
			if p.Age >= older {
				ids = append(ids, p)
			}
			return nil
		}),
		w.Store.DueHolds(ctx, Sale, cut, func(id string) error { holds = append(holds, id); return nil }),
		w.Store.OwedUndos(ctx, Sale, func(id string) error { undos = append(undos, id); return nil }),
		w.Store.DueRefunds(ctx, Sale, func(k ledger.PaymentKey) error { refunds = append(refunds, k); return nil }),
	}
	for _, p := range ids {
		errs = append(errs, w.reapPending(p))
	}
	for _, id := range holds {
		_, err := w.Steps.Expire(ctx, id, cut)
		errs = append(errs, err)
	}
	for _, id := range undos {
		b, err := w.Store.Booking(ctx, id)
		if err == nil {
			err = w.Steps.GiveBack(ctx, b)
		}
		errs = append(errs, err)
	}
	for _, k := range refunds {
		errs = append(errs, w.Steps.DriveRefund(ctx, k))
	}
	return errors.Join(errs...)
}

func (w *World) reapPending(p admission.Pending) error {
	ctx := w.T.Context()
	r, err := w.Redis.Record(ctx, Sale, p.BookingID)
	if errors.Is(err, admission.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	why := ledger.ReasonOrphan
	if r.PaymentID == "" {
		why = ledger.ReasonUnattached
	}
	_, err = w.Steps.ReleaseUnheld(ctx, lifecycle.BookingFromRecord(Sale, r), why, "reaper")
	return err
}

// Restore is the part of the diff that puts live bookings back into Redis after
// it has lost acknowledged data (protocol.md 3.8.5b). Never call it where R1 is
// to be proved: it would hide what is lost.
func (w *World) Restore() {
	w.T.Helper()
	var live []string
	w.must(w.Store.Scan(w.T.Context(), Sale, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if b.State.Live() {
			live = append(live, b.ID)
		}
		return nil
	}}))
	for _, id := range live {
		_, err := w.Steps.RestoreLost(w.T.Context(), id)
		w.must(err)
	}
}

package booking

import (
	"context"

	"github.com/holdfast/holdfast/admission"
)

// resume goes on with a booking whose driver has fallen silent between
// admission and attach (protocol.md 3.5, Resume): the driver number rises,
// acknowledged, so that the old driver can neither attach nor undo any more;
// then payment (the same key, so the same payment), attach and event as ever.
// Any other outcome is what a retry hears without resume.
func (w *drive) resume(ctx context.Context, bookingID string) Answer {
	if w.Resume == nil {
		return w.later(InProgress)
	}
	a, err := w.Resume.Resume(ctx, w.r.Sale, bookingID, w.r.Key, w.r.InputHash, w.ResumeAfter)
	if err != nil {
		w.Log.WarnContext(ctx, "resume failed", "sale", w.r.Sale, "booking_id", bookingID, "err", err)
		return w.unavailable()
	}
	if a.Outcome != admission.Resumed || a.Record == nil {
		return w.later(InProgress)
	}
	r := a.Record
	w.r.BookingID, w.r.Level, w.r.Gen = bookingID, r.Level, r.Gen
	w.r.AmountMinor, w.r.Currency = r.AmountMinor, r.Currency // as it was promised, whatever the plan says now
	w.ans = admission.Answer{Outcome: admission.Admitted, BookingID: bookingID, Tokens: r.Tokens, Stage: r.Stage, Driver: r.Driver,
		AdmittedAt: r.AdmittedAt, HoldUntil: r.HoldUntil}
	w.resumed = true
	w.Log.InfoContext(ctx, "a silent driver is taken over", "sale", w.r.Sale, "booking_id", bookingID, "driver", r.Driver)
	return w.pay(ctx)
}

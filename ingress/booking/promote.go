package booking

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// ask is the script of step 2: an admission, or the promotion of a soft hold
// (protocol.md 3.4 S1, S8). What only expired soft holds are in the way of is
// asked for once more after they are gone: admissions free those of their own
// level, but neither the total that holds of other levels use up, nor the
// candidate's own hold in another level (protocol.md 3.5, DUP at stage S).
func (w *drive) ask(ctx context.Context) (admission.Answer, error) {
	if w.order.HoldID != "" {
		return w.promote(ctx)
	}
	a, err := w.Admit.Admit(ctx, w.r)
	if err != nil || w.Soft == nil || !w.mayBeExpired(a) || !w.lapse(ctx, a) {
		return a, err
	}
	return w.Admit.Admit(ctx, w.r)
}

// promote books the seats of the order's hold. Seats and price are the hold's.
func (w *drive) promote(ctx context.Context) (admission.Answer, error) {
	if w.Soft == nil {
		return admission.Answer{Outcome: admission.HoldGone, BookingID: w.r.BookingID}, nil
	}
	a, err := w.Soft.Promote(ctx, w.r, w.order.HoldID)
	if r := a.Record; err == nil && r != nil && (a.Outcome == admission.Admitted || a.Outcome == admission.Replayed) {
		w.r.Level, w.r.Seats, w.r.AmountMinor, w.r.Currency = r.Level, r.Tokens, r.AmountMinor, r.Currency
	}
	return a, err
}

// mayBeExpired says whether the answer may be due to holds past their deadline.
// By which clock they are past it, the script decides.
func (w *drive) mayBeExpired(a admission.Answer) bool {
	switch a.Outcome {
	case admission.SoldOut:
		return true
	case admission.Duplicate:
		return a.Stage == admission.StageSoft && a.Level != w.r.Level
	}
	return false
}

// Bounds of what one request frees for its own sake.
const (
	lapsePage  = 500
	lapsePages = 4
)

// lapse frees expired holds of seated levels; true if there were any.
func (w *drive) lapse(ctx context.Context, a admission.Answer) bool {
	freed := 0
	for _, l := range w.plan.Sale.Levels {
		if l.Kind != sale.KindSeated || a.Outcome == admission.Duplicate && l.Name != a.Level {
			continue
		}
		for range lapsePages {
			n, version, err := w.Soft.Lapse(ctx, w.r.Sale, l.Name, lapsePage)
			if err != nil { // the answer stands
				w.Log.WarnContext(ctx, "expired holds are not freed", "sale", w.r.Sale, "level", l.Name, "err", err)
				break
			}
			w.changed(version)
			if freed += n; n < lapsePage {
				break
			}
		}
	}
	if freed > 0 {
		w.Gates.Undone(w.r.Sale)
	}
	return freed > 0
}

// LapseAll frees expired holds of every seated level; true if there were any.
func (d *Driver) LapseAll(ctx context.Context, p *Plan) bool {
	w := &drive{Driver: d, plan: p, r: admission.Request{Sale: p.Sale.ID}}
	return w.lapse(ctx, admission.Answer{Outcome: admission.SoldOut})
}

// ReleaseHold gives a soft hold's seats back. It can't touch a booking: a
// promotion gives the seats another id (protocol.md 3.4 S8). Safe to repeat.
func (d *Driver) ReleaseHold(ctx context.Context, p *Plan, hold admission.Record) error {
	u, err := d.Admission.Undo(ctx, admission.Undo{Sale: p.Sale.ID, BookingID: hold.BookingID, Candidate: hold.Candidate, Level: hold.Level,
		Mode: admission.UndoQuick, Driver: 1})
	if err != nil {
		return fmt.Errorf("booking: release hold in sale %s: %w", p.Sale.ID, err)
	}
	if u.Version > 0 {
		d.Status.Changed(p.Sale.ID, u.Version)
	}
	d.Gates.Undone(p.Sale.ID)
	return nil
}

package booking

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/lifecycle"
)

// When a refused caller should come back, before jitter.
const (
	retryUnavailable = 2 * time.Second
	retryInProgress  = 2 * time.Second
	retryClosed      = time.Minute // the sale has closed, or nobody knows when it opens
)

// decided answers for an admission that took no seat now (the two tables of
// protocol.md 3.5). Nothing in it reads the ledger.
func (w *drive) decided(ctx context.Context, a admission.Answer) Answer {
	switch a.Outcome {
	case admission.Same:
		return w.same(ctx, a)
	case admission.Duplicate:
		return w.duplicate(ctx, a)
	case admission.Corrupt:
		w.Log.ErrorContext(ctx, "conservation does not hold: run the audit", "sale", w.r.Sale, "level", w.r.Level)
	}
	return w.refusal(w.plan, w.r, a)
}

// refusal answers for outcomes that need no further look.
func (d *Driver) refusal(p *Plan, r admission.Request, a admission.Answer) Answer {
	switch a.Outcome {
	case admission.Mismatch:
		return refused(IdempotencyMismatch)
	case admission.Released: // same input: the level is the request's own
		return Answer{Verdict: Repeated, BookingID: a.BookingID, State: Released, Level: r.Level}
	case admission.UnknownCode:
		return refused(InvalidCode)
	case admission.EmailMismatch:
		return refused(EmailMismatch)
	case admission.NotAllowed:
		return refused(LevelNotAllowed)
	case admission.Closed:
		return d.closed(p, a.OpensAt)
	case admission.LevelFull:
		return refused(LevelFull)
	case admission.SoldOut:
		return refused(SoldOut)
	case admission.Taken:
		return Answer{Verdict: SeatTaken, TakenSeat: a.TakenSeat}
	case admission.HoldGone:
		return refused(HoldGone)
	case admission.UnknownLevel, admission.BadArgument:
		return refused(InvalidRequest)
	}
	return d.unavailable() // StaleGen, Dead, Corrupt, and what this build does not know
}

// closed says when the sale opens, if that is still to come.
func (d *Driver) closed(p *Plan, opensAt time.Time) Answer {
	if opensAt.IsZero() {
		opensAt = p.Sale.OpensAt
	}
	a := Answer{Verdict: Closed, OpensAt: opensAt, RetryAfter: jitter(retryClosed)}
	if left := opensAt.Sub(d.Now().Add(p.ClockAhead)); left > 0 {
		a.RetryAfter = left + jitter(time.Second)
	} else if !p.Sale.ClosesAt.After(d.Now().Add(p.ClockAhead)) {
		a.OpensAt = time.Time{}
	}
	return a
}

// same answers a repeated key with the same input: the booking as it stands.
func (w *drive) same(ctx context.Context, a admission.Answer) Answer {
	if a.Record == nil {
		w.Log.ErrorContext(ctx, "an answer without its record", "sale", w.r.Sale, "booking_id", a.BookingID)
		return w.unavailable()
	}
	ans := Answer{Verdict: Repeated, BookingID: a.BookingID, State: Held, Level: a.Record.Level, Seats: a.Record.Tokens, HoldUntil: a.Record.HoldUntil}
	switch a.Stage {
	case admission.StagePaid:
		ans.State = Paid
		return ans
	case admission.StageAttached:
		// The first driver may have died before it sent the event; the queue drops
		// a second one of the same id (protocol.md 3.9 row 11).
		w.booking = lifecycle.BookingFromRecord(w.r.Sale, *a.Record)
		if err := w.publish(ctx, &w.booking); err != nil {
			w.Log.WarnContext(ctx, "booking.held not queued again", "sale", w.r.Sale, "booking_id", a.BookingID, "err", err)
			return w.unavailable()
		}
		ans.PaymentURL = w.stash(ctx, w.r.Sale, a.BookingID)
		return ans
	case admission.StageSoft:
		ans.Verdict = Duplicate
		return ans
	}
	return w.resume(ctx, a.BookingID)
}

// duplicate answers somebody who has a booking under another key. Who does not
// know its e-mail learns nothing about it.
func (w *drive) duplicate(ctx context.Context, a admission.Answer) Answer {
	if !a.EmailMatches {
		return refused(EmailMismatch)
	}
	ans := Answer{Verdict: Duplicate, BookingID: a.BookingID, State: Held, Level: a.Level, HoldUntil: a.HoldUntil}
	switch a.Stage {
	case admission.StageSoft:
		ans.BookingID, ans.State = "", Choosing // the hold's id is a secret of the tab that made it
	case admission.StageAdmitted:
		return w.later(InProgress)
	case admission.StagePaid:
		ans.State, ans.HoldUntil = Paid, time.Time{}
	case admission.StageAttached:
		if a.HoldUntil.Sub(w.Now().Add(w.plan.ClockAhead)) > w.plan.Sale.Ages.URLMinLeft {
			ans.PaymentURL = w.stash(ctx, w.r.Sale, a.BookingID)
		}
	}
	return ans
}

// stash is the payment URL kept for the booking, or "": it is a convenience.
func (d *Driver) stash(ctx context.Context, saleID, bookingID string) string {
	url, err := d.Admission.Stash(ctx, saleID, bookingID)
	if err != nil && !errors.Is(err, admission.ErrNotFound) {
		d.Log.WarnContext(ctx, "no stash", "sale", saleID, "booking_id", bookingID, "err", err)
	}
	return url
}

func (d *Driver) unavailable() Answer { return d.later(Unavailable) }

func (d *Driver) later(v Verdict) Answer {
	if v == InProgress { // one candidate's own retry: there is no crowd to spread
		return Answer{Verdict: v, RetryAfter: retryInProgress}
	}
	return Answer{Verdict: v, RetryAfter: jitter(retryUnavailable)}
}

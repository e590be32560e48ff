package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/sale"
)

// refusal says why a booking is not admitted again, "" if it is. It is only
// ever a true refusal of protocol.md 3.7.4; everything else is an error and is
// retried, because a refund for a hiccup takes a seat from somebody who paid.
type refusal string

// errDead: the booking id was undone a short while ago (protocol.md 3.2, dead).
var errDead = errors.New("workers: this booking id was undone within the last minutes: again later")

// errImpossible: no retry can get this admitted, and no rule says that it is a
// refusal either: a person decides.
var errImpossible = errors.New("workers: Redis does not know the level, or not so: compare the sale's plan with Redis")

// lookOrAdmit finds b's seats in Redis or admits b again under its own id, as
// an admission that its event proves: caps count, roster and times do not
// (protocol.md 3.6). What comes back is the booking as Redis has it.
func (w *walk) lookOrAdmit(ctx context.Context, b ledger.Booking) (ledger.Booking, refusal, error) {
	r, err := w.Redis.Record(ctx, b.Sale, b.ID)
	if err == nil {
		back, err := w.pin(ctx, b, r.Driver)
		return back, "", err
	}
	if !errors.Is(err, admission.ErrNotFound) {
		return b, "", fmt.Errorf("workers: look for booking %s in Redis: %w", b.ID, err)
	}
	return w.admit(ctx, b, len(b.Seats), admission.ProvenRoster)
}

// admit is S1 + WAIT for a booking that is not driven by a request. It has no
// idempotency key: the booking id is the key. The e-mail hash goes into the
// record, so that the candidate's next request is known as the same person's;
// it refuses nobody here (protocol.md 3.4).
func (w *walk) admit(ctx context.Context, b ledger.Booking, count int, roster string) (ledger.Booking, refusal, error) {
	req := admission.Request{
		Sale: b.Sale, BookingID: b.ID, Candidate: b.Candidate, Level: b.Level, Gen: w.control.Gen,
		InputHash: b.InputHash, RosterVersion: roster, EmailHash: b.EmailHash,
		AmountMinor: b.Price.AmountMinor, Currency: b.Price.Currency, Count: count,
	}
	if l, ok := w.control.Plan.Level(b.Level); ok && l.Kind == sale.KindSeated {
		req.Count, req.Seats = 0, b.Tokens()
	}
	for range turns {
		a, err := w.Redis.Admit(ctx, req)
		if err != nil {
			return b, "", fmt.Errorf("workers: admit booking %s again: %w", b.ID, err)
		}
		w.Notify(b.Sale, a.Version)
		if a.Outcome == admission.Admitted || a.Outcome == admission.Replayed {
			back, err := w.pin(ctx, b, a.Driver)
			return back, "", err
		}
		if a.Outcome == admission.EmailMismatch && req.EmailHash != "" {
			req.EmailHash = "" // the roster has another one now; whoever has paid is no stranger
			continue
		}
		if a.Outcome == admission.Duplicate {
			freed, err := w.freeOld(ctx, a.BookingID)
			if err != nil {
				return b, "", err
			}
			if freed {
				continue
			}
		}
		why, err := refused(a)
		return b, why, err
	}
	return b, "", errTurns(b.ID)
}

// stashNothing is the shortest life of a stash: the URL is not known here.
const stashNothing = time.Millisecond

// pin attaches the payment (S5 + WAIT) before the ledger may have the booking,
// and reads the booking as Redis has it then. Admissions of events are driven
// by any number of workers at once under one driver number: one whose WAIT was
// short undoes quickly, and would take the seats away from another one that is
// just writing the ledger. A quick undo leaves an attached booking alone, and
// one that was faster makes the attach say gone (protocol.md 3.4 S2, S5; the
// same WAIT as for a resumed booking, R4). Safe to repeat.
func (w *walk) pin(ctx context.Context, b ledger.Booking, driver int) (ledger.Booking, error) {
	a, err := w.Redis.Attach(ctx, admission.Attachment{Sale: b.Sale, BookingID: b.ID, Driver: driver,
		PaymentID: b.Payment.String(), HoldUntil: b.HoldUntil, StashFor: stashNothing, Acknowledge: true})
	if err != nil {
		return b, fmt.Errorf("workers: attach payment %s to booking %s: %w", b.Payment, b.ID, err)
	}
	if a.Outcome != admission.Attached && a.Outcome != admission.AlreadyAttached {
		return b, fmt.Errorf("workers: booking %s was undone or taken over while it was being written: again later", b.ID)
	}
	r, err := w.Redis.Record(ctx, b.Sale, b.ID)
	if err != nil {
		return b, fmt.Errorf("workers: read booking %s that was just attached: %w", b.ID, err)
	}
	return merge(b, r), nil
}

// freeOld gives back the candidate's entry if the ledger has released it: an
// undo that is still owed is no live booking and refuses nobody (protocol.md
// 3.7.4: "DUP of another live bid").
func (w *walk) freeOld(ctx context.Context, bookingID string) (bool, error) {
	other, err := w.Store.Booking(ctx, bookingID)
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil // pending: the candidate's own newer attempt
	}
	if err != nil {
		return false, fmt.Errorf("workers: read booking %s: %w", bookingID, err)
	}
	if other.State != ledger.Released {
		return false, nil
	}
	return true, w.undone(ctx, other)
}

// undone makes sure that S2 of a released booking has run. Whether the replicas
// have it does not matter here: a later S1 waits for everything before it.
func (w *walk) undone(ctx context.Context, b ledger.Booking) error {
	err := w.GiveBack(ctx, b)
	if errors.Is(err, admission.ErrUnacknowledged) {
		return nil
	}
	return err
}

// refused sorts the answers of S1 that are not an admission.
func refused(a admission.Answer) (refusal, error) {
	switch a.Outcome {
	case admission.LevelFull, admission.SoldOut, admission.Taken, admission.Duplicate,
		admission.UnknownCode, admission.NotAllowed, admission.Closed:
		return refusal("not re-admitted: " + a.Outcome.String()), nil
	case admission.Dead:
		return "", errDead
	case admission.UnknownLevel, admission.BadArgument:
		return "", fmt.Errorf("%w (%s)", errImpossible, a.Outcome)
	}
	return "", fmt.Errorf("workers: admission says %s: again later", a.Outcome)
}

// merge is the booking as Redis has it, with what only the caller knows.
func merge(b ledger.Booking, r admission.Record) ledger.Booking {
	m := lifecycle.BookingFromRecord(b.Sale, r)
	if !b.Payment.Zero() { // the payment that the caller is about; another one may be attached
		m.Payment = b.Payment
	}
	for _, f := range []struct{ to, from *string }{{&m.Key, &b.Key}, {&m.InputHash, &b.InputHash}, {&m.EmailHash, &b.EmailHash}} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	return m
}

package booking

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
)

// Create may use so much of the driver's time, and no more: attach, queue and
// answer come after it.
const createShare = 0.55

// createTries is how often an unknown outcome is repeated under the same key.
const createTries = 3

// attachTries is how often an attach whose answer was lost is repeated; it is
// safe to call again (protocol.md S5).
const attachTries = 3

// titleBytes is what gateways take of a sale's title.
const titleBytes = 120

// pay is step 3: the payment, under the booking's id as its idempotency key.
func (w *drive) pay(ctx context.Context) Answer {
	w.know(ctx)
	s, err := w.create(ctx)
	if err == nil {
		return w.attach(ctx, s)
	}
	why := ledger.ReasonPaymentUnknown
	if errors.Is(err, payment.ErrRefused) {
		why = ledger.ReasonPaymentRefused
	}
	w.Log.WarnContext(ctx, "no payment", "sale", w.r.Sale, "booking_id", w.r.BookingID, "gateway", w.Gateway.Name(), "reason", why, "err", err)
	if w.forsake(ctx, why) {
		return w.unavailable() // its successor has an answer
	}
	return w.later(PaymentUnavailable)
}

// create asks for the payment until the outcome is known, or its share of the
// time is used up.
func (w *drive) create(ctx context.Context) (payment.Session, error) {
	left := time.Duration(createShare * float64(w.plan.Sale.Ages.RequestMax))
	req := payment.CreateRequest{
		Metadata:    payment.Metadata{Sale: w.r.Sale, BookingID: w.r.BookingID, Candidate: w.r.Candidate},
		AmountMinor: w.r.AmountMinor, Currency: w.r.Currency, Title: cut(w.plan.Sale.Title, titleBytes),
		ReturnURL: w.PublicURL + "/payments/" + w.Gateway.Name() + "/return?sale=" + w.r.Sale + "&booking=" + w.r.BookingID,
		ExpiresAt: w.ans.HoldUntil,
	}
	var s payment.Session
	place := &w.creating
	err := retry(ctx, createTries, func(ctx context.Context) error {
		left /= 2 // for this one; as much for those that may follow
		ctx = w.horizon.within(ctx, left, place)
		place = nil // what an attempt has left behind may still look at its context
		start := w.Now()
		var err error
		s, err = w.Gateway.Create(ctx, req)
		w.Observe.PaymentCreated(w.Gateway.Name(), w.Now().Sub(start), err)
		return err
	}, func(err error) bool { return errors.Is(err, payment.ErrRefused) })
	return s, err
}

// attach is step 4: from here on Redis has the payment too.
func (w *drive) attach(ctx context.Context, s payment.Session) Answer {
	key := ledger.PaymentKey{Gateway: w.Gateway.Name(), ID: s.PaymentID}
	a := admission.Attachment{Sale: w.r.Sale, BookingID: w.r.BookingID, Driver: w.ans.Driver, PaymentID: key.String(),
		URL: s.URL, HoldUntil: w.ans.HoldUntil, StashFor: w.stashFor(s),
		Acknowledge: w.resumed}
	var got admission.AttachAnswer
	err := retry(ctx, attachTries, func(ctx context.Context) error {
		var err error
		got, err = w.Admission.Attach(ctx, a)
		return err
	}, func(err error) bool {
		// A repeat of an attach that was not acknowledged would hear "attached", and
		// still be unacknowledged.
		return errors.Is(err, admission.ErrInvalid) || errors.Is(err, admission.ErrUnacknowledged)
	})
	w.booking.Payment = key
	if err != nil {
		w.Log.WarnContext(ctx, "attach failed", "sale", w.r.Sale, "booking_id", w.r.BookingID, "err", err)
		// It may have been done all the same, and a retry have gone on from it:
		// neither an undo nor a tombstone is safe. Pending, the booking is the next
		// retry's, or the reaper's.
		return w.unavailable()
	}
	switch got.Outcome {
	case admission.Attached:
		w.keep(got.HoldUntil)
		return w.queue(ctx, s.URL)
	case admission.AlreadyAttached:
		w.keep(got.HoldUntil)
		return w.alreadyAttached(ctx, got, key, s)
	case admission.AttachGone: // reaped or undone meanwhile; nobody has seen the payment
		w.cancelPayment(ctx, s.PaymentID)
	}
	// Gone or superseded: stop here, before any tombstone (protocol.md 3.5). The
	// payment of a superseded driver is its successor's too: same key, same payment.
	w.Log.InfoContext(ctx, "driver stops at attach", "sale", w.r.Sale, "booking_id", w.r.BookingID, "outcome", int(got.Outcome))
	return w.unavailable()
}

// alreadyAttached goes on with the payment that counts.
func (w *drive) alreadyAttached(ctx context.Context, got admission.AttachAnswer, ours ledger.PaymentKey, s payment.Session) Answer {
	if got.PaymentID == "" || got.PaymentID == ours.String() { // our own attach, its answer was lost
		return w.queue(ctx, s.URL)
	}
	key, ok := ledger.ParsePaymentKey(got.PaymentID)
	if !ok {
		w.Log.ErrorContext(ctx, "unreadable payment of an attached booking", "sale", w.r.Sale, "booking_id", w.r.BookingID)
		return w.unavailable()
	}
	w.booking.Payment = key
	return w.queue(ctx, w.stash(ctx, w.r.Sale, w.r.BookingID))
}

// stashFor is how long a duplicate may need the payment's URL: the booking's
// life, at most that of the gateway's session. Differences of one clock each, so
// that no two clocks are compared.
func (w *drive) stashFor(s payment.Session) time.Duration {
	life := w.plan.Sale.Hold + w.plan.Sale.Ages.AttachedMax
	if !s.ExpiresAt.IsZero() {
		if session := s.ExpiresAt.Sub(w.Now()); session > 0 {
			life = min(life, session)
		}
	}
	return life
}

// keep raises the hold; it is never shortened (case B21).
func (w *drive) keep(until time.Time) {
	if until.After(w.booking.HoldUntil) {
		w.booking.HoldUntil = until
	}
}

// cancelPayment ends a payment whose URL nobody has seen (case C20). A failure
// leaves it to expire; if it were paid all the same, the payment is late.
func (w *drive) cancelPayment(ctx context.Context, paymentID string) {
	if w.Gateway.Moves() != payment.MovesOnPage {
		return // money moves only when we execute it, and nobody will
	}
	ctx, cancel := cleanup(ctx)
	defer cancel()
	if err := w.Gateway.Cancel(ctx, paymentID); err != nil && !errors.Is(err, payment.ErrNotFound) {
		w.Log.WarnContext(ctx, "payment is left to expire", "sale", w.r.Sale, "booking_id", w.r.BookingID, "err", err)
	}
}

// cut shortens s to at most n bytes without breaking a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n])
}

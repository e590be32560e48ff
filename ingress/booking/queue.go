package booking

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// publishFor is how long an event is sent again under the same deduplication id
// before the booking is given up (protocol.md 3.5 step 5).
const publishFor = 5 * time.Second

// queue is steps 5 and 6. An event that can't be sent, or whose answer is lost,
// leaves the booking as it is, pending: a retry may have found it attached, have
// sent its event, and have told the candidate of the seat (docs/decisions/0004).
// The next retry sends the event again; if none comes the seat is the reaper's.
func (w *drive) queue(ctx context.Context, url string) Answer {
	if err := w.publish(ctx, &w.booking); err != nil {
		w.Log.WarnContext(ctx, "booking.held not queued: left to a retry, or to the reaper", "sale", w.r.Sale, "booking_id", w.r.BookingID, "err", err)
		return w.unavailable()
	}
	return Answer{Verdict: Created, BookingID: w.booking.ID, State: Held, Level: w.booking.Level,
		Seats: w.ans.Tokens, PaymentURL: url, HoldUntil: w.booking.HoldUntil}
}

// publish sends booking.held until the queue has it: for publishFor, or a third
// of the driver's time where a short hold leaves it less.
func (w *drive) publish(ctx context.Context, b *ledger.Booking) error {
	d := w.Driver
	ctx = d.horizon.within(ctx, min(publishFor, w.plan.Sale.Ages.RequestMax/3), &w.publishing)
	e := w.heldEvent(b, d.Now())
	return retry(ctx, unlimited, func(ctx context.Context) error {
		start := d.Now()
		err := d.Publish.Publish(ctx, e)
		d.Observe.Published(d.Now().Sub(start), err)
		return err
	}, func(err error) bool { return errors.Is(err, events.ErrInvalid) })
}

// know fills in the booking as the admission's answer has it.
func (w *drive) know(ctx context.Context) {
	b := &w.booking
	*b = lifecycle.BookingFromRecord(w.r.Sale, admission.Record{
		BookingID: w.r.BookingID, Candidate: w.r.Candidate, Level: w.r.Level,
		Key: w.r.Key, InputHash: w.r.InputHash, EmailHash: w.r.EmailHash, AmountMinor: w.r.AmountMinor, Currency: w.r.Currency,
		AdmittedAt: w.ans.AdmittedAt, HoldUntil: w.ans.HoldUntil, Gen: w.r.Gen,
	})
	b.Seats = w.seat[:0]
	known := true
	for _, token := range w.ans.Tokens {
		score, ok := scoreOf(w.r.Level, token)
		b.Seats, known = append(b.Seats, ledger.Seat{Token: token, Score: score}), known && ok
	}
	var scores []int64
	switch r := w.ans.Record; {
	case r != nil && len(r.Scores) == len(b.Seats):
		scores = r.Scores
	case known:
		return
	default: // named seats: only Redis knows their order
		rec, err := w.Admission.Record(ctx, w.r.Sale, w.r.BookingID)
		if err != nil || len(rec.Scores) != len(b.Seats) {
			w.Log.WarnContext(ctx, "seat order unknown", "sale", w.r.Sale, "booking_id", w.r.BookingID, "err", err)
			scores = make([]int64, len(b.Seats))
			break
		}
		scores = rec.Scores
	}
	for i := range b.Seats {
		b.Seats[i].Score = scores[i]
	}
}

// scoreOf reads the order of a counted level's token from its name: token n of a
// level has score n for ever (protocol.md S9).
func scoreOf(level, token string) (int64, bool) {
	number, ok := strings.CutPrefix(token, level)
	if !ok || !strings.HasPrefix(number, "-") {
		return 0, false
	}
	n, err := strconv.ParseInt(number[1:], 10, 64)
	return n, err == nil
}

// heldEvent is the full record of a booking: enough to write it to the ledger
// and to put it back into Redis.
func (w *drive) heldEvent(b *ledger.Booking, now time.Time) events.Event {
	h := &w.held
	*h = events.Held{
		Level: b.Level, Key: b.Key, InputHash: b.InputHash, EmailHash: b.EmailHash,
		Gateway: b.Payment.Gateway, PaymentID: b.Payment.ID, AmountMinor: b.Price.AmountMinor, Currency: b.Price.Currency,
		AdmittedAt: b.AdmittedAt.UTC(), HoldUntil: b.HoldUntil.UTC(),
	}
	h.Seats = w.sent[:0]
	for _, s := range b.Seats {
		h.Seats = append(h.Seats, events.Seat(s))
	}
	return events.Event{Type: events.BookingHeld, Sale: b.Sale, Candidate: b.Candidate, BookingID: b.ID, Gen: b.Gen, At: now.UTC(), Held: h}
}

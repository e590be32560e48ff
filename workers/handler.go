// Package workers is the one place where an event meets the ledger. Handle is
// the same behind every shell (workers/poller, workers/batch): it makes the
// event's step durable and only then says that the message may go.
//
// Events come at least once, twice at the same time, out of order after a
// redrive, and days late (protocol.md 1.5). Handle therefore never trusts that
// a step was or was not done: each is conditional in the ledger, and a failed
// condition is read and understood (protocol.md 3.3, the two tables). A crash
// between any two steps is healed by the redelivery, which finds what was done.
package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// DefaultNoticeTries is how often a notice about a payment without a final
// state is tried before it is left to the reaper. With the back-off of the
// shells (1 s, doubling) that is half a minute.
const DefaultNoticeTries = 6

// actor is who the ledger's history names.
const actor ledger.Actor = "worker"

// Handler handles events. Steps is required. It is safe for many goroutines and
// must not be copied.
type Handler struct {
	Steps *lifecycle.Steps
	// NoticeTries bounds the tries of a payment.notified; 0 is
	// DefaultNoticeTries. It must be less than the queue's maximal receives.
	NoticeTries int
	Log         *slog.Logger // nil: slog.Default

	recall recall
}

// Handle makes the event's step durable (protocol.md 3.6). nil: done, delete the
// message. An events.Park error: no retry can help, park it. Anything else:
// again later, the group waits. Safe to call any number of times with the same
// event, also at once.
func (h *Handler) Handle(ctx context.Context, e events.Event, m events.Meta) error {
	return h.handle(ctx, e, m, false)
}

func (h *Handler) handle(ctx context.Context, e events.Event, m events.Meta, replay bool) error {
	if err := e.Validate(); err != nil {
		return events.Park("invalid_event", err)
	}
	w := &walk{Steps: h.Steps, e: e, meta: m, replay: replay, tries: h.NoticeTries, log: h.Log, recall: &h.recall}
	if w.tries <= 0 {
		w.tries = DefaultNoticeTries
	}
	if w.log == nil {
		w.log = slog.Default()
	}
	if err := w.use(ctx, e.Sale); err != nil {
		return err
	}
	switch e.Type {
	case events.BookingHeld:
		return w.held(ctx)
	case events.PaymentNotified:
		return w.notified(ctx)
	case events.PaymentCaptured:
		return w.reported(ctx)
	}
	return events.Park("unknown_type", fmt.Errorf("workers: no handler for %q", e.Type))
}

// walk is one delivery of one event on its way through the steps.
type walk struct {
	*lifecycle.Steps
	e       events.Event
	meta    events.Meta
	control ledger.Control // of the sale, at most five seconds old
	replay  bool           // of an event that was put aside while the sale was frozen
	tries   int
	log     *slog.Logger
	recall  *recall // of the process
}

// use reads the control item of the sale that the event turns out to be about.
func (w *walk) use(ctx context.Context, saleID string) error {
	if w.control.Sale == saleID {
		return nil
	}
	c, err := w.Controls.Control(ctx, saleID)
	if errors.Is(err, ledger.ErrNotFound) {
		return events.Park("unknown_sale", fmt.Errorf("workers: sale %q is not in the ledger: apply it, then redrive the event", saleID))
	}
	if err != nil {
		return fmt.Errorf("workers: read the control item of sale %s: %w", saleID, err)
	}
	w.control = c
	return nil
}

// condition unpacks a failed condition; ok is false for every other error.
func condition(err error) (ledger.Found, bool) {
	var c *ledger.ConditionError
	if errors.As(err, &c) {
		return c.Found, true
	}
	return ledger.Found{}, false
}

// turns bounds how often one delivery repeats a step that met somebody else's.
const turns = 4

// errTurns says that a delivery has met somebody else's work too often; the
// queue tries it again.
func errTurns(bookingID string) error {
	return fmt.Errorf("workers: booking %s changed %d times under one delivery: again later", bookingID, turns)
}

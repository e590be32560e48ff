package workers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// Reasons of inbox items. ReasonFrozen items are replayed; the others are an
// operator's.
const (
	ReasonFrozen     = "frozen"             // an event that has to wait for the end of a rebuild
	ReasonForeign    = "payment_foreign"    // the payment belongs to another booking
	ReasonUnattached = "payment_unattached" // no booking can be found for the payment
	ReasonReadmit    = "readmit_impossible" // Redis does not know the level of a paid booking
)

// putAside keeps the event in the ledger's inbox until the sale is unfrozen, so
// that the queue can drain for the rebuild (protocol.md 3.6).
func (w *walk) putAside(ctx context.Context) error {
	if w.replay { // it is there already, and must stay
		return lifecycle.ErrFrozen
	}
	body, err := events.Encode(w.e)
	if err != nil {
		return events.Park("invalid_event", err)
	}
	it := ledger.InboxItem{Sale: w.control.Sale, ID: ReasonFrozen + ":" + w.e.DedupID(), Payment: paymentOf(w.e),
		Reason: ReasonFrozen, Detail: string(body), At: w.Now()}
	if err := w.Store.Park(ctx, it); err != nil {
		return fmt.Errorf("workers: put an event of frozen sale %s aside: %w", w.control.Sale, err)
	}
	return nil
}

func paymentOf(e events.Event) ledger.PaymentKey {
	switch {
	case e.Held != nil:
		return ledger.PaymentKey{Gateway: e.Held.Gateway, ID: e.Held.PaymentID}
	case e.Notice != nil:
		return ledger.PaymentKey{Gateway: e.Notice.Gateway, ID: e.Notice.PaymentID}
	case e.Captured != nil:
		return ledger.PaymentKey{Gateway: e.Captured.Gateway, ID: e.Captured.PaymentID}
	}
	return ledger.PaymentKey{}
}

// ReplayParked handles every event of the sale that was put aside while it was
// frozen, and reports how many went through. Whoever unfreezes a sale calls it,
// and every sweep may; events that fail stay, and the errors are joined. Safe
// to call again and by any number at once. While the sale is frozen it is
// lifecycle.ErrFrozen.
func (h *Handler) ReplayParked(ctx context.Context, saleID string) (int, error) {
	var waiting []ledger.InboxItem
	err := h.Steps.Store.Parked(ctx, saleID, func(it ledger.InboxItem) error {
		if it.Reason == ReasonFrozen && !it.Done {
			waiting = append(waiting, it)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("workers: list what was put aside for sale %s: %w", saleID, err)
	}
	done := 0
	var failed []error
	for _, it := range waiting {
		if err := h.replay(ctx, it); err != nil {
			failed = append(failed, fmt.Errorf("workers: replay %s: %w", it.ID, err))
			continue
		}
		done++
	}
	return done, errors.Join(failed...)
}

func (h *Handler) replay(ctx context.Context, it ledger.InboxItem) error {
	e, err := events.Decode([]byte(it.Detail))
	if err != nil {
		return err
	}
	if err := h.handle(ctx, e, events.Meta{ReceiveCount: 1, SentAt: it.At}, true); err != nil {
		return err
	}
	return h.Steps.Store.ResolveParked(ctx, it.Sale, it.ID, actor)
}

// inbox keeps a payment that nothing can be made of where operators see it, and
// alarms: it is never dropped (protocol.md 3.6, case C26).
func (w *walk) inbox(ctx context.Context, saleID, bookingID string, key ledger.PaymentKey, reason string, kind lifecycle.AlarmKind) error {
	detail, err := json.Marshal(struct {
		BookingID string       `json:"booking_id"`
		Event     events.Event `json:"event"`
	}{bookingID, w.e})
	if err != nil {
		return fmt.Errorf("workers: write an inbox item: %w", err)
	}
	it := ledger.InboxItem{Sale: saleID, ID: reason + ":" + key.String(), Payment: key, Reason: reason, Detail: string(detail), At: w.Now()}
	if err := w.Store.Park(ctx, it); err != nil {
		return fmt.Errorf("workers: keep payment %s in the inbox: %w", key, err)
	}
	w.Alarm(lifecycle.Alarm{Kind: kind, Sale: saleID, BookingID: bookingID, Detail: "payment " + key.String() + " is in the inbox"})
	return nil
}

func (w *walk) foreign(ctx context.Context, saleID, bookingID string, key ledger.PaymentKey) error {
	return w.inbox(ctx, saleID, bookingID, key, ReasonForeign, lifecycle.AlarmForeign)
}

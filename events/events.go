// Package events is the language in which the parts of Holdfast talk over the
// queue: the event types, their envelope with its versioned codec, and the
// verdicts of whoever handles one. Delivery is at least once and, across the
// dead letter queue, out of order; a handler must bear both (protocol.md 1.5,
// 3.6).
package events

import (
	"context"
	"errors"
	"time"
)

// Version is the envelope version this build writes. It reads this and every
// older one that was ever released. A field may be added without a new version
// (old readers skip it); a new type, or a changed meaning, needs one, so that
// an old worker leaves the event to a new one instead of misreading it.
const Version = 1

// Type names what happened. The set is closed.
type Type string

// The event types.
const (
	// BookingHeld: seats were admitted and a payment exists; the ledger is to
	// know it. Carries Held.
	BookingHeld Type = "booking.held"
	// PaymentNotified: somebody (webhook, redirect) says that a payment has news.
	// It proves nothing: the worker asks the gateway. Carries Notice.
	PaymentNotified Type = "payment.notified"
	// PaymentCaptured: the gateway itself was asked and said that the money was
	// captured. Carries Captured.
	PaymentCaptured Type = "payment.captured"
)

// Event is one message. Group and DedupID are functions of its content.
type Event struct {
	// Version is set by Decode to what was read; Encode ignores it and writes
	// the constant Version.
	Version   int       `json:"v"`
	Type      Type      `json:"type"`
	Sale      string    `json:"sale"`
	Candidate string    `json:"candidate"`  // keyed hash of the code, whole: the message group
	BookingID string    `json:"booking_id"` // empty only where a notice does not know it
	Gen       int64     `json:"gen"`        // the sale's generation when the event was made
	At        time.Time `json:"at"`         // when it was made, UTC
	Held      *Held     `json:"held,omitempty"`
	Notice    *Notice   `json:"notice,omitempty"`
	Captured  *Captured `json:"captured,omitempty"`
}

// Held is the full record of an admitted booking, enough to write it to the
// ledger and to put it back into Redis.
type Held struct {
	Level       string    `json:"level"`
	Seats       []Seat    `json:"seats"`
	Key         string    `json:"key,omitempty"` // hash of the idempotency key
	InputHash   string    `json:"input_hash,omitempty"`
	EmailHash   string    `json:"email_hash,omitempty"`
	Gateway     string    `json:"gateway"`
	PaymentID   string    `json:"payment_id"`
	AmountMinor int64     `json:"amount_minor"`
	Currency    string    `json:"currency"`
	AdmittedAt  time.Time `json:"admitted_at"`
	HoldUntil   time.Time `json:"hold_until"`
}

// Seat is a seat token with its order in the level.
type Seat struct {
	Token string `json:"token"`
	Score int64  `json:"score"`
}

// Notice says where to look, never what is so.
type Notice struct {
	Gateway   string `json:"gateway"`
	PaymentID string `json:"payment_id"`
	EventID   string `json:"event_id"` // the gateway's, or one derived from the redirect
	Source    string `json:"source"`   // "webhook", "return", or "reaper": the sweep reminds the worker
}

// Captured is a payment as the gateway itself reported it when asked.
type Captured struct {
	Gateway     string    `json:"gateway"`
	PaymentID   string    `json:"payment_id"`
	AmountMinor int64     `json:"amount_minor"`
	Currency    string    `json:"currency"`
	Payee       string    `json:"payee,omitempty"`
	CapturedAt  time.Time `json:"captured_at"`
	AskedBy     string    `json:"asked_by"` // "worker", "reaper", "release"
}

// Errors of a publisher and of the codec.
var (
	// ErrInvalid: the event breaks its own rules (unknown type, missing payload,
	// a field too long). It is never worth a retry. What exactly is wrong is in
	// the text of the error that wraps it.
	ErrInvalid = errors.New("events: invalid event")
	// ErrNotQueued: it is certain that nothing was queued.
	ErrNotQueued = errors.New("events: not queued")
	// ErrAmbiguous: it may or may not have been queued; sending again is safe
	// within the deduplication window, undoing without asking the ledger is not
	// (protocol.md 3.5 step 5).
	ErrAmbiguous = errors.New("events: may or may not be queued")
)

// Publisher queues events durably. A nil error means that the queue has the
// event. Safe to call again with the same event.
type Publisher interface {
	Publish(ctx context.Context, e Event) error
}

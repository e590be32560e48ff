package events

import (
	"errors"
	"time"
)

// Meta is what the queue says about one delivery of an event, as opposed to
// what the event says about itself.
type Meta struct {
	// ReceiveCount is how often the queue has handed this message out, this time
	// included; 1 on the first delivery.
	ReceiveCount int
	// SentAt is when the queue accepted the message, by the queue's clock.
	SentAt time.Time
	// MessageID is the queue's own id; it changes when a message is redriven.
	MessageID string
	// Group is the message group the queue ordered it in.
	Group string
	// DedupID is the deduplication id it was sent with.
	DedupID string
}

// Handlers give their verdict on an event as an error:
//
//   - nil: done, the message is deleted;
//   - a *ParkError anywhere in the chain: it will never succeed, so it is parked
//     with its reason and then deleted, and its group goes on;
//   - anything else: try again later; the group waits behind it, and the queue's
//     redrive policy decides when to give up.

// ParkError marks an event that no retry can help. The shells park it, with
// Reason, where an operator sees it, and only then delete the message.
type ParkError struct {
	// Reason is a short stable code ("undecodable", "unknown_payment") fit for
	// a metric label.
	Reason string
	// Err is what went wrong in full; may be nil.
	Err error
}

// Error says why the event was parked.
func (e *ParkError) Error() string {
	if e.Err == nil {
		return "events: park (" + e.Reason + ")"
	}
	return "events: park (" + e.Reason + "): " + e.Err.Error()
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *ParkError) Unwrap() error { return e.Err }

// Park is the verdict "permanent: park it with this reason". Reason is a short
// stable code, err the cause and may be nil. The result is never nil.
func Park(reason string, err error) error {
	return &ParkError{Reason: reason, Err: err}
}

// ParkReason reports whether err is a verdict to park, and with which reason.
func ParkReason(err error) (reason string, ok bool) {
	var p *ParkError
	if errors.As(err, &p) {
		return p.Reason, true
	}
	return "", false
}

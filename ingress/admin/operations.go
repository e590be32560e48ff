// Package admin is the operators' side of the ingress: the admin API, health
// and readiness. It runs on a listener of its own, behind a bearer token.
package admin

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// By is who asks, and why; both are kept with what was done.
type By struct {
	Actor  ledger.Actor // "operator:<name>"
	Reason string
}

// Hold is one held booking as an operator sees it. Owner is the candidate's
// hash: nobody here knows codes or e-mails.
type Hold struct {
	BookingID string        `json:"booking_id"`
	Owner     string        `json:"owner"`
	Level     string        `json:"level"`
	Seats     []string      `json:"seats"`
	State     string        `json:"state"` // held, pending
	Age       time.Duration `json:"-"`
	HoldUntil time.Time     `json:"hold_until"`
}

// InboxItem is what nothing could be made of and an operator must see.
type InboxItem struct {
	ID      string    `json:"id"`
	Payment string    `json:"payment,omitempty"`
	Reason  string    `json:"reason"`
	Detail  string    `json:"detail,omitempty"`
	At      time.Time `json:"at"`
	Done    bool      `json:"done"`
}

// Operations is what operators can do over HTTP. Every act is safe to repeat
// and is written to the sale's audit trail by whoever implements this.
//
// Errors that satisfy Refusal are shown with their code and numbers;
// ledger.ErrNotFound and the lifecycle's errors have their own answers;
// everything else is 503.
type Operations interface {
	Sales(ctx context.Context) ([]string, error)
	Open(ctx context.Context, saleID string, by By) error
	Close(ctx context.Context, saleID string, by By) error
	// SetCap sets a level's cap, or with level "" the sale's.
	SetCap(ctx context.Context, saleID, level string, n int, by By) (admission.CapAnswer, error)
	// Holds calls each for every held or pending booking, oldest first, until it
	// returns an error.
	Holds(ctx context.Context, saleID string, each func(Hold) error) error
	ReleaseHold(ctx context.Context, bookingID string, by By) (lifecycle.ReleaseOutcome, error)
	Cancel(ctx context.Context, bookingID string, by By) error
	Inbox(ctx context.Context, saleID string, each func(InboxItem) error) error
	// Redrive moves up to most dead letters back into the queue.
	Redrive(ctx context.Context, most int, by By) (moved int, err error)

	// Status, Drift and Audit answer documents of their own, sent as JSON.
	Status(ctx context.Context, saleID string) (any, error)
	Drift(ctx context.Context, saleID string) (any, error)
	Audit(ctx context.Context, saleID string) (any, error)
}

// Refusal is an operator's wish that can't be granted, with the reason as a
// stable code and the numbers that show it (case F11).
type Refusal interface {
	error
	Code() string
	Numbers() map[string]int
}

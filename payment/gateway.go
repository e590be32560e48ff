// Package payment is the port to payment gateways. A redirect, a webhook or a
// callback is never a proof: it may only make us ask the gateway (protocol.md 2.2).
package payment

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Moves says who moves the money (protocol.md 2.1), and so which gate guards it.
type Moves string

// The two kinds of gateway.
const (
	// MovesOnPage: the gateway captures on its own page; a session must be
	// cancelled before its booking is released.
	MovesOnPage Moves = "page"
	// MovesOnExecute: money moves only when we call Execute, behind the commit
	// gate and an execute guard (protocol.md 2.2.4).
	MovesOnExecute Moves = "execute"
)

// Status is what the gateway says of a payment. The set is closed; an adapter
// maps what it does not know to StatusUnknown, which is kept and asked again.
type Status string

// The statuses of a payment.
const (
	StatusOpen      Status = "open"      // created, the customer has not finished
	StatusApproved  Status = "approved"  // the customer agreed; waits for Execute
	StatusPending   Status = "pending"   // under way at the gateway, can still go either way
	StatusCompleted Status = "completed" // captured
	StatusCancelled Status = "cancelled" // can never complete
	StatusExpired   Status = "expired"   // can never complete
	StatusFailed    Status = "failed"    // can never complete
	StatusUnknown   Status = "unknown"
)

// Final reports whether the payment can never change from here by itself.
func (s Status) Final() bool {
	switch s {
	case StatusCompleted, StatusCancelled, StatusExpired, StatusFailed:
		return true
	}
	return false
}

// Metadata travels with a payment so that it finds its booking again
// (protocol.md 2.2.1). Where a gateway takes only an invoice, that is BookingID
// and the rest is empty.
type Metadata struct {
	Sale, BookingID, Candidate string
}

// CreateRequest asks for a payment. BookingID in the metadata is the
// idempotency key and the invoice: two creates are one payment wherever the
// gateway can do that.
type CreateRequest struct {
	Metadata
	AmountMinor int64
	Currency    string
	Title       string
	ReturnURL   string
	ExpiresAt   time.Time // the hold's end; the gateway may give more, see Session.ExpiresAt
}

// Session is a payment that waits for its customer.
type Session struct {
	PaymentID string
	URL       string
	ExpiresAt time.Time // zero if the gateway publishes none
}

// Payment is the gateway's own answer about a payment.
type Payment struct {
	PaymentID     string
	Status        Status
	AmountMinor   int64
	Currency      string
	Payee         string // our account at the gateway
	Live          bool   // false: test mode
	CapturedAt    time.Time
	RefundedMinor int64
	Metadata
}

// RefundStatus is what the gateway says of a refund.
type RefundStatus string

// The statuses of a refund.
const (
	RefundNone    RefundStatus = "none" // the gateway knows of no refund with this key
	RefundPending RefundStatus = "pending"
	RefundDone    RefundStatus = "done"
)

// Notice is what a webhook or a redirect says: where to look.
type Notice struct {
	EventID   string
	PaymentID string
	Metadata  // as far as the message has it; a hint only
}

// Errors of a gateway. Any other error of Create, Execute, Cancel or Refund
// means that the outcome is unknown: query, or repeat with the same key.
var (
	// ErrRefused: the gateway said a definite no; nothing was created or moved.
	ErrRefused = errors.New("payment: the gateway refused")
	// ErrCompleted: it can't be cancelled because the money was captured.
	ErrCompleted = errors.New("payment: already completed")
	// ErrNotFound: the gateway knows no such payment.
	ErrNotFound = errors.New("payment: not found")
	// ErrBadSignature: the webhook is not the gateway's, or is too old.
	ErrBadSignature = errors.New("payment: bad webhook signature")
	// ErrBadNotice: the signature is right (or there is none to check) but the message makes no sense.
	ErrBadNotice = errors.New("payment: unreadable notice")
)

// Gateway is one payment provider. Every method is safe to repeat.
type Gateway interface {
	Name() string // [a-z0-9]{1,20}, part of URLs and keys
	Moves() Moves
	// Payee and Live are compared with every payment before it counts
	// (protocol.md 2.2.6).
	Payee() string
	Live() bool

	Create(ctx context.Context, r CreateRequest) (Session, error)
	Query(ctx context.Context, paymentID string) (Payment, error)
	// Execute moves the money of an approved payment. Only MovesOnExecute
	// gateways have it. After an unknown outcome query; never execute blindly twice.
	Execute(ctx context.Context, paymentID string) (Payment, error)
	// Cancel makes sure that the payment can never complete: nil means so,
	// ErrCompleted means that it was faster.
	Cancel(ctx context.Context, paymentID string) error
	// Refund pays everything back under an idempotency key; RefundDone also for
	// "already refunded".
	Refund(ctx context.Context, paymentID, key string, amountMinor int64) (RefundStatus, error)
	QueryRefund(ctx context.Context, paymentID, key string) (RefundStatus, error)

	// ParseWebhook checks signature and time window. It does no I/O.
	ParseWebhook(h http.Header, body []byte, now time.Time) (Notice, error)
	// ParseReturn reads the query of a redirect, which anybody can forge.
	ParseReturn(q url.Values) (Notice, error)
}

// Gateways finds a gateway by name.
type Gateways map[string]Gateway

// ExecuteGuard lets one caller at a time execute a payment (protocol.md 2.2.4).
type ExecuteGuard interface {
	// AcquireExecute reports whether this caller may execute now, for ttl at the
	// most. holder is the caller's own name, which nobody else has (see
	// lifecycle.GuardHolder); a second call under it is refused like any other.
	AcquireExecute(ctx context.Context, sale, paymentID, holder string, ttl time.Duration) (bool, error)
	// ReleaseExecute lets the guard go if it is still the holder's. Safe to call
	// again.
	ReleaseExecute(ctx context.Context, sale, paymentID, holder string) error
}

// TokenStore shares a gateway's access token among the fleet: one holder of the
// lease refreshes it, within a budget of grants per hour (protocol.md 2.1).
// payment/sandbox/tokentest holds the suite that every store has to pass.
type TokenStore interface {
	// Token returns ErrNotFound when there is none, or when its ttl has run out.
	Token(ctx context.Context, gateway string) (token string, issuedAt time.Time, err error)
	// AcquireTokenLease gives the lease to one holder at a time (nobody, not even
	// the holder, gets it again before it has run out) and with it charges one
	// grant of the rolling hour; grantsLeft is what remains after that. The charge
	// stands even if the holder dies: the gateway may have counted its call.
	AcquireTokenLease(ctx context.Context, gateway, holder string, lease time.Duration) (granted bool, grantsLeft int, err error)
	// StoreToken shares a new token, issued now. A holder whose lease has run out
	// gets an error and nothing is stored. The lease does not end here but by
	// time, so that whoever saw no token a moment ago is not charged for a second.
	StoreToken(ctx context.Context, gateway, holder, token string, ttl time.Duration) error
}

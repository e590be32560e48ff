// Package ledger is the booking state machine, the port to the store that
// keeps it, and the invariants as code. The machine is pure: it takes a state,
// an event and a time and returns a Transition; only a Store does I/O, and it
// applies a Transition only while its conditions hold (protocol.md 3.3).
package ledger

import (
	"strings"
	"time"

	"github.com/holdfast/holdfast/sale"
)

// State is where a booking stands. Released is terminal (protocol.md R3).
type State string

// The states of a booking. None is the state of a booking the ledger has never
// seen; it is never stored.
const (
	None     State = ""
	Held     State = "HELD"
	Paid     State = "PAID"
	Released State = "RELEASED"
)

// Live reports whether the booking owns its candidate and its seats.
func (s State) Live() bool { return s == Held || s == Paid }

// Reason says why a booking changed. The set is closed.
type Reason string

// The reasons. Those marked (unanswered) mean that the candidate was never told
// of the booking, so an owed undo is an abort and not a release (protocol.md 3.8.3).
const (
	ReasonHeld            Reason = "held"
	ReasonCaptured        Reason = "captured"
	ReasonLate            Reason = "late_payment"      // re-admitted after a late payment
	ReasonExpired         Reason = "hold_expired"      // not paid in time
	ReasonOwner           Reason = "released_by_owner" // DELETE /bookings/{id}
	ReasonOperator        Reason = "released_by_operator"
	ReasonCancelled       Reason = "cancelled_by_operator" // a paid booking, refunded (T8)
	ReasonOrphan          Reason = "orphan"                // pending too long and unpaid
	ReasonUnattached      Reason = "unattached"            // pending without a payment (unanswered)
	ReasonPaymentRefused  Reason = "payment_refused"       // the gateway refused (unanswered)
	ReasonPaymentUnknown  Reason = "payment_unknown"       // create could not be learned (unanswered)
	ReasonNotQueued       Reason = "not_queued"            // the event could not be sent (unanswered)
	ReasonConflict        Reason = "conflict"              // candidate or seat owned by another booking
	ReasonPaymentResolved Reason = "payment_resolved"      // its payment had been resolved before
	ReasonStaleGeneration Reason = "stale_generation"      // not re-admitted after a rebuild
	ReasonReadmitRefused  Reason = "readmit_refused"       // T2': Redis would not have it
	ReasonLateAbandoned   Reason = "late_abandoned"        // a late re-admission lost its arbitration
	ReasonExtended        Reason = "extended"
	ReasonAccepted        Reason = "review_accepted" // an operator took a reviewed payment as it is
)

// Unanswered reports whether the candidate was never told of the booking.
func (r Reason) Unanswered() bool {
	switch r {
	case ReasonUnattached, ReasonPaymentRefused, ReasonPaymentUnknown, ReasonNotQueued:
		return true
	}
	return false
}

// Actor is who made a change: "candidate", "worker", "reaper", "ingress",
// "gateway:<name>" or "operator:<who>".
type Actor string

// Seat is a seat token and its order in the level.
type Seat struct {
	Token string
	Score int64
}

// Change is one entry of a booking's history; entries are only ever appended.
type Change struct {
	From, To State
	At       time.Time
	Actor    Actor
	Reason   Reason
}

// PaymentKey names a payment: the gateway and its own id.
type PaymentKey struct {
	Gateway, ID string
}

// String is "gateway:id", the form in which Redis and logs carry a payment.
func (k PaymentKey) String() string {
	if k.Zero() {
		return ""
	}
	return k.Gateway + ":" + k.ID
}

// ParsePaymentKey reads the form that String writes.
func ParsePaymentKey(s string) (PaymentKey, bool) {
	gateway, id, ok := strings.Cut(s, ":")
	return PaymentKey{Gateway: gateway, ID: id}, ok && gateway != "" && id != ""
}

// Zero reports whether there is no payment.
func (k PaymentKey) Zero() bool { return k.ID == "" }

// Booking is the B item: one attempt of one candidate, under its own id for
// ever (protocol.md R2). Times are UTC with millisecond precision.
type Booking struct {
	ID, Sale, Candidate, Level string
	Seats                      []Seat
	State                      State
	Gen                        int64
	Payment                    PaymentKey // zero for some tombstones
	Price                      sale.Money // of the whole booking
	Key, InputHash, EmailHash  string     // what a reseed puts back into Redis
	AdmittedAt                 time.Time
	HoldUntil                  time.Time
	PaidAt, ReleasedAt         time.Time
	Reason                     Reason // of the last change of state
	Actor                      Actor
	UndoOwed                   bool   // Redis may still hold the seats (T5 clears it)
	Successor                  string // the booking that a late payment got
	ReleaseAsks                int    // how often the release gate has put the hold off (at most 5)
	Paying                     bool   // the commit gate was passed: an execute may have been called (protocol.md 2.2.4)
	History                    []Change
}

// Tokens returns the names of the booking's seats.
func (b Booking) Tokens() []string {
	t := make([]string, len(b.Seats))
	for i, s := range b.Seats {
		t[i] = s.Token
	}
	return t
}

// Resolution is what became of a payment (protocol.md 3.3, P item). It leaves
// Open by one conditional write, and Applied becomes Refund only by T8.
type Resolution string

// The resolutions.
const (
	Open    Resolution = "OPEN"
	Applied Resolution = "APPLIED"
	Refund  Resolution = "REFUND"
	Review  Resolution = "REVIEW" // amount, currency or payee differ: an operator decides
)

// RefundStep is how far a refund has come.
type RefundStep string

// The steps of a refund.
const (
	NoRefund   RefundStep = ""
	RefundDue  RefundStep = "DUE"
	RefundSent RefundStep = "SENT"
	RefundDone RefundStep = "DONE"
)

// PaymentRecord is the P item.
type PaymentRecord struct {
	Key         PaymentKey
	Sale        string
	BookingID   string
	Resolution  Resolution
	Refund      RefundStep
	AmountMinor int64 // captured, as the gateway said; 0 while Open
	Currency    string
	Reason      string // why Review or Refund
	At          time.Time
}

package ledger

import (
	"fmt"
	"time"
)

// Name names a transition as protocol.md 3.3 does.
type Name string

// The transitions.
const (
	T1Hold       Name = "T1"
	T2Pay        Name = "T2"
	T2PayUnheld  Name = "T2'"
	T3Expire     Name = "T3"
	T3Release    Name = "T3'"
	T4Tombstone  Name = "T4"
	T5UndoDone   Name = "T5"
	T6Refund     Name = "T6"
	T7Extend     Name = "T7"
	T8Cancel     Name = "T8"
	TLateApply   Name = "late-apply"
	TLateRefund  Name = "late-refund"
	TReview      Name = "review"
	TSecond      Name = "second-payment"
	TReleaseAsk  Name = "release-ask"
	TRefundReset Name = "review-refund" // an operator decides that a Review is refunded
	TAccept      Name = "review-accept" // an operator decides that a Review pays its booking
)

// Transition is one atomic conditional write. All of its parts happen or none.
// Stores read it as data; it is built only by the constructors of this package,
// one per legal transition.
type Transition struct {
	Name Name
	At   time.Time

	Create  *Booking       // B must not exist
	Update  *BookingChange // B must be in From (and more, see there)
	Claim   *Ownership     // C and each S: must be absent or ours; become ours
	Free    *Ownership     // C and each S: must be ours; go
	Link    *Link          // another B's successor is set (late re-admission)
	Payment *PaymentChange
}

// Ownership names the C and S items of a booking.
type Ownership struct {
	Sale, Candidate, BookingID string
	Tokens                     []string
}

// BookingChange changes one B item, only if it is in state From.
type BookingChange struct {
	ID, Sale  string
	From, To  State
	HeldUntil time.Time // not zero: also hold_until <= HeldUntil (T3, commit gate)
	Before    time.Time // not zero: also hold_until < Before (T7)

	PaidAt      time.Time  // set if not zero
	Payment     PaymentKey // set if not zero
	HoldUntil   time.Time  // set if not zero
	SetUndo     bool
	ClearUndo   bool
	ReleaseAsks int  // added
	Paying      bool // set if true, and never cleared
	Append      bool // append to the history and set reason, actor (state changes and extensions do)
	Reason      Reason
	Actor       Actor
}

// Link sets the successor of a released booking that has no other successor.
type Link struct {
	BookingID, Successor string
}

// PaymentCondition says when a P item may change.
type PaymentCondition int

// The conditions on a P item.
const (
	AbsentOrOwnOpen PaymentCondition = iota + 1 // absent, or ours and OPEN
	AbsentOrOpen                                // absent, or OPEN whoever's
	OwnApplied                                  // ours and APPLIED
	RefundIs                                    // REFUND at step FromRefund
	InReview                                    // REVIEW
	OwnInReview                                 // ours and REVIEW
)

// PaymentChange changes one P item.
type PaymentChange struct {
	Key         PaymentKey
	Sale        string
	BookingID   string // ours; written
	When        PaymentCondition
	FromRefund  RefundStep
	Resolution  Resolution
	Refund      RefundStep
	AmountMinor int64 // written with Currency if not 0
	Currency    string
	Reason      string // written if not empty
}

// Capture is a captured payment as the ledger sees it: a fact, not a gateway's type.
type Capture struct {
	Key         PaymentKey
	AmountMinor int64
	Currency    string
	At          time.Time
}

// TransitionError: the machine has no such transition from that state.
type TransitionError struct {
	BookingID string
	From      State
	Name      Name
}

// Error implements error.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("ledger: booking %s is %s: no transition %s from there", e.BookingID, orNone(e.From), e.Name)
}

func orNone(s State) string {
	if s == None {
		return "unknown to the ledger"
	}
	return string(s)
}

// IncompleteError: the booking lacks what the transition needs to write, so the
// caller has to find it first (protocol.md 3.6; case B28).
type IncompleteError struct {
	BookingID string
	Name      Name
	Missing   string
}

// Error implements error.
func (e *IncompleteError) Error() string {
	return fmt.Sprintf("ledger: %s of booking %q needs its %s: read it from Redis or from the gateway first", e.Name, e.BookingID, e.Missing)
}

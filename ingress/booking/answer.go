package booking

import "time"

// Verdict is the closed set of answers to a booking request.
type Verdict string

// The verdicts. The refusals carry the stable codes of the HTTP contract.
const (
	Created  Verdict = "created"  // held, and the payment waits
	Repeated Verdict = "repeated" // same key and input: the booking as it stands

	InProgress          Verdict = "in_progress"
	Duplicate           Verdict = "duplicate"
	LevelFull           Verdict = "level_full"
	SoldOut             Verdict = "sold_out"
	SeatTaken           Verdict = "seat_taken"
	IdempotencyMismatch Verdict = "idempotency_mismatch"
	InvalidRequest      Verdict = "invalid_request"
	InvalidCode         Verdict = "invalid_code"
	EmailMismatch       Verdict = "email_mismatch"
	LevelNotAllowed     Verdict = "level_not_allowed"
	HoldGone            Verdict = "hold_gone"
	Closed              Verdict = "closed"
	Unavailable         Verdict = "unavailable"
	PaymentUnavailable  Verdict = "payment_unavailable"
)

// State is a booking's state as candidates see it.
type State string

// The states.
const (
	Choosing  State = "choosing" // a soft hold: nothing is booked
	Held      State = "held"
	Paid      State = "paid"
	Released  State = "released"
	RefundDue State = "refund_due"
	Refunded  State = "refunded"
)

// Answer is what a booking request came to. Beside Verdict only those fields
// are set that the verdict is about; Created and Repeated have the first block.
type Answer struct {
	Verdict    Verdict
	BookingID  string
	State      State
	Level      string
	Seats      []string
	PaymentURL string // "" where there is none to give
	HoldUntil  time.Time

	OpensAt    time.Time     // Closed: zero if the sale has closed for good
	TakenSeat  string        // SeatTaken
	RetryAfter time.Duration // greater than 0 where a retry can help
}

func refused(v Verdict) Answer { return Answer{Verdict: v} }

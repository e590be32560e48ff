package operator

import (
	"fmt"
	"maps"
	"strings"
)

// Code says in one stable word why an operator's wish was refused.
type Code string

// The codes of refusals. The set is closed.
const (
	CodeUnknownSale    Code = "unknown_sale"
	CodeUnknownLevel   Code = "unknown_level"
	CodeUnknownBooking Code = "unknown_booking"
	CodeUnknownItem    Code = "unknown_item"
	CodeInvalid        Code = "invalid"
	CodeNotInstalled   Code = "not_installed"
	CodeFrozen         Code = "frozen"
	CodeRedisLost      Code = "redis_lost"      // Redis does not have the sale that the ledger has
	CodeRedisLayout    Code = "redis_layout"    // Redis keeps the sale in the form of another build
	CodeChecksFailed   Code = "checks_failed"   // the sale may not be opened
	CodeUnsafeChange   Code = "unsafe_change"   // a plan that would take something from somebody
	CodeBelowUsed      Code = "below_used"      // a cap below the seats in use
	CodeSeated         Code = "seated"          // a seat plan changes by name
	CodeCorrupt        Code = "corrupt"         // conservation does not hold: audit first
	CodeRosterEmpty    Code = "roster_empty"    // an import that would remove everybody
	CodeAlreadyPaid    Code = "already_paid"    // the payment was faster than the release
	CodeNotPaid        Code = "not_paid"        // a held booking is released, not cancelled
	CodeInProgress     Code = "in_progress"     // the gateway can't say now
	CodeNotInReview    Code = "not_in_review"   // there is nothing to refund
	CodeNotAcceptable  Code = "not_acceptable"  // the payment can't pay its booking any more
	CodeNotOver        Code = "not_over"        // a sale that still needs to know who booked
	CodeTooManyChanges Code = "changed_at_once" // other operators were faster each time
)

// RefusedError is a wish that can't be granted. Nothing was changed, unless the
// reasons say what was.
type RefusedError struct {
	Kind    Code
	Reasons []string       // for people, each with what to do; at least one
	Figures map[string]int // the numbers that show it
	cause   error          // what it is in the words of the room below; nil: nothing
}

// Error is the reasons, one a line where there are several.
func (e *RefusedError) Error() string {
	if len(e.Reasons) == 1 {
		return e.Reasons[0]
	}
	return fmt.Sprintf("%d reasons against it:\n  %s", len(e.Reasons), strings.Join(e.Reasons, "\n  "))
}

// Unwrap is the error of the room below, such as ledger.ErrNotFound.
func (e *RefusedError) Unwrap() error { return e.cause }

// Code is the stable word, for machines.
func (e *RefusedError) Code() string { return string(e.Kind) }

// Numbers are the figures, for machines; never nil.
func (e *RefusedError) Numbers() map[string]int {
	if e.Figures == nil {
		return map[string]int{}
	}
	return maps.Clone(e.Figures)
}

func refuse(code Code, figures map[string]int, format string, args ...any) *RefusedError {
	return &RefusedError{Kind: code, Reasons: []string{fmt.Sprintf(format, args...)}, Figures: figures}
}

func (e *RefusedError) because(cause error) *RefusedError {
	e.cause = cause
	return e
}

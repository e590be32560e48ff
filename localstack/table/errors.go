package table

import (
	"fmt"
	"strings"
)

// The codes of DynamoDB's errors, as the SDK matches them.
const (
	CodeValidation          = "ValidationException"
	CodeSerialization       = "SerializationException"
	CodeConditionFailed     = "ConditionalCheckFailedException"
	CodeTransactionCanceled = "TransactionCanceledException"
	CodeTransactionConflict = "TransactionConflictException"
	CodeTokenMismatch       = "IdempotentParameterMismatchException"
	CodeTableNotFound       = "ResourceNotFoundException"
	CodeTableInUse          = "ResourceInUseException"
	CodeThroughput          = "ProvisionedThroughputExceededException"
	CodeThrottling          = "ThrottlingException"
	CodeInternal            = "InternalServerError"
)

// The codes of a cancellation reason.
const (
	ReasonNone            = "None"
	ReasonConditionFailed = "ConditionalCheckFailed"
	ReasonConflict        = "TransactionConflict"
	ReasonValidation      = "ValidationError"
)

// Error is a refusal with DynamoDB's code. Nothing was written when a method
// returns one, except with CodeInternal, which may mean "the answer was lost".
type Error struct {
	Code    string
	Message string
	// Item is the present item, when a failed condition was asked for it.
	Item Item
	// Reasons has one entry per action of a cancelled transaction, in order.
	Reasons []Reason
	cause   error // the injected fault, if it was one
}

// Reason says why one action of a transaction failed (Code "None": it did not).
type Reason struct {
	Code    string
	Message string `json:",omitempty"`
	Item    Item   `json:",omitzero"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap gives the injected fault behind the error (fault.ErrThrottled, ...), if
// it was one.
func (e *Error) Unwrap() error { return e.cause }

func invalid(format string, args ...any) *Error {
	return &Error{Code: CodeValidation, Message: fmt.Sprintf(format, args...)}
}

var (
	numberTooLong   = invalid("Attempting to store more than 38 significant digits in a Number")
	numberOverflow  = invalid("Number overflow. Attempting to store a number with magnitude larger than supported range")
	numberUnderflow = invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	keyMismatch     = invalid("The provided key element does not match the schema")
	wrongOperand    = invalid("An operand in the update expression has an incorrect data type")
	noAttribute     = invalid("The provided expression refers to an attribute that does not exist in the item")
	wrongPath       = invalid("The document path provided in the update expression is invalid for update")
)

func conditionFailed(present Item) *Error {
	return &Error{Code: CodeConditionFailed, Message: "The conditional request failed", Item: present}
}

func canceled(reasons []Reason) *Error {
	codes := make([]string, len(reasons))
	for i, reason := range reasons {
		codes[i] = reason.Code
	}
	return &Error{
		Code: CodeTransactionCanceled,
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]",
		Reasons: reasons,
	}
}

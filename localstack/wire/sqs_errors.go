package wire

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/fifo"
)

const (
	sqsNamespace = "com.amazonaws.sqs#"
	oldNamespace = "AWS.SimpleQueueService." // of the codes that the query protocol spelled with it
)

// sqsError is an error as SQS words it: the shape of the JSON protocol and the code of the query protocol, which SDKs show to their callers.
type sqsError struct {
	status       int
	shape, query string
	msg          string
}

func (e *sqsError) Error() string { return e.shape + ": " + e.msg }

func invalid(format string, a ...any) error {
	return fmt.Errorf("%w: %s", fifo.ErrInvalid, fmt.Sprintf(format, a...))
}

func missing(parameter string) error {
	return fmt.Errorf("%w: the request must contain the parameter %s", fifo.ErrMissing, parameter)
}

func unsupported(format string, a ...any) error {
	return fmt.Errorf("%w: %s", fifo.ErrUnsupported, fmt.Sprintf(format, a...))
}

// sqsErrors words each kind of refusal; the first that fits counts.
var sqsErrors = []struct {
	err          error
	status       int
	shape, query string
}{
	{fifo.ErrUnsupported, 400, "UnsupportedOperation", oldNamespace + "UnsupportedOperation"}, // first: a value can be both unsupported and invalid
	{fifo.ErrNoQueue, 400, "QueueDoesNotExist", oldNamespace + "NonExistentQueue"},
	{fifo.ErrQueueExists, 400, "QueueNameExists", "QueueAlreadyExists"},
	{fifo.ErrInvalid, 400, "InvalidParameterValue", "InvalidParameterValue"},
	{fifo.ErrMissing, 400, "MissingParameter", "MissingParameter"},
	{fifo.ErrContents, 400, "InvalidMessageContents", "InvalidMessageContents"},
	{fifo.ErrReceiptInvalid, 400, "ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid"},
	{fifo.ErrReceiptExpired, 400, "InvalidParameterValue", "InvalidParameterValue"},
	{fifo.ErrNotInFlight, 400, "InvalidParameterValue", "InvalidParameterValue"},
	{fifo.ErrBatchEmpty, 400, "EmptyBatchRequest", oldNamespace + "EmptyBatchRequest"},
	{fifo.ErrBatchTooMany, 400, "TooManyEntriesInBatchRequest", oldNamespace + "TooManyEntriesInBatchRequest"},
	{fifo.ErrBatchTooLong, 400, "BatchRequestTooLong", oldNamespace + "BatchRequestTooLong"},
	{errBatchIDs, 400, "BatchEntryIdsNotDistinct", oldNamespace + "BatchEntryIdsNotDistinct"},
	{errBatchID, 400, "InvalidBatchEntryId", oldNamespace + "InvalidBatchEntryId"},
	{errAttributeName, 400, "InvalidAttributeName", "InvalidAttributeName"},
	{fault.ErrThrottled, 400, "RequestThrottled", "RequestThrottled"},
	{fault.ErrFailed, 500, "InternalFailure", "InternalFailure"},
	{fault.ErrConflict, 500, "InternalFailure", "InternalFailure"},
}

var (
	errBatchIDs      = errors.New("two entries of the batch have the same Id; make them distinct")
	errBatchID       = errors.New("the Id of a batch entry can only contain alphanumeric characters, hyphens and underscores, 1 to 80")
	errAttributeName = errors.New("no such attribute")
)

func asSQSError(err error) *sqsError {
	var e *sqsError
	if errors.As(err, &e) {
		return e
	}
	for _, known := range sqsErrors {
		if errors.Is(err, known.err) {
			return &sqsError{known.status, known.shape, known.query, err.Error()}
		}
	}
	return &sqsError{http.StatusInternalServerError, "InternalFailure", "InternalFailure", err.Error()}
}

// writeSQSError answers with an error, or with a broken connection where the answer is lost or nobody waits for it.
func writeSQSError(w http.ResponseWriter, err error) {
	if errors.Is(err, fault.ErrAnswerLost) || errors.Is(err, fifo.ErrCancelled) {
		Abort()
	}
	e := asSQSError(err)
	WriteError(w, e.status, sqsNamespace+e.shape, e.msg, e.query)
}

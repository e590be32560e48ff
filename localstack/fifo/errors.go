package fifo

import "errors"

// The kinds of refusal. Errors of this package wrap one of them, or one of package fault's; compare with errors.Is.
var (
	// ErrNoQueue: no queue has this name.
	ErrNoQueue = errors.New("the specified queue does not exist; create it first")
	// ErrQueueExists: a queue of this name has other attributes.
	ErrQueueExists = errors.New("a queue with this name exists and its attributes differ")
	// ErrInvalid: a parameter has a value that the service refuses.
	ErrInvalid = errors.New("invalid parameter")
	// ErrMissing: a required parameter is absent.
	ErrMissing = errors.New("missing parameter")
	// ErrContents: the message's body holds characters that SQS does not carry.
	ErrContents = errors.New("invalid characters in the message body; send valid UTF-8 without control characters")
	// ErrReceiptInvalid: this is no receipt handle of this queue.
	ErrReceiptInvalid = errors.New("the receipt handle is not valid for this queue")
	// ErrReceiptExpired: the message was visible again, or was given to another receiver, since this handle was issued.
	ErrReceiptExpired = errors.New("the receipt handle has expired; receive the message again")
	// ErrNotInFlight: the message of this handle can't have its visibility changed any more.
	ErrNotInFlight = errors.New("the message does not exist or is not available for a visibility change")
	// ErrBatchEmpty, ErrBatchTooMany, ErrBatchTooLong: the batch as a whole is refused, nothing is done.
	ErrBatchEmpty   = errors.New("the batch has no entry; send 1 to 10")
	ErrBatchTooMany = errors.New("the batch has more than 10 entries; send 1 to 10")
	ErrBatchTooLong = errors.New("the batch's messages exceed 1048576 bytes together; send fewer")
	// ErrUnsupported: SQS can do this, this engine can't.
	ErrUnsupported = errors.New("not implemented by the local cloud")
	// ErrWaiting: the poll has no answer yet; wait for Done.
	ErrWaiting = errors.New("the poll still waits")
	// ErrCancelled: the poll was cancelled by its caller.
	ErrCancelled = errors.New("the poll was cancelled")
)

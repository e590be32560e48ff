package fifo

import (
	"context"
	"errors"
	"net"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// outcome is what one attempt did to one event. Everything that is not known to
// have had no effect is unknown: that costs a ledger write, the opposite
// mistake sells a seat twice (protocol.md 3A row 1).
type outcome uint8

const (
	unknown  outcome = iota // it may be queued; send it again
	notSent                 // certainly not queued; send it again
	refused                 // certainly not queued, and never will be
	enqueued                // in the queue
)

// outcomeOfCall is the outcome for every entry of a call that failed as a whole.
func outcomeOfCall(err error) outcome {
	var response *smithyhttp.ResponseError
	var api smithy.APIError
	if errors.As(err, &response) && errors.As(err, &api) {
		switch status := response.HTTPStatusCode(); {
		case throttled(api.ErrorCode()) || status == 429:
			return notSent
		case status >= 400 && status < 500:
			return refused
		}
		return unknown
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" { // nothing was ever written
		return notSent
	}
	return unknown
}

// outcomeOfEntry is the outcome of one entry that SQS reported as failed.
func outcomeOfEntry(e *EntryError) outcome {
	switch {
	case throttled(e.Code):
		return notSent
	case e.SenderFault:
		return refused
	}
	return unknown
}

func throttled(code string) bool {
	_, ok := retry.DefaultThrottleErrorCodes[code]
	return ok || code == "KmsThrottled" || code == "KMS.ThrottlingException"
}

// attempt makes one call and gives each entry its outcome, and a reason where
// that is not enqueued.
func attempt(ctx context.Context, client Sender, in *sqs.SendMessageBatchInput) ([]outcome, []error) {
	n := len(in.Entries)
	outcomes, reasons := make([]outcome, n), make([]error, n)
	out, err := client.SendMessageBatch(ctx, in, once)
	if err != nil {
		o := outcomeOfCall(err)
		for i := range n {
			outcomes[i], reasons[i] = o, err
		}
		return outcomes, reasons
	}
	for i := range n {
		reasons[i] = errNotMentioned
	}
	for _, ok := range out.Successful {
		if i := index(ok.Id, n); i >= 0 {
			outcomes[i], reasons[i] = enqueued, nil
		}
	}
	for _, failed := range out.Failed {
		if i := index(failed.Id, n); i >= 0 {
			e := entryError(failed)
			outcomes[i], reasons[i] = outcomeOfEntry(e), e
		}
	}
	return outcomes, reasons
}

var errNotMentioned = errors.New("sqs: the answer does not mention the entry")

// codeOf is the service's error code, or "".
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

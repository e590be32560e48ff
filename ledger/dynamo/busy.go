package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast/holdfast/ledger"
)

// A busy table is asked again so often, with a pause of up to twice as long
// each time: about half a second in all, on top of the SDK's own attempts.
const (
	patience   = 6
	firstPause = 10 * time.Millisecond
	mostPause  = 200 * time.Millisecond
)

// patiently repeats a call while the table is busy, then gives up with
// ledger.ErrBusy. Any other error is returned at once.
func (s *Store) patiently(ctx context.Context, what string, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if err == nil {
			return nil
		}
		if !busy(err) {
			return fmt.Errorf("%s: %w", what, err)
		}
		if attempt == patience {
			return fmt.Errorf("%s: %w (%w)", what, ledger.ErrBusy, err)
		}
		if err := s.pause(ctx, backoff(attempt)); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// backoff is the pause after the n-th attempt, with full jitter: rivals that
// met once must not meet again.
func backoff(n int) time.Duration {
	most := min(mostPause, firstPause<<min(n-1, 10))
	return 1 + rand.N(most)
}

// busy reports whether nothing was decided and a repeat is worth it.
func busy(err error) bool {
	if cancelled := reasons(err); cancelled != nil {
		return undecided(cancelled)
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
		"TransactionConflictException", "TransactionInProgressException":
		return true
	}
	return false
}

// undecided reports whether a cancelled transaction met only rivals and limits.
// A condition that failed beside them decides: the transaction could not have
// been written.
func undecided(all []types.CancellationReason) bool {
	met := false
	for _, r := range all {
		switch aws.ToString(r.Code) {
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			met = true
		case "None", "":
		default:
			return false
		}
	}
	return met
}

// reasons are those of a cancelled transaction; nil if err is something else.
func reasons(err error) []types.CancellationReason {
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return cancelled.CancellationReasons
	}
	return nil
}

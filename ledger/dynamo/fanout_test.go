package dynamo

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// However a walk ends, each runs on the caller's goroutine only and nothing is
// still reading when it returns.
func TestFanOutEndsWhatItStarted(t *testing.T) {
	broken, stop := errors.New("broken"), errors.New("stop")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		breaks int // the part whose read fails
		stops  int // the row at which each fails
		want   error
	}{
		{"to the end", t.Context(), -1, -1, nil},
		{"a part breaks", t.Context(), 3, -1, broken},
		{"the visitor stops", t.Context(), -1, 5, stop},
		{"the context is over", cancelled, -1, -1, context.Canceled},
	} {
		var reading atomic.Int64
		rows := 0 // not atomic: the race detector watches it
		err := fanOut(c.ctx, shards, func(_ context.Context, part int, emit func([]item) error) error {
			reading.Add(1)
			defer reading.Add(-1)
			for range 3 {
				if part == c.breaks {
					return broken
				}
				if err := emit([]item{{}, {}}); err != nil {
					return err
				}
			}
			return nil
		}, func(item) error {
			if rows++; rows == c.stops {
				return stop
			}
			return nil
		})
		if !errors.Is(err, c.want) || reading.Load() != 0 {
			t.Errorf("%s: %v with %d parts still read, want %v and none", c.name, err, reading.Load(), c.want)
		}
		if c.want == nil && rows != shards*6 || c.stops > 0 && rows != c.stops {
			t.Errorf("%s: %d rows", c.name, rows)
		}
	}
}

func TestUndecided(t *testing.T) {
	for _, c := range []struct {
		codes []string
		want  bool
	}{
		{[]string{"None", "TransactionConflict"}, true},
		{[]string{"ThrottlingError", "None"}, true},
		{[]string{"ProvisionedThroughputExceeded"}, true},
		{[]string{"TransactionConflict", "ConditionalCheckFailed"}, false}, // decided: it could not have been written
		{[]string{"ThrottlingError", "ValidationError"}, false},            // no repeat will help
		{[]string{"None"}, false},
		{nil, false},
	} {
		var reasons []types.CancellationReason
		for _, code := range c.codes {
			reasons = append(reasons, types.CancellationReason{Code: aws.String(code)})
		}
		if got := undecided(reasons); got != c.want {
			t.Errorf("%v: undecided %v, want %v", c.codes, got, c.want)
		}
	}
}

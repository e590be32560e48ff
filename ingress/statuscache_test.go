package ingress

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// hanging is a ledger that does not answer.
type hanging struct{ reads atomic.Int64 }

func (h *hanging) StatusDoc(ctx context.Context, _ string) ([]byte, int64, int64, error) {
	h.reads.Add(1)
	<-ctx.Done()
	return nil, 0, 0, ctx.Err()
}

// A crowd that asks for a status while the ledger hangs waits once, together.
func TestStatusCrowdWaitsOnceForAHangingLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := &hanging{}
		s := newStatusCache(from, time.Now)
		start := time.Now()
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() {
				if _, err := s.document(t.Context(), "spring"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took > statusFor || from.reads.Load() != 1 {
			t.Errorf("%v, %d reads", took, from.reads.Load())
		}
		time.Sleep(statusAge)
		_, _ = s.document(t.Context(), "spring")
		if from.reads.Load() != 2 {
			t.Error("an error is kept for ever")
		}
	})
}

// One caller who goes away does not make the others believe that the ledger failed.
func TestStatusReaderWhoGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := &hanging{}
		s := newStatusCache(from, time.Now)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		_, err := s.document(gone, "spring")
		if took := time.Since(start); took != statusFor || err == nil {
			t.Errorf("the read ended after %v: %v", took, err)
		}
	})
}

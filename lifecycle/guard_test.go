package lifecycle_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
)

// A release that arrives late, or twice, finds the guard of the next caller of
// the same booking, and leaves it alone.
func TestLateReleaseLeavesTheNextCallersGuard(t *testing.T) {
	w := lifecycletest.New(t)
	b := w.Book("c1", "N1", w.Exec)
	guard := &recorder{ExecuteGuard: w.Redis}
	w.Steps.Guard = guard
	if got, err := w.Steps.Gate(t.Context(), lifecycletest.Sale, b.Key); err != nil || got.Verdict != lifecycle.GateUnpaid {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(guard.took) != 1 || !slices.Equal(guard.took, guard.let) {
		t.Fatalf("took as %v, let go as %v", guard.took, guard.let)
	}
	late := guard.let[0]
	next := lifecycle.GuardHolder()
	for _, c := range []struct {
		holder string
		want   bool
	}{{next, true}, {late, false}, {next, false}} {
		got, err := w.Redis.AcquireExecute(t.Context(), lifecycletest.Sale, b.Key.String(), c.holder, time.Minute)
		if err != nil || got != c.want {
			t.Fatalf("%s may execute: %t, %v", c.holder, got, err)
		}
		if err := w.Redis.ReleaseExecute(t.Context(), lifecycletest.Sale, b.Key.String(), late); err != nil {
			t.Fatal(err)
		}
	}
}

// recorder notes under which names the guard was taken and let go.
type recorder struct {
	payment.ExecuteGuard
	took, let []string
}

func (r *recorder) AcquireExecute(ctx context.Context, sale, paymentID, holder string, ttl time.Duration) (bool, error) {
	r.took = append(r.took, holder)
	return r.ExecuteGuard.AcquireExecute(ctx, sale, paymentID, holder, ttl)
}

func (r *recorder) ReleaseExecute(ctx context.Context, sale, paymentID, holder string) error {
	r.let = append(r.let, holder)
	return r.ExecuteGuard.ReleaseExecute(ctx, sale, paymentID, holder)
}

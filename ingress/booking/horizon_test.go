package booking

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type nameKey struct{}

// A term ends by its deadline and by nothing else: not with its request, and not
// later than was asked for.
func TestTermOutlivesItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHorizon()
		time.Sleep(7 * time.Millisecond) // off the grid
		request, leave := context.WithCancelCause(context.WithValue(t.Context(), nameKey{}, "ann"))
		leave(errors.New("the tab was closed"))
		var place term
		start := time.Now()
		ctx := h.detached(request, time.Second, &place)
		if ctx.Err() != nil || context.Cause(ctx) != nil {
			t.Fatalf("it ended with its request: %v, %v", ctx.Err(), context.Cause(ctx))
		}
		if ctx.Value(nameKey{}) != "ann" {
			t.Error("the request's values are gone")
		}
		child, cancel := context.WithCancel(ctx)
		defer cancel()
		if child.Err() != nil {
			t.Fatal("what derives from it ended with the request")
		}
		<-child.Done()
		if took := time.Since(start); took > time.Second || took <= time.Second-grain {
			t.Errorf("it ended after %v", took)
		}
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(child), context.DeadlineExceeded) {
			t.Errorf("ended by %v, its child by %v", ctx.Err(), context.Cause(child))
		}
	})
}

func TestShorterTermWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHorizon()
		var place, inner term
		whole := h.detached(t.Context(), 100*time.Millisecond, &place)
		if got := h.within(whole, time.Second, &inner); got != whole {
			t.Error("a part lasts longer than the whole")
		}
		short := h.within(whole, 50*time.Millisecond, &inner)
		<-short.Done()
		if whole.Err() != nil {
			t.Error("the whole ended with its part")
		}
		if at, _ := h.within(whole, time.Nanosecond, nil).Deadline(); !at.After(time.Now()) {
			t.Error("the shortest term is over before it begins")
		}
	})
}

// However many bookings come, only the instants ahead are kept.
func TestHorizonForgetsWhatHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHorizon()
		for range 1000 {
			var place term
			h.detached(t.Context(), 10*grain, &place)
			h.detached(t.Context(), 10*grain, &place)
			time.Sleep(grain)
		}
		if n := len(h.ends); n > 12 {
			t.Errorf("%d instants are kept, want those of the next %v", n, 10*grain)
		}
	})
}

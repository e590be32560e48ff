//go:build !race

package redis

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// A leader lets those who are ready run first, so that they are in its batch. Else
// whoever comes first of many goes alone, and so does the next. The race detector
// shuffles who runs when, so it is not for this test.
func TestWhoIsReadyIsInTheBatch(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that ready is not running elsewhere
	const rounds, callers = 50, 40
	var batches atomic.Int64
	g := newGroup(CommitOptions{InFlight: 1}.complete(), func(context.Context, string) string { return "" },
		func(_ context.Context, _ string, calls []*call[int, int]) {
			batches.Add(1)
			for _, c := range calls {
				c.deliver(c.ask, nil)
			}
		})
	for range rounds {
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				if got, err := g.do(t.Context(), "s", i); got != i || err != nil {
					t.Errorf("asked %d, answered %d, %v", i, got, err)
				}
			})
		}
		wg.Wait()
	}
	n := batches.Load()
	t.Logf("%d batches of %d calls", n, rounds*callers)
	if n > rounds*callers/8 {
		t.Errorf("%d calls of %d who come at once took %d batches", rounds*callers, callers, n)
	}
}

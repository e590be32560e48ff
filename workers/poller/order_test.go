package poller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/workers/poller"
)

func TestEachMessageOnceAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, done, nil)
		defer r.quit()
		for i := range 25 {
			r.send("c1", fmt.Sprint("A", i))
			r.send(fmt.Sprint("d", i), fmt.Sprint("D", i))
		}
		synctest.Wait()
		if n := len(r.seen("")); n != 50 {
			t.Errorf("%d calls, want 50", n)
		}
		var c1 []string
		for _, bid := range r.seen("") {
			if bid[0] == 'A' {
				c1 = append(c1, bid)
			}
		}
		for i, bid := range c1 {
			if bid != fmt.Sprint("A", i) {
				t.Fatalf("order of one group: %v", c1)
			}
		}
		if r.left(queue) != 0 || r.poller.InFlight() != 0 {
			t.Errorf("%d left, %d in flight", r.left(queue), r.poller.InFlight())
		}
	})
}

// Groups are handled side by side, but no more than Workers of them.
func TestGroupsInParallelWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := start(t, func(context.Context, string, events.Meta) error {
			<-gate
			return nil
		}, func(c *poller.Config) { c.Workers, c.EventTimeout = 3, time.Hour })
		defer r.quit()
		for i := range 50 {
			r.send(fmt.Sprint("c", i), fmt.Sprint("B", i))
		}
		synctest.Wait()
		if n := len(r.seen("")); n != 3 {
			t.Errorf("%d groups at work, want 3", n)
		}
		if n := r.poller.InFlight(); n > 3+2*10 {
			t.Errorf("%d messages taken, want no more than the workers and two polls", n)
		}
		close(gate)
		synctest.Wait()
		if n := len(r.seen("")); n != 50 || r.left(queue) != 0 {
			t.Errorf("%d handled, %d left", n, r.left(queue))
		}
	})
}

// protocol.md 3.6: stop a group at its first failure; the others go on.
func TestFirstFailureStopsItsGroupOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, failTimes("B2", 1), nil)
		defer r.quit()
		r.send("c1", "B1", "B2", "B3")
		r.send("c2", "X1")
		synctest.Wait()
		if got := r.seen("B3"); len(got) != 0 {
			t.Error("B3 was handled before B2")
		}
		if got := r.seen("X1"); len(got) != 1 {
			t.Error("another group waits for the failed one")
		}
		pass(2 * time.Second)
		got := slices.DeleteFunc(r.seen(""), func(s string) bool { return s == "X1" })
		if d := cmp.Diff([]string{"B1", "B2", "B2", "B3"}, got); d != "" {
			t.Error(d)
		}
		if r.left(queue) != 0 {
			t.Errorf("%d left", r.left(queue))
		}
	})
}

// Retries back off by how often the message was received, up to the dead letter
// queue's policy.
func TestRetriesBackOffUntilTheDeadLetterQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backoff := func(receives int) time.Duration { return time.Duration(receives) * 10 * time.Second }
		r := start(t, failTimes("B1", 99), func(c *poller.Config) { c.Backoff = backoff })
		defer r.quit()
		r.send("c1", "B1")
		pass(5 * time.Minute)
		var gaps []time.Duration
		at := locked(r, &r.at)
		for i := 1; i < len(at); i++ {
			gaps = append(gaps, at[i].Sub(at[i-1]))
		}
		if d := cmp.Diff([]time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}, gaps); d != "" {
			t.Error(d)
		}
		if r.left(queue) != 0 || r.left(dead) != 1 {
			t.Errorf("%d in the queue, %d dead; want 0 and 1", r.left(queue), r.left(dead))
		}
	})
}

func TestBackoffIsBounded(t *testing.T) {
	for receives, most := range map[int]time.Duration{-1: time.Second, 1: time.Second, 2: 2 * time.Second, 6: 32 * time.Second, 7: time.Minute, 1000: time.Minute} {
		for range 100 {
			if d := poller.Backoff(receives); d <= most/2 || d > most {
				t.Fatalf("Backoff(%d) = %v, want within (%v, %v]", receives, d, most/2, most)
			}
		}
	}
}

// A message delivered twice at the same time (protocol.md scenario 20) reaches
// the handler twice; both deliveries end, and nothing is left.
func TestDuplicateDeliveryIsHandledTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(ctx context.Context, _ string, _ events.Meta) error {
			time.Sleep(time.Second)
			return nil
		}, nil)
		defer r.quit()
		r.faults.Once(receive, fault.Verdict{Kind: fault.Duplicate}) // of the poll after those that wait
		pass(25 * time.Second)
		r.send("c1", "B1")
		pass(time.Minute)
		if n := len(r.seen("B1")); n != 2 || r.left(queue) != 0 {
			t.Errorf("handled %d times, %d left; want twice and none", n, r.left(queue))
		}
	})
}

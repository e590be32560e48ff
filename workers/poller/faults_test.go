package poller_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/workers/poller"
)

var (
	receive    = fault.Point{Op: "ReceiveMessage"}
	visibleOp  = fault.Point{Op: "ChangeMessageVisibilityBatch"}
	deleteOp   = fault.Point{Op: "DeleteMessageBatch"}
	failedCall = fault.Verdict{Kind: fault.FailBefore}
)

// Work that takes longer than the visibility stays hidden from others.
func TestHeartbeatKeepsLongWorkHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(_ context.Context, bid string, m events.Meta) error {
			if m.ReceiveCount != 1 {
				t.Errorf("%s came for the time %d", bid, m.ReceiveCount)
			}
			time.Sleep(5 * visibility)
			return nil
		}, func(c *poller.Config) { c.EventTimeout = time.Hour })
		defer r.quit()
		r.faults.Inject(visibleOp, 1, 2, failedCall) // two lost extensions in a row do no harm
		r.send("c1", "B1", "B2")
		pass(12 * visibility)
		if d := cmp.Diff([]string{"B1", "B2"}, r.seen("")); d != "" {
			t.Error(d)
		}
		if r.faults.Fired(fault.FailBefore) != 2 || r.left(queue) != 0 {
			t.Errorf("%d faults, %d left", r.faults.Fired(fault.FailBefore), r.left(queue))
		}
	})
}

// Without extensions the message comes again while it is in work: it is handled
// twice (the ledger fences it), and the rest of its group is not handled by a
// worker that has lost it.
func TestExpiredVisibilityGivesUpTheRestOfTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(_ context.Context, bid string, m events.Meta) error {
			if bid == "B1" && m.ReceiveCount == 1 {
				time.Sleep(visibility + 10*time.Second)
			}
			return nil
		}, func(c *poller.Config) { c.EventTimeout = time.Hour })
		defer r.quit()
		r.faults.Inject(visibleOp, 0, -1, failedCall)
		r.send("c1", "B1", "B2")
		pass(2 * visibility)
		if d := cmp.Diff([]string{"B1", "B1", "B2"}, r.seen("")); d != "" {
			t.Error(d)
		}
		if r.left(queue) != 0 || r.poller.InFlight() != 0 {
			t.Errorf("%d left, %d in flight", r.left(queue), r.poller.InFlight())
		}
		if locked(r, &r.tidy)["extend"] == 0 {
			t.Error("nobody was told of the lost extensions")
		}
	})
}

// The answer of a poll is lost: the messages must not wait for the visibility.
func TestLostReceiveIsRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, done, func(c *poller.Config) { c.Pollers = 1 })
		defer r.quit()
		r.faults.Once(receive, fault.Verdict{Kind: fault.LoseAnswer}) // of the poll after the one that waits
		pass(25 * time.Second)
		r.send("c1", "B1")
		pass(5 * time.Second)
		if r.faults.Fired(fault.LoseAnswer) != 1 {
			t.Fatal("the fault did not happen")
		}
		if d := cmp.Diff([]string{"B1"}, r.seen("")); d != "" {
			t.Error(d)
		}
	})
}

func TestFailedPollsAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, done, nil)
		defer r.quit()
		r.faults.Inject(receive, 0, 40, fault.Verdict{Kind: fault.Throttle})
		pass(21 * time.Second)
		r.send("c1", "B1")
		pass(5 * time.Minute) // past the life of an attempt
		if len(r.seen("B1")) != 1 || r.faults.Fired(fault.Throttle) != 40 {
			t.Errorf("handled %v after %d failed polls", r.seen(""), r.faults.Fired(fault.Throttle))
		}
	})
}

func TestFailedDeletes(t *testing.T) {
	for _, c := range []struct {
		name    string
		faults  int // failing calls
		handled int
	}{
		{"once: repeated", 1, 1},
		{"twice: the message comes again and is handled as done", 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, done, nil)
				defer r.quit()
				r.faults.Inject(deleteOp, 0, c.faults, fault.FailEntries(0))
				r.send("c1", "B1")
				pass(2 * visibility)
				if n := len(r.seen("B1")); n != c.handled || r.left(queue) != 0 || r.poller.InFlight() != 0 {
					t.Errorf("handled %d times, want %d; %d left", n, c.handled, r.left(queue))
				}
			})
		})
	}
}

// Deletes share calls, and one failed entry doesn't spoil the others.
func TestPartialDeleteFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(_ context.Context, bid string, _ events.Meta) error {
			if bid != "B1" {
				time.Sleep(100 * time.Millisecond)
			}
			return nil
		}, func(c *poller.Config) { c.Pollers = 1 })
		defer r.quit()
		r.faults.Once(deleteOp, fault.SlowBy(time.Second))    // B1's; the other five gather behind it
		r.faults.Inject(deleteOp, 0, 2, fault.FailEntries(0)) // B2 fails in their call, and alone
		r.send("c1", "B1", "B2", "B3", "B4", "B5", "B6")
		pass(2 * time.Second)
		if n := r.left(queue); n != 1 || r.faults.Fired(fault.Partial) != 2 {
			t.Fatalf("%d left after %d failures, want only B2 after 2", n, r.faults.Fired(fault.Partial))
		}
		pass(2 * visibility)
		if n := len(r.seen("B2")); r.left(queue) != 0 || n != 2 {
			t.Errorf("%d left, B2 handled %d times", r.left(queue), n)
		}
	})
}

func TestPoisonIsParkedAndItsGroupGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(_ context.Context, bid string, _ events.Meta) error {
			if bid == "B1" {
				return events.Park("unknown_payment", errors.New("no such payment"))
			}
			return nil
		}, nil)
		defer r.quit()
		r.sendRaw("c1", "no event at all")
		r.send("c1", "B1", "B2")
		synctest.Wait()
		if d := cmp.Diff([]string{"c1 undecodable no event", `c1 unknown_payment {"v":1,"`}, locked(r, &r.parked)); d != "" {
			t.Error(d)
		}
		if len(r.seen("B2")) != 1 || r.left(queue) != 0 {
			t.Errorf("B2 %v, %d left", r.seen("B2"), r.left(queue))
		}
		if d := cmp.Diff([]string{"park", "park", "ack"}, r.verdicts()); d != "" {
			t.Error(d)
		}
	})
}

// Only what is kept elsewhere is deleted.
func TestPoisonStaysUntilItIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parks := 0
		r := start(t, done, func(c *poller.Config) {
			c.Parker = parkerFunc(func(context.Context, string, events.Meta, string) error {
				if parks++; parks == 1 {
					return errTryAgain
				}
				return nil
			})
		})
		defer r.quit()
		r.sendRaw("c1", "no event at all")
		r.send("c1", "B1")
		synctest.Wait()
		if len(r.seen("")) != 0 || r.left(queue) != 2 {
			t.Errorf("handled %v, %d left; want the group to wait", r.seen(""), r.left(queue))
		}
		pass(2 * time.Second)
		if parks != 2 || len(r.seen("B1")) != 1 || r.left(queue) != 0 {
			t.Errorf("%d parks, handled %v, %d left", parks, r.seen(""), r.left(queue))
		}
	})
}

// A newer build's event waits for a newer worker; a panic for a better day.
func TestRetriedNotParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(context.Context, string, events.Meta) error { panic("bug") }, nil)
		defer r.quit()
		r.sendRaw("c1", `{"v":2,"type":"booking.moved"}`)
		r.send("c2", "B1")
		synctest.Wait()
		if got := r.verdicts(); len(got) != 2 || slices.Contains(got, "park") || slices.Contains(got, "ack") {
			t.Errorf("verdicts %v, want two retries", got)
		}
		pass(10 * time.Minute)
		if r.left(queue) != 0 || r.left(dead) != 2 || len(locked(r, &r.parked)) != 0 {
			t.Errorf("%d left, %d dead, parked %v; want both in the dead letter queue", r.left(queue), r.left(dead), locked(r, &r.parked))
		}
	})
}

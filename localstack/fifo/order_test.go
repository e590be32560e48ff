package fifo_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
)

func TestInFlightMessageBlocksOnlyLaterOnesOfItsGroup(t *testing.T) {
	k := newKit(t, nil)
	k.send("A", "a1", "a2", "a3")
	k.send("B", "b1")
	first := k.expect(1, "a1")
	k.expect(10, "b1")
	k.expect(10, "")
	k.must(k.Delete(q, first[0].Receipt))
	k.expect(10, "a2 a3")
}

func TestEarlierMessageIsDeliveredWhileALaterOneIsHeld(t *testing.T) {
	k := newKit(t, nil)
	k.send("A", "1", "2")
	m := k.expect(2, "1 2")
	k.must(k.ChangeVisibility(q, m[0].Receipt, 0))
	k.expect(10, "1")
}

func TestRedeliveryKeepsOrder(t *testing.T) {
	for name, c := range map[string]struct {
		extend int // index of the message whose time is extended; -1 none
		delete int // index of the message that is deleted; -1 none
		want   string
	}{
		"all":               {-1, -1, "1 2 3"},
		"middle deleted":    {-1, 1, "1 3"},
		"first extended":    {0, -1, ""},
		"second extended":   {1, -1, "1"},
		"last extended":     {2, -1, "1 2"},
		"deleted, extended": {2, 0, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, visibility(time.Second))
			k.send("A", "1", "2", "3")
			m := k.expect(10, "1 2 3")
			if c.extend >= 0 {
				k.must(k.ChangeVisibility(q, m[c.extend].Receipt, 5*time.Second))
			}
			if c.delete >= 0 {
				k.must(k.Delete(q, m[c.delete].Receipt))
			}
			k.pass(time.Second)
			k.expect(10, c.want)
		})
	}
}

func TestBatchGivenBackBackwardsComesInOrder(t *testing.T) {
	k := newKit(t, nil)
	k.send("A", "1", "2", "3", "4")
	m := k.expect(10, "1 2 3 4")
	var changes []fifo.VisibilityChange
	for i := len(m) - 1; i >= 0; i-- {
		changes = append(changes, fifo.VisibilityChange{Receipt: m[i].Receipt})
	}
	errs, err := k.ChangeVisibilityBatch(q, changes)
	k.must(errors.Join(append(errs, err)...))
	k.expect(10, "1 2 3 4")
}

func TestHeldGroupDoesNotBlockOthers(t *testing.T) {
	k := newKit(t, visibility(time.Second))
	k.send("A", "a")
	m := k.expect(1, "a")
	k.must(k.ChangeVisibility(q, m[0].Receipt, time.Hour))
	k.send("B", "b")
	k.expect(10, "b")
	k.pass(time.Second)
	k.expect(10, "b")
}

func TestJumpOfTheClockEqualsSmallSteps(t *testing.T) {
	for _, c := range []struct {
		back time.Duration // when a1 is back; at 60 s b1 is dropped, which frees b2
		want string
	}{{59 * time.Second, "a1 b2"}, {61 * time.Second, "b2 a1"}} {
		for _, steps := range []int{1, 119} {
			k := newKit(t, func(c *fifo.Config) { c.Retention, c.VisibilityTimeout = 60*time.Second, time.Hour })
			k.send("B", "b1")
			k.expect(1, "b1")
			k.pass(2 * time.Second)
			k.send("B", "b2")
			k.send("A", "a1")
			m := k.expect(1, "a1")
			k.must(k.ChangeVisibility(q, m[0].Receipt, c.back-2*time.Second))
			for range steps {
				k.pass(59500 * time.Millisecond / time.Duration(steps))
				k.Advance()
			}
			k.expect(10, c.want)
		}
	}
}

func TestQueueDelayHidesEveryMessageAndCanBeChanged(t *testing.T) {
	k := newKit(t, func(c *fifo.Config) { c.Delay = 10 * time.Second })
	k.send("A", "1")
	k.pass(9 * time.Second)
	k.expect(1, "")
	k.must(k.Configure(q, func(c *fifo.Config) { c.Delay = 9 * time.Second }))
	k.expect(1, "1")
}

func TestInFlightLimitYieldsNothingAndNoError(t *testing.T) {
	k := newKit(t, nil)
	for i := range limit + 5 {
		k.send(strconv.Itoa(i), "x")
	}
	var last []fifo.Message
	taken := 0
	for m := k.receive(7); len(m) > 0; m = k.receive(7) {
		last, taken = m, taken+len(m)
	}
	if taken != limit {
		t.Fatalf("%d messages in flight, want %d", taken, limit)
	}
	p := k.poll(10, time.Second)
	k.waits(p)
	k.must(k.Delete(q, last[0].Receipt))
	k.answered(p, "x")
}

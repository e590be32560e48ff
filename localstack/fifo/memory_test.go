package fifo

import (
	"fmt"
	"testing"
	"time"
)

// A queue that is empty again holds nothing of what went through it, except for five minutes the ids of its windows.
func TestNothingIsKeptOfWhatIsGone(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	c := New(Options{Now: func() time.Time { return now }})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.CreateQueue("q.fifo", nil))
	q := c.queues["q.fifo"]
	for i := range 3000 {
		now = now.Add(time.Second)
		_, err := c.Send("q.fifo", SendInput{Group: fmt.Sprint(i), DedupID: fmt.Sprint(i), Body: "x"})
		must(err)
		for range 3 { // handles of deliveries that expired
			m, err := c.Receive("q.fifo", ReceiveInput{Max: 1, AttemptID: fmt.Sprint(i)}).Answer()
			must(err)
			must(c.ChangeVisibility("q.fifo", m[0].Receipt, 0))
		}
		m, err := c.Receive("q.fifo", ReceiveInput{Max: 1}).Answer()
		must(err)
		must(c.Delete("q.fifo", m[0].Receipt))
		if n := len(q.dedup.order); n > 2*301 {
			t.Fatalf("after %d messages the window keeps %d of the 300 ids it needs", i, n)
		}
	}
	now = now.Add(windowLength)
	c.Advance()
	for what, n := range map[string]int{
		"messages": len(q.bySeq), "groups": len(q.groups), "ready groups": q.ready.Len(), "timers": len(q.timers),
		"dedup ids": len(q.dedup.entries) + len(q.dedup.order), "attempts": len(q.attempts.entries) + len(q.attempts.order), "polls": q.polls.Len(),
	} {
		if n != 0 {
			t.Errorf("%d %s left", n, what)
		}
	}
	if q.oldest != nil || q.newest != nil || q.counts != [3]int{} {
		t.Errorf("list %v %v, counts %v", q.oldest, q.newest, q.counts)
	}
}

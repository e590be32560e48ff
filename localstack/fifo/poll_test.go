package fifo_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
)

func (k *kit) poll(max int, wait time.Duration) *fifo.Poll {
	return k.Receive(q, fifo.ReceiveInput{Max: max, Wait: ptr(wait)})
}

func (k *kit) waits(polls ...*fifo.Poll) {
	k.t.Helper()
	for i, p := range polls {
		if _, err := p.Answer(); !errors.Is(err, fifo.ErrWaiting) {
			k.t.Fatalf("poll %d does not wait: %v", i, err)
		}
	}
}

func (k *kit) answered(p *fifo.Poll, want string) []fifo.Message {
	k.t.Helper()
	m, err := p.Answer()
	k.must(err)
	if bodies(m) != want {
		k.t.Fatalf("answered %q, want %q", bodies(m), want)
	}
	return m
}

func TestPollsAreAnsweredByWhateverFreesAMessage(t *testing.T) {
	k := newKit(t, visibility(30*time.Second))
	sent := k.poll(1, 20*time.Second)
	k.waits(sent)
	k.send("A", "1", "2")
	m := k.answered(sent, "1")

	unblocked := k.poll(1, 20*time.Second)
	k.waits(unblocked)
	k.must(k.Delete(q, m[0].Receipt))
	m = k.answered(unblocked, "2")

	givenBack := k.poll(1, 20*time.Second)
	k.waits(givenBack)
	k.must(k.ChangeVisibility(q, m[0].Receipt, 0))
	m = k.answered(givenBack, "2")

	k.must(k.ChangeVisibility(q, m[0].Receipt, 5*time.Second))
	expired := k.poll(1, 20*time.Second)
	k.waits(expired)
	next, ok := k.NextEvent()
	if !ok || next != k.now().Add(5*time.Second) {
		t.Fatalf("next event %v %v, want in 5 s", next, ok)
	}
	k.pass(5 * time.Second)
	k.waits(expired) // time alone does nothing
	k.Advance()
	k.answered(expired, "2")
}

func TestPollsAreAnsweredInTheirOrderAndNoneInVain(t *testing.T) {
	k := newKit(t, nil)
	first, second := k.poll(10, 20*time.Second), k.poll(10, 20*time.Second)
	k.send("A", "a")
	k.answered(first, "a")
	k.waits(second)
	k.send("A", "behind a") // blocked
	k.waits(second)
	k.send("B", "b")
	k.answered(second, "b")
}

func TestPollEndsEmptyAtItsDeadline(t *testing.T) {
	k := newKit(t, func(c *fifo.Config) { c.ReceiveWait = 3 * time.Second })
	p := k.Receive(q, fifo.ReceiveInput{Max: 1}) // the queue's own wait
	k.pass(3*time.Second - 1)
	k.Advance()
	k.waits(p)
	if k.Waiting(q) != 1 {
		t.Fatalf("%d polls wait", k.Waiting(q))
	}
	k.pass(1)
	k.Advance()
	k.answered(p, "")
	if _, ok := k.NextEvent(); ok {
		t.Fatal("an empty queue has a next event")
	}
}

func TestCancelledPollTakesNothing(t *testing.T) {
	k := newKit(t, nil)
	gone, here := k.poll(1, time.Second), k.poll(1, time.Second)
	gone.Cancel()
	gone.Cancel()
	if _, err := gone.Answer(); !errors.Is(err, fifo.ErrCancelled) {
		t.Fatalf("cancelled: %v", err)
	}
	k.send("A", "1")
	k.answered(here, "1")
	here.Cancel()
	k.answered(here, "1")
}

func TestPollOfADeletedQueueEnds(t *testing.T) {
	k := newKit(t, nil)
	p := k.poll(1, time.Second)
	k.must(k.DeleteQueue(q))
	if _, err := p.Answer(); !errors.Is(err, fifo.ErrNoQueue) {
		t.Fatalf("answer %v", err)
	}
	if k.Waiting(q) != 0 {
		t.Fatal("a deleted queue has waiting polls")
	}
}

func TestPollWithZeroVisibilityDoesNotStarveTheOthers(t *testing.T) {
	k := newKit(t, visibility(0))
	var polls []*fifo.Poll
	for range 3 {
		polls = append(polls, k.poll(1, time.Second))
	}
	k.waits(polls...)
	k.send("A", "1")
	for _, p := range polls {
		k.answered(p, "1")
	}
}

func TestRunKeepsRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		c := fifo.New(fifo.Options{})
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(c.CreateQueue(q, visibility(2*time.Second)))
		synctest.Wait() // Run sleeps without anything to expect
		start := time.Now()
		_, err := c.Send(q, fifo.SendInput{Group: "A", DedupID: "1", Body: "1"})
		must(err)
		_, err = c.Receive(q, fifo.ReceiveInput{Max: 1}).Answer()
		must(err)
		long, short := c.Receive(q, fifo.ReceiveInput{Max: 1, Wait: ptr(20 * time.Second)}), c.Receive(q, fifo.ReceiveInput{Max: 1, Wait: ptr(time.Second)})
		<-short.Done()
		if d := time.Since(start); d != time.Second {
			t.Errorf("the short poll ended after %v, want 1 s", d)
		}
		<-long.Done()
		if m, err := long.Answer(); err != nil || bodies(m) != "1" || time.Since(start) != 2*time.Second {
			t.Errorf("the long poll got %q %v after %v, want the message after 2 s", bodies(m), err, time.Since(start))
		}
		stop()
		<-done
	})
}

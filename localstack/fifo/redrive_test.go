package fifo_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/localstack/fifo"
)

const dlq = "orders-dead.fifo"

func newKitWithDLQ(t *testing.T, receives int) *kit {
	k := newKit(t, visibility(time.Second))
	k.must(k.CreateQueue(dlq, nil))
	k.must(k.Configure(q, func(c *fifo.Config) { c.Redrive = fifo.RedrivePolicy{Target: dlq, MaxReceives: receives} }))
	return k
}

func TestDeadLetterKeepsItsFactsAndFreesItsGroup(t *testing.T) {
	k := newKitWithDLQ(t, 2)
	k.sendAs("A", "dd1", "1")
	k.sendAs("A", "dd2", "2")
	var before fifo.Message
	for range 2 {
		before = k.expect(1, "1")[0]
		k.pass(time.Second)
	}
	k.expect(1, "2")
	dead := k.receiveFrom(dlq, 10)
	if bodies(dead) != "1" {
		t.Fatalf("dead letters %q", bodies(dead))
	}
	want := before
	want.Source, want.Receives, want.Receipt = q, 3, dead[0].Receipt
	if d := cmp.Diff(want, dead[0]); d != "" {
		t.Fatal(d)
	}
	if from, err := k.DeadLetterSources(dlq); err != nil || !cmp.Equal(from, []string{q}) {
		t.Fatalf("sources %v %v", from, err)
	}
	if err := k.Delete(q, before.Receipt); err != nil {
		t.Fatalf("the source knows nothing of it any more: %v", err)
	}
}

func TestDeadLettersKeepTheirOrder(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	k.send("A", "1", "2", "3", "4", "5", "6")
	k.expect(3, "1 2 3")
	k.pass(time.Second)
	k.expect(10, "4 5 6")
	k.pass(time.Second)
	k.expect(10, "")
	if got := bodies(k.receiveFrom(dlq, 10)); got != "1 2 3 4 5 6" {
		t.Fatalf("dead letters %q", got)
	}
}

func TestDeadLettersWithOneDedupIDBothSurvive(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	for range 2 {
		k.sendAs("A", "same", "x")
		k.expect(1, "x")
		k.pass(5 * time.Minute)
		k.expect(1, "")
	}
	if got := bodies(k.receiveFrom(dlq, 10)); got != "x x" {
		t.Fatalf("dead letters %q", got)
	}
}

func TestRetentionStartsAnewInTheDeadLetterQueue(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	k.send("A", "1")
	k.pass(4*24*time.Hour - time.Hour) // of 4 days
	k.expect(1, "1")
	k.pass(time.Second)
	k.expect(1, "")
	k.pass(4*24*time.Hour - time.Second)
	if got := bodies(k.receiveFrom(dlq, 1)); got != "1" {
		t.Fatalf("dead letters %q", got)
	}
}

func TestWithoutItsDeadLetterQueueAMessageIsKept(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	k.send("A", "1")
	k.expect(1, "1")
	k.must(k.DeleteQueue(dlq))
	k.pass(time.Second)
	k.expect(1, "1")
}

func TestQueuesThatAreEachOthersDeadLetterQueueEnd(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	k.must(k.Configure(dlq, func(c *fifo.Config) {
		c.Redrive = fifo.RedrivePolicy{Target: q, MaxReceives: 1}
		c.VisibilityTimeout = time.Second
	}))
	k.send("A", "1")
	for i := range 6 {
		from := []string{q, dlq}[i%2]
		if got := bodies(k.receiveFrom(from, 1)); got != "1" {
			t.Fatalf("round %d: %q", i, got)
		}
		k.pass(time.Second)
		if got := bodies(k.receiveFrom(from, 1)); got != "" {
			t.Fatalf("round %d: not moved on: %q", i, got)
		}
	}
}

func TestDeadLetterAnswersAPollThatWaitsForIt(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	p := k.Receive(dlq, fifo.ReceiveInput{Max: 1, Wait: ptr(20 * time.Second)})
	k.send("A", "1")
	k.expect(1, "1")
	k.pass(time.Second)
	k.expect(1, "")
	k.answered(p, "1")
}

func TestRedriveGoesBehindWhatWasSentMeanwhile(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	k.sendAs("A", "d1", "1")
	k.sendAs("B", "d2", "2")
	k.sendAs("A", "d3", "3")
	first := k.expect(10, "1 3 2")
	k.pass(time.Second)
	k.expect(10, "")
	k.send("A", "new")
	held, err := k.Receive(dlq, fifo.ReceiveInput{Max: 1, Visibility: ptr(time.Minute)}).Answer() // A's first: in flight, A stays
	k.must(err)
	if n, err := k.Redrive(dlq, ""); err != nil || n != 1 {
		t.Fatalf("moved %d %v, want B's only", n, err)
	}
	k.must(k.ChangeVisibility(dlq, held[0].Receipt, 0))
	if n, err := k.Redrive(dlq, ""); err != nil || n != 2 {
		t.Fatalf("moved %d %v, want A's two", n, err)
	}
	m := k.expect(10, "new 1 3 2")
	if m[1].ID == first[0].ID || m[1].Receives != 1 || m[1].DedupID != "d1" {
		t.Fatalf("a redriven message is a new one: %+v", m[1])
	}
}

func TestRedriveNeedsADeadLetterQueue(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	k.must(k.CreateQueue("spare.fifo", nil))
	k.send("A", "1")
	k.expect(1, "1")
	k.pass(time.Second)
	k.expect(1, "")
	if _, err := k.Redrive(q, ""); !errors.Is(err, fifo.ErrInvalid) {
		t.Fatalf("redrive of no dead-letter queue: %v", err)
	}
	if _, err := k.Redrive(dlq, "none.fifo"); !errors.Is(err, fifo.ErrNoQueue) {
		t.Fatalf("redrive to nowhere: %v", err)
	}
	if n, err := k.Redrive(dlq, "spare.fifo"); err != nil || n != 1 || bodies(k.receiveFrom("spare.fifo", 1)) != "1" {
		t.Fatalf("redrive elsewhere: %d %v", n, err)
	}
}

func TestDirectlySentMessagesStayInTheDeadLetterQueue(t *testing.T) {
	k := newKitWithDLQ(t, 1)
	_, err := k.Send(dlq, fifo.SendInput{Group: "A", DedupID: "1", Body: "1"})
	k.must(err)
	if n, err := k.Redrive(dlq, ""); err != nil || n != 0 {
		t.Fatal(fmt.Sprint(n, err))
	}
}

package fifo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/fifo"
)

func on(op string) fault.Point { return fault.Point{Service: fifo.Service, Op: op, Resource: q} }

func TestRefusingFaultsChangeNothing(t *testing.T) {
	for kind, want := range map[fault.Kind]error{fault.Throttle: fault.ErrThrottled, fault.FailBefore: fault.ErrFailed} {
		k := newKit(t, nil)
		k.plan.Once(on("SendMessage"), fault.Verdict{Kind: kind})
		in := fifo.SendInput{Group: "A", DedupID: "x", Body: "1"}
		if _, err := k.Send(q, in); !errors.Is(err, want) {
			t.Errorf("send: %v, want %v", err, want)
		}
		k.expect(1, "")
		_, err := k.Send(q, in) // the refused call left no deduplication id behind
		k.must(err)
		k.plan.Once(on("ReceiveMessage"), fault.Verdict{Kind: kind})
		if _, err := k.Receive(q, fifo.ReceiveInput{Max: 1}).Answer(); !errors.Is(err, want) {
			t.Errorf("receive: %v, want %v", err, want)
		}
		m := k.expect(1, "1")
		k.plan.Once(on("DeleteMessage"), fault.Verdict{Kind: kind})
		if err := k.Delete(q, m[0].Receipt); !errors.Is(err, want) {
			t.Errorf("delete: %v, want %v", err, want)
		}
		k.must(k.ChangeVisibility(q, m[0].Receipt, 0))
		k.expect(1, "1")
	}
}

func TestLostAnswersTakeEffect(t *testing.T) {
	k := newKit(t, visibility(time.Minute))
	lost := fault.Verdict{Kind: fault.LoseAnswer}
	in := fifo.SendInput{Group: "A", DedupID: "x", Body: "1"}
	k.plan.Once(on("SendMessage"), lost)
	if _, err := k.Send(q, in); !errors.Is(err, fault.ErrAnswerLost) {
		t.Fatalf("send: %v", err)
	}
	_, err := k.Send(q, in) // the repeat is recognised
	k.must(err)
	k.plan.Once(on("ReceiveMessage"), lost)
	if _, err := k.Receive(q, fifo.ReceiveInput{Max: 1}).Answer(); !errors.Is(err, fault.ErrAnswerLost) {
		t.Fatalf("receive: %v", err)
	}
	k.expect(1, "") // with the receiver who never heard of it
	k.pass(time.Minute)
	m := k.expect(10, "1")
	k.plan.Once(on("DeleteMessage"), lost)
	if err := k.Delete(q, m[0].Receipt); !errors.Is(err, fault.ErrAnswerLost) {
		t.Fatalf("delete: %v", err)
	}
	k.pass(time.Minute)
	k.expect(1, "")
}

func TestLostAnswerOfAPollThatWaits(t *testing.T) {
	k := newKit(t, visibility(time.Minute))
	k.plan.Once(on("ReceiveMessage"), fault.Verdict{Kind: fault.LoseAnswer})
	p := k.poll(1, 20*time.Second)
	k.waits(p)
	k.send("A", "1")
	if _, err := p.Answer(); !errors.Is(err, fault.ErrAnswerLost) {
		t.Fatalf("answer: %v", err)
	}
	k.expect(1, "")
	if k.plan.Fired(fault.LoseAnswer) != 1 {
		t.Fatal("the fault did not happen")
	}
}

func TestDuplicates(t *testing.T) {
	k := newKit(t, visibility(time.Minute))
	twice := fault.Verdict{Kind: fault.Duplicate}
	k.plan.Once(on("SendMessage"), twice)
	k.sendAs("A", "x", "1")
	m := k.expect(10, "1 1")
	if m[0].ID == m[1].ID {
		t.Fatal("the duplicate is the same message")
	}
	k.must(errors.Join(k.Delete(q, m[0].Receipt), k.Delete(q, m[1].Receipt)))
	k.send("A", "2")
	k.plan.Once(on("ReceiveMessage"), twice)
	k.expect(1, "2")
	k.expect(1, "2") // a second worker has it at the same time
}

func TestSlowCallsAreReported(t *testing.T) {
	k := newKit(t, nil)
	k.plan.Once(on("SendMessage"), fault.SlowBy(3*time.Second))
	k.send("A", "1")
	if d := cmp.Diff([]time.Duration{3 * time.Second}, k.slow); d != "" {
		t.Fatal(d)
	}
	k.expect(1, "1")
}

func TestBatchesFailByEntry(t *testing.T) {
	k := newKit(t, nil)
	some := fault.FailEntries(1)
	k.plan.Once(on("SendMessageBatch"), some)
	sent, err := k.SendBatch(q, []fifo.SendInput{{Group: "A", DedupID: "1", Body: "1"}, {Group: "A", DedupID: "2", Body: "2"}, {Group: "A", DedupID: "3", Body: "3"}})
	k.must(err)
	if sent[0].Err != nil || !errors.Is(sent[1].Err, fault.ErrFailed) || sent[2].Err != nil {
		t.Fatalf("%+v", sent)
	}
	m := k.expect(10, "1 3")
	receipts := []string{m[0].Receipt, m[1].Receipt}
	k.plan.Once(on("DeleteMessageBatch"), some)
	errs, err := k.DeleteBatch(q, receipts)
	k.must(err)
	if errs[0] != nil || !errors.Is(errs[1], fault.ErrFailed) {
		t.Fatalf("%v", errs)
	}
	k.must(k.ChangeVisibility(q, m[1].Receipt, 0))
	k.expect(10, "3")
}

func TestFaultsOfQueueManagement(t *testing.T) {
	k := newKit(t, nil)
	for _, op := range []string{"CreateQueue", "ListQueues"} {
		k.plan.Once(fault.Point{Op: op}, fault.Verdict{Kind: fault.Throttle})
		k.plan.Once(fault.Point{Op: op}, fault.Verdict{Kind: fault.LoseAnswer})
	}
	if err := k.CreateQueue("a.fifo", nil); !errors.Is(err, fault.ErrThrottled) || !errors.Is(k.Find("a.fifo"), fifo.ErrNoQueue) {
		t.Fatalf("throttled create: %v", err)
	}
	if err := k.CreateQueue("a.fifo", nil); !errors.Is(err, fault.ErrAnswerLost) {
		t.Fatalf("lost create: %v", err)
	}
	k.must(k.Find("a.fifo"))
	for _, want := range []error{fault.ErrThrottled, fault.ErrAnswerLost, nil} {
		if _, err := k.Queues(""); !errors.Is(err, want) {
			t.Fatalf("list: %v, want %v", err, want)
		}
	}
}

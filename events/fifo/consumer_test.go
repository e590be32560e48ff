package fifo_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/localstack/fault"
)

func TestLostReceiveIsRepeatedByItsAttempt(t *testing.T) {
	c := newCloud(t, fifo.Names{})
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL})
	if err := p.Publish(t.Context(), held("c1", "B1")); err != nil {
		t.Fatal(err)
	}
	consumer := fifo.NewConsumer(c, c.queues.URL, 0)
	c.faults.Once(fault.Point{Op: "ReceiveMessage"}, fault.Verdict{Kind: fault.LoseAnswer})
	if _, err := consumer.Receive(t.Context(), "attempt-1", 0); err == nil {
		t.Fatal("the lost answer arrived")
	}
	if got, err := consumer.Receive(t.Context(), "attempt-2", 0); err != nil || len(got) != 0 {
		t.Errorf("another attempt: %v, %v; the message must be hidden", got, err)
	}
	got, err := consumer.Receive(t.Context(), "attempt-1", 0)
	if err != nil || len(got) != 1 || got[0].Meta.ReceiveCount != 1 {
		t.Errorf("the same attempt: %v, %v; want the message, received once", got, err)
	}
}

func TestHandlesFailEachByItself(t *testing.T) {
	c := newCloud(t, fifo.Names{Visibility: 30 * time.Second})
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL})
	consumer := fifo.NewConsumer(c, c.queues.URL, 0)
	for _, id := range []string{"1", "2", "3"} {
		if err := p.Publish(t.Context(), held("c"+id, "B"+id)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := consumer.Receive(t.Context(), "a1", 0)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	handles := []string{got[0].Handle, got[1].Handle, got[2].Handle}
	c.faults.Once(fault.Point{Op: "ChangeMessageVisibilityBatch"}, fault.FailEntries(1))
	errs := consumer.SetVisibility(t.Context(), handles, 10*time.Minute)
	if len(errs) != 3 || errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("extend: %v, want only the second to fail", errs)
	}
	c.forward(time.Minute) // the second comes back and its old handle is void
	again, err := consumer.Receive(t.Context(), "a2", 0)
	if err != nil || len(again) != 1 || again[0].Meta.MessageID != got[1].Meta.MessageID || again[0].Meta.ReceiveCount != 2 {
		t.Fatalf("after a minute: %+v, %v", again, err)
	}
	errs = consumer.Delete(t.Context(), handles)
	if len(errs) != 3 || errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("delete: %v, want only the expired handle to fail", errs)
	}
	if errs := consumer.SetVisibility(t.Context(), []string{again[0].Handle}, 0); errs[0] != nil {
		t.Error(errs[0])
	}
	if d := c.depth(t); d.Visible != 1 || d.InFlight != 0 {
		t.Errorf("depth %+v, want the released one", d)
	}
}

func TestManyHandlesGoInTens(t *testing.T) {
	c := newCloud(t, fifo.Names{})
	handles := make([]string, 23)
	for i := range handles {
		handles[i] = "no such handle"
	}
	errs := fifo.NewConsumer(c, c.queues.URL, 0).Delete(t.Context(), handles)
	if len(errs) != 23 {
		t.Fatalf("%d results for 23 handles", len(errs))
	}
	for i, err := range errs {
		if err == nil {
			t.Errorf("handle %d: deleted what does not exist", i)
		}
	}
}

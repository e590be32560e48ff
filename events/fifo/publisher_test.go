package fifo_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/port"
)

var sendBatch = fault.Point{Op: "SendMessageBatch"}

func TestPublishedEventArrives(t *testing.T) {
	c := newCloud(t, fifo.Names{})
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL})
	e := held("candidate-1", "B1")
	if err := p.Publish(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := p.Publish(t.Context(), e); err != nil { // safe to call again
		t.Fatal(err)
	}
	got := c.drain(t)
	if len(got) != 1 {
		t.Fatalf("%d messages, want 1", len(got))
	}
	m := got[0].Meta
	if m.Group != "candidate-1" || m.DedupID != "H:B1" || m.ReceiveCount != 1 || m.MessageID == "" || m.SentAt.IsZero() {
		t.Errorf("meta %+v", m)
	}
	back, err := events.Decode([]byte(got[0].Body))
	e.Version = events.Version
	if err != nil || !cmp.Equal(e, back) {
		t.Errorf("%v %s", err, cmp.Diff(e, back))
	}
}

// Many callers share requests, and lose or double nothing.
func TestLoadSharesBatches(t *testing.T) {
	c := newCloud(t, fifo.Names{})
	var mu sync.Mutex
	calls, entries := 0, 0
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL, InFlight: 2, OnBatch: func(r fifo.BatchReport) {
		mu.Lock()
		defer mu.Unlock()
		calls, entries = calls+1, entries+r.Enqueued
	}})
	const n = 500
	start := make(chan struct{})
	errs := make(chan error, n)
	for i := range n {
		go func() {
			<-start
			errs <- p.Publish(t.Context(), held(fmt.Sprintf("candidate-%d", i), fmt.Sprintf("B%d", i)))
		}()
	}
	close(start)
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if d := c.depth(t); d.Visible != n {
		t.Errorf("depth %+v, want %d visible", d, n)
	}
	if entries != n || calls > n/2 {
		t.Errorf("%d calls carried %d events, want %d in far fewer calls", calls, entries, n)
	}
}

// protocol.md scenario 17/18, first half: the answer is lost, the event is
// there; the second attempt is recognised.
func TestLostAnswerIsRepeatedUnderTheSameID(t *testing.T) {
	c := newCloud(t, fifo.Names{})
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL})
	c.faults.Once(sendBatch, fault.Verdict{Kind: fault.LoseAnswer})
	if err := p.Publish(t.Context(), held("candidate-1", "B1")); err != nil {
		t.Fatal(err)
	}
	if c.faults.Fired(fault.LoseAnswer) != 1 {
		t.Fatal("the fault did not happen")
	}
	if got := c.drain(t); len(got) != 1 {
		t.Errorf("%d messages, want 1", len(got))
	}
}

// What a failed call says about its event, as the SDK reports it from the wire:
// only what is certain may count as not sent (protocol.md 3A row 1).
func TestFailedCallsAreClassified(t *testing.T) {
	for _, f := range []struct {
		name   string
		kind   fault.Kind
		want   fifo.BatchReport
		queued int
	}{
		{"answer lost", fault.LoseAnswer, fifo.BatchReport{Entries: 1, Unknown: 1}, 1},
		{"internal error", fault.FailBefore, fifo.BatchReport{Entries: 1, Unknown: 1}, 0},
		{"throttled", fault.Throttle, fifo.BatchReport{Entries: 1, NotSent: 1}, 0},
	} {
		t.Run(f.name, func(t *testing.T) {
			c := newCloud(t, fifo.Names{})
			c.faults.Inject(sendBatch, 0, -1, fault.Verdict{Kind: f.kind})
			if got := firstReport(t, c, c.queues.URL); got != f.want {
				t.Errorf("got %+v, want %+v", got, f.want)
			}
			if got := c.drain(t); len(got) != f.queued {
				t.Errorf("%d messages in the queue, want %d", len(got), f.queued)
			}
		})
	}
}

// firstReport is the report of the first call for one event.
func firstReport(t *testing.T, client fifo.Sender, url string) fifo.BatchReport {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	reports := make(chan fifo.BatchReport, 100)
	p := publisher(t, client, fifo.PublisherConfig{
		QueueURL: url, GiveUp: time.Minute, Now: func() time.Time { return noon },
		OnBatch: func(r fifo.BatchReport) {
			reports <- r
			leave()
		},
	})
	if err := p.Publish(ctx, held("candidate-1", "B1")); err == nil {
		t.Error("published in spite of the fault")
	}
	return <-reports
}

// One ambiguous attempt makes the whole ambiguous, whatever the next ones say.
func TestAmbiguityIsNotForgotten(t *testing.T) {
	c := newCloud(t, fifo.Names{})
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL, GiveUp: 3 * time.Second})
	c.faults.Once(sendBatch, fault.Verdict{Kind: fault.LoseAnswer})
	c.faults.Inject(sendBatch, 0, -1, fault.Verdict{Kind: fault.Throttle})
	err := p.Publish(t.Context(), held("candidate-1", "B1"))
	if !errors.Is(err, events.ErrAmbiguous) || errors.Is(err, events.ErrNotQueued) {
		t.Errorf("got %v, want only ErrAmbiguous", err)
	}
}

func TestRefusalsAreFinalAndCertain(t *testing.T) {
	c := newCloud(t, fifo.Names{})
	start := time.Now()
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL + "x", GiveUp: time.Minute})
	if err := p.Publish(t.Context(), held("candidate-1", "B1")); !errors.Is(err, events.ErrNotQueued) {
		t.Errorf("no such queue: got %v", err)
	}
	if err := p.Publish(t.Context(), events.Event{}); !errors.Is(err, events.ErrInvalid) {
		t.Errorf("no event: got %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Publish(gone, held("candidate-1", "B1")); !errors.Is(err, events.ErrNotQueued) {
		t.Errorf("caller gone before: got %v", err)
	}
	if time.Since(start) > 30*time.Second {
		t.Error("a refusal was retried")
	}
}

func TestUnreachableEndpointIsCertain(t *testing.T) {
	nobody, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	endpoint := fmt.Sprintf("http://127.0.0.1:%d", nobody)
	client := sqs.New(sqs.Options{Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("local", "local", ""))})
	if got, want := firstReport(t, client, endpoint+"/0/q.fifo"), (fifo.BatchReport{Entries: 1, NotSent: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

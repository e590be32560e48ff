package poller_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/localstack/fault"
	engine "github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/wire"
	"github.com/holdfast/holdfast/workers/delivery"
	"github.com/holdfast/holdfast/workers/poller"
)

// overHTTP is the local cloud's SQS with both adapters of events/fifo.
func overHTTP(t testing.TB, faults fault.Plan) (*sqs.Client, fifo.Queues) {
	t.Helper()
	cloud := engine.New(engine.Options{Faults: faults, OnSlow: fault.Sleep})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { cloud.Run(ctx) })
	server := httptest.NewUnstartedServer(wire.New(wire.NewSQS(cloud), nil))
	server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	server.Start()
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(func() {
		stop()
		transport.CloseIdleConnections()
		server.Close()
		running.Wait()
	})
	client := sqs.New(sqs.Options{
		Region: wire.Region, BaseEndpoint: &server.URL, HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("local", "local", "")),
	})
	queues, err := fifo.EnsureQueues(ctx, client, fifo.Names{})
	if err != nil {
		t.Fatal(err)
	}
	return client, queues
}

func notice(i int) events.Event {
	return events.Event{
		Type: events.PaymentNotified, Sale: "spring", Candidate: fmt.Sprint("c", i), BookingID: fmt.Sprint("B", i), At: time.Unix(1772366400, 0),
		Notice: &events.Notice{Gateway: "sandbox", PaymentID: "p", EventID: fmt.Sprint("e", i), Source: "webhook"},
	}
}

// publishAll publishes n events from callers goroutines.
func publishAll(t testing.TB, client *sqs.Client, queues fifo.Queues, n, callers int) time.Duration {
	t.Helper()
	p := fifo.NewPublisher(context.WithoutCancel(t.Context()), client, fifo.PublisherConfig{QueueURL: queues.URL})
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	start := time.Now()
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for i := range next {
				if err := p.Publish(t.Context(), notice(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	took := time.Since(start)
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return took
}

// drainAll runs a poller until it has acknowledged n messages.
func drainAll(t testing.TB, client *sqs.Client, queues fifo.Queues, n int, h poller.Handler) time.Duration {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	acks := 0
	p, err := poller.New(poller.Config{
		Source: fifo.NewConsumer(client, queues.URL, 0), Handler: h, Parker: fifo.NewParker(client, queues.DeadURL),
		Pollers: 4, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Observer: onHandled(func(delivery.Report) {
			mu.Lock()
			defer mu.Unlock()
			if acks++; acks == n {
				stop()
			}
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p.Run(ctx)
	return time.Since(start)
}

type onHandled func(delivery.Report)

func (f onHandled) Handled(r delivery.Report) { f(r) }
func (onHandled) Polled(int, error)           {}
func (onHandled) TidyFailed(string, int)      {}

// The whole way over the wire: every event is handled at least once whatever
// the queue loses, in order, and the queue ends empty; poison ends in the dead
// letter queue with its reason.
func TestOverTheWire(t *testing.T) {
	faults := &fault.Script{}
	client, queues := overHTTP(t, faults)
	lost := fault.Verdict{Kind: fault.LoseAnswer}
	faults.Inject(fault.Point{Op: "SendMessageBatch"}, 3, 2, lost)
	faults.Inject(receive, 5, 2, lost)
	faults.Inject(deleteOp, 5, 1, lost)
	faults.Inject(deleteOp, 6, 1, fault.FailEntries(0))
	const n = 300
	publishAll(t, client, queues, n, 32)
	var mu sync.Mutex
	seen := map[string]int{}
	drainAll(t, client, queues, n, handlerFunc(func(_ context.Context, e events.Event, _ events.Meta) error {
		mu.Lock()
		defer mu.Unlock()
		seen[e.BookingID]++
		if e.BookingID == "B7" {
			return events.Park("unknown_payment", nil)
		}
		return nil
	}))
	if len(seen) != n {
		t.Errorf("%d of %d bookings were handled", len(seen), n)
	}
	if faults.Fired(fault.LoseAnswer) != 5 || faults.Fired(fault.Partial) != 1 {
		t.Errorf("%d answers lost, %d partial failures; want 5 and 1", faults.Fired(fault.LoseAnswer), faults.Fired(fault.Partial))
	}
	admin := fifo.NewAdmin(client, queues)
	if depth, err := admin.Depth(t.Context()); err != nil || depth != (events.Depth{Dead: 1}) {
		t.Errorf("depth %+v, %v; want only the parked one", depth, err)
	}
	letters, err := admin.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 1 || letters[0].Reason != "unknown_payment" || letters[0].Event.BookingID != "B7" {
		t.Errorf("dead letters %+v, %v", letters, err)
	}
}

// BenchmarkPublish and BenchmarkDrain give events a second through the whole
// adapter and the wire; client and queue share the machine.
func BenchmarkPublish(b *testing.B) {
	for _, callers := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			client, queues := overHTTP(b, fault.Healthy)
			b.ResetTimer()
			took := publishAll(b, client, queues, b.N, callers)
			b.ReportMetric(float64(b.N)/took.Seconds(), "events/s")
		})
	}
}

func BenchmarkDrain(b *testing.B) {
	client, queues := overHTTP(b, fault.Healthy)
	publishAll(b, client, queues, b.N, 256)
	b.ResetTimer()
	took := drainAll(b, client, queues, b.N, handlerFunc(func(context.Context, events.Event, events.Meta) error { return nil }))
	b.ReportMetric(float64(b.N)/took.Seconds(), "events/s")
}

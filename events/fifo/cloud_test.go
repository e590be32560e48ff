package fifo_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/localstack/fault"
	engine "github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/localstack/wire"
)

func TestMain(m *testing.M) { leak.Main(m) }

// cloud is the local cloud's SQS over real HTTP, with faults and a clock that a
// test may move forward.
type cloud struct {
	*sqs.Client
	engine *engine.Cloud
	faults *fault.Script
	plan   atomic.Pointer[fault.Plan] // for sends, instead of faults
	queues fifo.Queues

	mu   sync.Mutex
	skip time.Duration
}

func newCloud(t testing.TB, names fifo.Names) *cloud {
	t.Helper()
	c := &cloud{faults: &fault.Script{}}
	c.engine = engine.New(engine.Options{Now: c.now, Faults: fault.PlanFunc(c.decide), OnSlow: fault.Sleep})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.engine.Run(ctx) })
	server := httptest.NewUnstartedServer(wire.New(wire.NewSQS(c.engine), nil))
	server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	server.Start()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		stop()
		transport.CloseIdleConnections()
		server.Close()
		running.Wait()
	})
	c.Client = sqs.New(sqs.Options{
		Region: wire.Region, BaseEndpoint: &server.URL, HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("local", "local", "")),
	})
	var err error
	if c.queues, err = fifo.EnsureQueues(ctx, c, names); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cloud) decide(at fault.Point) fault.Verdict {
	if plan := c.plan.Load(); plan != nil && at.Op == sendBatch.Op {
		return (*plan).Decide(at)
	}
	return c.faults.Decide(at)
}

func (c *cloud) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.skip)
}

// forward moves the queue's clock.
func (c *cloud) forward(d time.Duration) {
	c.mu.Lock()
	c.skip += d
	c.mu.Unlock()
	c.engine.Advance()
}

// drain receives and deletes everything that is visible.
func (c *cloud) drain(t testing.TB) (out []events.Message) {
	t.Helper()
	consumer := fifo.NewConsumer(c, c.queues.URL, 0)
	for {
		messages, err := consumer.Receive(t.Context(), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(messages) == 0 {
			return out
		}
		for _, m := range messages {
			for _, err := range consumer.Delete(t.Context(), []string{m.Handle}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		out = append(out, messages...)
	}
}

func (c *cloud) depth(t testing.TB) events.Depth {
	t.Helper()
	d, err := fifo.NewAdmin(c, c.queues).Depth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// held is a booking of a candidate.
func held(candidate, bid string) events.Event {
	return events.Event{
		Type: events.BookingHeld, Sale: "spring", Candidate: candidate, BookingID: bid, At: noon,
		Held: &events.Held{
			Level: "N1", Seats: []events.Seat{{Token: "N1-1", Score: 1}}, Gateway: "sandbox", PaymentID: "pay-" + bid,
			AmountMinor: 4500, Currency: "EUR", AdmittedAt: noon, HoldUntil: noon.Add(10 * time.Minute),
		},
	}
}

func publisher(t testing.TB, client fifo.Sender, cfg fifo.PublisherConfig) *fifo.Publisher {
	t.Helper()
	p := fifo.NewPublisher(context.WithoutCancel(t.Context()), client, cfg)
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return p
}

// attributes are all attributes of a queue.
func (c *cloud) attributes(t testing.TB, url string) map[string]string {
	t.Helper()
	out, err := c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes
}

// noTasks is an endpoint that has no move tasks.
type noTasks struct{ *cloud }

func (noTasks) StartMessageMoveTask(context.Context, *sqs.StartMessageMoveTaskInput, ...func(*sqs.Options)) (*sqs.StartMessageMoveTaskOutput, error) {
	return nil, &types.UnsupportedOperation{}
}

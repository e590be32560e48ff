package poller_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/localstack/fault"
	engine "github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/workers/delivery"
	"github.com/holdfast/holdfast/workers/poller"
)

func TestMain(m *testing.M) { leak.Main(m) }

const (
	queue      = "q.fifo"
	dead       = "dead.fifo"
	visibility = 30 * time.Second
)

// rig is a poller on the queue engine without HTTP, to be used in a synctest
// bubble: hours of visibility pass in no time, and nothing happens by chance.
type rig struct {
	t      *testing.T
	cloud  *engine.Cloud
	faults *fault.Script
	plan   *plan // asked before faults
	poller *poller.Poller
	stop   context.CancelFunc // of the intake
	ended  chan struct{}
	quit   func()

	mu      sync.Mutex
	calls   []string // "B1" for each call of the handler, in order
	at      []time.Time
	parked  []string
	reports []delivery.Report
	tidy    map[string]int
}

// start runs a poller with h as its handler. change may alter the
// configuration; nil: no change.
func start(t *testing.T, h func(ctx context.Context, bid string, m events.Meta) error, change func(*poller.Config)) *rig {
	t.Helper()
	r := &rig{t: t, faults: &fault.Script{}, plan: &plan{}, ended: make(chan struct{}), tidy: map[string]int{}}
	r.cloud = engine.New(engine.Options{Faults: fault.PlanFunc(r.decide), OnSlow: fault.Sleep})
	for _, name := range []string{dead, queue} {
		err := r.cloud.CreateQueue(name, func(c *engine.Config) {
			if name == queue {
				c.Redrive = engine.RedrivePolicy{Target: dead, MaxReceives: 4}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := poller.Config{
		Source: source{r.cloud}, Observer: r, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Parker: parkerFunc(func(_ context.Context, body string, m events.Meta, reason string) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.parked = append(r.parked, m.Group+" "+reason+" "+body[:min(8, len(body))])
			return nil
		}),
		Handler: handlerFunc(func(ctx context.Context, e events.Event, m events.Meta) error {
			r.mu.Lock()
			r.calls, r.at = append(r.calls, e.BookingID), append(r.at, time.Now())
			r.mu.Unlock()
			return h(ctx, e.BookingID, m)
		}),
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if r.poller, err = poller.New(cfg); err != nil {
		t.Fatal(err)
	}
	life, kill := context.WithCancel(t.Context())
	intake, stop := context.WithCancel(life)
	r.stop = stop
	var running sync.WaitGroup
	running.Go(func() { r.cloud.Run(life) })
	running.Go(func() {
		r.poller.Run(intake)
		close(r.ended)
	})
	r.quit = func() {
		stop()
		<-r.ended
		kill()
		running.Wait()
	}
	synctest.Wait() // every poll waits at the queue
	return r
}

// pass lets time go by, and everything happen that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// plan is a fault plan for some operations that comes into force later.
type plan struct {
	mu  sync.Mutex
	of  fault.Plan
	ops []string
}

func (p *plan) set(of fault.Plan, ops ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of, p.ops = of, ops
}

func (r *rig) decide(at fault.Point) fault.Verdict {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	if slices.Contains(r.plan.ops, at.Op) {
		return r.plan.of.Decide(at)
	}
	return r.faults.Decide(at)
}

// patient makes the queue deliver a message as often as it takes.
func (r *rig) patient() {
	r.t.Helper()
	err := r.cloud.Configure(queue, func(c *engine.Config) { c.Redrive = engine.RedrivePolicy{} })
	if err != nil {
		r.t.Fatal(err)
	}
}

type handlerFunc func(context.Context, events.Event, events.Meta) error

func (f handlerFunc) Handle(ctx context.Context, e events.Event, m events.Meta) error {
	return f(ctx, e, m)
}

type parkerFunc func(context.Context, string, events.Meta, string) error

func (f parkerFunc) Park(ctx context.Context, body string, m events.Meta, reason string) error {
	return f(ctx, body, m, reason)
}

func (r *rig) Handled(d delivery.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, d)
}

func (r *rig) Polled(int, error) {}

func (r *rig) TidyFailed(op string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tidy[op] += n
}

// seen are the handler's calls so far, of one booking if bid is not empty.
func (r *rig) seen(bid string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.calls), func(s string) bool { return bid != "" && s != bid })
}

func (r *rig) verdicts() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.reports {
		out = append(out, string(d.Verdict))
	}
	return out
}

// send queues notices of one candidate, one for each booking, at the same
// instant: a waiting poll gets them in one batch.
func (r *rig) send(candidate string, bids ...string) {
	r.t.Helper()
	var bodies []string
	for _, bid := range bids {
		body, err := events.Encode(events.Event{
			Type: events.PaymentNotified, Sale: "spring", Candidate: candidate, BookingID: bid, At: time.Now(),
			Notice: &events.Notice{Gateway: "sandbox", PaymentID: "p-" + bid, EventID: "e-" + bid, Source: "webhook"},
		})
		if err != nil {
			r.t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	r.sendRaw(candidate, bodies...)
}

// sendRaw queues bodies of one group at the same instant.
func (r *rig) sendRaw(group string, bodies ...string) {
	r.t.Helper()
	in := make([]engine.SendInput, len(bodies))
	for i, body := range bodies {
		in[i] = engine.SendInput{Group: group, DedupID: rand.Text(), Body: body}
	}
	results, err := r.cloud.SendBatch(queue, in)
	for _, result := range results {
		err = errors.Join(err, result.Err)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// locked reads a field of the rig.
func locked[T any](r *rig, field *T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *field
}

// left is what lies in a queue, visible or not.
func (r *rig) left(name string) int {
	r.t.Helper()
	s, err := r.cloud.Stats(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Visible + s.InFlight + s.Delayed
}

var errTryAgain = errors.New("the ledger is away")

func done(context.Context, string, events.Meta) error { return nil }

// failTimes fails the first n deliveries of a booking.
func failTimes(bid string, n int) func(context.Context, string, events.Meta) error {
	return func(_ context.Context, b string, m events.Meta) error {
		if b == bid && m.ReceiveCount <= n {
			return fmt.Errorf("delivery %d: %w", m.ReceiveCount, errTryAgain)
		}
		return nil
	}
}

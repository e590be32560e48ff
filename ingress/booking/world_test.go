package booking_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/workers"
)

// world is a driver in front of a whole small Holdfast.
type world struct {
	*lifecycletest.World
	driver  *booking.Driver
	worker  *workers.Handler
	gates   *openGates
	gateway *gateway
	queue   *queue
	plan    *booking.Plan
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: lifecycletest.New(t), gates: &openGates{}}
	w.gateway = &gateway{Gateway: w.Page}
	w.queue = &queue{to: w.World}
	w.plan = &booking.Plan{Sale: w.Plan, Gen: 1, Open: true, ReadAt: w.Now()}
	w.driver = booking.New(booking.Options{
		Admit: w.Redis, Admission: w.Redis, Gates: w.gates, Walks: w.Steps, Ledger: w.Store, Publish: w.queue, Gateway: w.gateway,
		Status: w, PublicURL: "https://book.example", Sales: func() []string { return []string{lifecycletest.Sale} },
		Observe: quiet{}, Now: w.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
	w.worker = &workers.Handler{Steps: w.Steps}
	return w
}

// order is a candidate's wish for a seat.
func order(candidate, level, key string) booking.Order {
	return booking.Order{Candidate: sale.CodeHash(candidate), EmailHash: lifecycletest.Email, Level: level, Count: 1, Key: key, InputHash: "in-" + level}
}

func (w *world) book(candidate, level, key string) booking.Answer {
	w.T.Helper()
	return w.driver.Book(w.T.Context(), w.plan, order(candidate, level, key))
}

func (w *world) want(a booking.Answer, v booking.Verdict) booking.Answer {
	w.T.Helper()
	if a.Verdict != v {
		w.T.Fatalf("verdict %q, want %q (%+v)", a.Verdict, v, a)
	}
	return a
}

// work lets a worker handle everything that is queued, until nothing is left.
func (w *world) work() {
	w.T.Helper()
	for q := w.Queued(); len(q) > 0; q = w.Queued() {
		for _, e := range q {
			if err := w.worker.Handle(w.T.Context(), e, events.Meta{ReceiveCount: 1, SentAt: w.Now()}); err != nil {
				w.T.Fatalf("worker: %s: %v", e.Type, err)
			}
		}
	}
}

// heal does what time and the sweeps do: everything unpaid ends.
func (w *world) heal() {
	w.T.Helper()
	w.work()
	for range 3 {
		w.Advance(20 * time.Minute)
		if err := w.Reap(w.Now(), time.Minute); err != nil {
			w.T.Fatalf("reap: %v", err)
		}
		w.work()
	}
	w.Quiet()
}

// used is how many seats Redis has given out.
func (w *world) used() int {
	w.T.Helper()
	s, err := w.Redis.Status(w.T.Context(), lifecycletest.Sale, w.Plan.LevelNames())
	if err != nil {
		w.T.Fatal(err)
	}
	return s.Used
}

// openGates let everything through and count.
type openGates struct {
	mu     sync.Mutex
	undone int
}

func (g *openGates) Decide(context.Context, *admission.Request) (admission.Answer, bool) {
	return admission.Answer{}, false
}
func (g *openGates) Learn(*admission.Request, *admission.Answer) {}
func (g *openGates) Undone(string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.undone++
}

// gateway is the page gateway with a switch for Create.
type gateway struct {
	*lifecycletest.Gateway
	mu      sync.Mutex
	creates []payment.CreateRequest
	// fail answers for the n-th create from 1; nil goes through. done says whether
	// the payment is created all the same.
	fail func(n int) (done bool, err error)
	hook func() // runs after a create, before its answer
	hang bool   // every create waits for its context
}

func (g *gateway) Create(ctx context.Context, r payment.CreateRequest) (payment.Session, error) {
	g.mu.Lock()
	g.creates = append(g.creates, r)
	n := len(g.creates)
	g.mu.Unlock()
	if g.hang {
		<-ctx.Done()
		return payment.Session{}, ctx.Err()
	}
	done, err := true, error(nil)
	if g.fail != nil {
		done, err = g.fail(n)
	}
	var s payment.Session
	if done {
		var e error
		if s, e = g.Gateway.Create(ctx, r); e != nil {
			return s, e
		}
	}
	if g.hook != nil {
		g.hook()
	}
	return s, err
}

func (g *gateway) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.creates)
}

// queue publishes into the world, with a switch.
type queue struct {
	to   *lifecycletest.World
	mu   sync.Mutex
	sent []events.Event
	// fail answers for the n-th publish from 1; done says whether the queue has
	// the event all the same.
	fail func(n int, e events.Event) (done bool, err error)
}

func (q *queue) Publish(ctx context.Context, e events.Event) error {
	if _, err := events.Encode(e); err != nil {
		return err
	}
	q.mu.Lock()
	q.sent = append(q.sent, e)
	n := len(q.sent)
	q.mu.Unlock()
	if q.fail != nil {
		done, err := q.fail(n, e)
		if done {
			if pubErr := q.to.Publish(ctx, e); pubErr != nil {
				return pubErr
			}
		}
		return err
	}
	return q.to.Publish(ctx, e)
}

func (q *queue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.sent)
}

// quiet observes nothing.
type quiet struct{}

func (quiet) Admitted(string, admission.Outcome, time.Duration, error)          {}
func (quiet) GateDecided(string, admission.Outcome)                             {}
func (quiet) Published(time.Duration, error)                                    {}
func (quiet) PaymentCreated(string, time.Duration, error)                       {}
func (quiet) Withdrawn(string, ledger.Reason, lifecycle.WithdrawOutcome, error) {}

var (
	errLost    = errors.New("the answer was lost")
	errRefused = fmt.Errorf("insufficient merchant limit: %w", payment.ErrRefused)
)

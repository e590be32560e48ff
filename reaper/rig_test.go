package reaper_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/workers"
)

const saleID = lifecycletest.Sale

// rig is a world with a reaper in it, and a Redis whose replication id the test
// decides.
type rig struct {
	*lifecycletest.World
	*reaper.Reaper
	t       *testing.T
	ages    *ages
	queue   *queue
	redis   maps // of the audit
	handler *workers.Handler

	mu     sync.Mutex
	health admission.Health
	waited time.Duration
}

// ages is what workers see of the queue.
type ages struct {
	age   time.Duration
	known bool
}

func (a *ages) OldestMessage(context.Context, string) (time.Duration, bool, error) {
	return a.age, a.known, nil
}

// queue is the depth of the deployment's queues.
type queue struct {
	mu       sync.Mutex
	depth    events.Depth
	redriven int
	onDepth  func(*events.Depth)
}

func (q *queue) Depth(context.Context) (events.Depth, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.onDepth != nil {
		q.onDepth(&q.depth)
	}
	return q.depth, nil
}

func (q *queue) RedriveDead(context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.redriven += q.depth.Dead
	q.depth.Dead = 0
	return nil
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return rigOf(t, lifecycletest.New(t))
}

func rigOf(t *testing.T, w *lifecycletest.World) *rig {
	t.Helper()
	r := &rig{World: w, t: t, ages: &ages{}, queue: &queue{}, health: admission.Health{ReplicationID: "one"}}
	r.Control(func(c *ledger.Control) {
		c.ReplicationID, c.Epoch, c.RosterVersion, c.RosterSize = "one", 1, "r1", 9
	})
	var rows []ledger.RosterRow
	for _, c := range []string{"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"} {
		rows = append(rows, ledger.RosterRow{Candidate: c, EmailHash: lifecycletest.Email})
	}
	r.must(r.Store.PutRoster(t.Context(), saleID, rows))
	r.handler = &workers.Handler{Steps: r.Steps, Log: r.Steps.Log}
	r.Reaper = r.another()
	return r
}

// another is a second reaper over the same world.
func (r *rig) another() *reaper.Reaper {
	r.t.Helper()
	made, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: r.Redis, Health: r, Parked: r.handler, Ages: r.ages,
		Queue: r.queue, Dead: r.queue, Wait: r.wait, Parallel: 4})
	r.must(err)
	return made
}

// Health implements admission.HealthReader.
func (r *rig) Health(context.Context, string) (admission.Health, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.health, nil
}

// promote makes the replica the primary, with its history or without.
func (r *rig) promote(id string, knowsPrevious bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	previous := r.health.ReplicationID
	r.health = admission.Health{ReplicationID: id}
	if knowsPrevious {
		r.health.PreviousReplication = previous
	}
}

// wait moves the world's clock instead of waiting.
func (r *rig) wait(ctx context.Context, d time.Duration) error {
	r.Advance(d)
	r.mu.Lock()
	r.waited += d
	r.mu.Unlock()
	return ctx.Err()
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// held books and lets the worker write it.
func (r *rig) held(candidate, level string, gw *lifecycletest.Gateway) lifecycletest.Booked {
	r.t.Helper()
	b := r.Book(candidate, level, gw)
	r.handle(b.Held)
	return b
}

// paid is held and then paid.
func (r *rig) paid(candidate, level string) lifecycletest.Booked {
	r.t.Helper()
	b := r.held(candidate, level, r.Page)
	if !r.Page.Pay(b.PaymentID) {
		r.t.Fatalf("the page of %s does not take money", b.ID)
	}
	r.handle(b.Captured(r.Now()))
	return b
}

func (r *rig) handle(e events.Event) {
	r.t.Helper()
	r.must(r.handler.Handle(r.t.Context(), e, events.Meta{ReceiveCount: 1, SentAt: r.Now()}))
}

// work handles everything that was queued.
func (r *rig) work() {
	r.t.Helper()
	for _, e := range r.Queued() {
		r.handle(e)
	}
}

func (r *rig) sweep() reaper.SweepResult {
	r.t.Helper()
	res, err := r.Sweeper.Sweep(r.t.Context(), saleID)
	r.must(err)
	if res.Failed() > 0 {
		r.t.Errorf("ids failed: %+v", res)
	}
	return res
}

func (r *rig) diff() reaper.DiffResult {
	r.t.Helper()
	res, err := r.Differ.Diff(r.t.Context(), saleID)
	r.must(err)
	return res
}

func (r *rig) audit() reaper.AuditResult {
	r.t.Helper()
	res, err := r.Auditor.AuditWith(r.t.Context(), saleID, reaper.AuditOptions{AtRest: true})
	r.must(err)
	return res
}

// restful fails the test unless everything is at rest and every promise holds.
func (r *rig) restful() {
	r.t.Helper()
	r.World.Quiet()
	if a := r.audit(); !a.OK {
		r.t.Errorf("audit: %+v", a.Violations)
	}
	if d, err := r.Repairer.Repair(r.t.Context(), saleID, true); err != nil || !d.Clean() {
		r.t.Errorf("drift: %+v, %v", d, err)
	}
}

// state fails the test unless the booking is in this state in the ledger.
func (r *rig) state(b lifecycletest.Booked, want ledger.State) {
	r.t.Helper()
	if got := r.World.Booking(b.ID); got.State != want {
		r.t.Errorf("booking %s is %q, want %q (%s)", b.ID, got.State, want, got.Reason)
	}
}

// free fails the test unless the level has so many free seats.
func (r *rig) free(level string, want int) {
	r.t.Helper()
	st, err := r.Redis.Status(r.t.Context(), saleID, []string{level})
	r.must(err)
	if got := st.Levels[0].Free; got != want {
		r.t.Errorf("level %s has %d free seats, want %d", level, got, want)
	}
}

var (
	_ reaper.QueueDepth = (*queue)(nil)
	_ reaper.Redriver   = (*queue)(nil)
	_ payment.Gateway   = (*lifecycletest.Gateway)(nil)
)

package reaper_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
)

// town is a big sale on a real Redis with a replica; the clock is the real one.
type town struct {
	t      *testing.T
	pair   *redisproc.Pair
	store  *ledgertest.Store
	redis  *admredis.Store
	admin  *goredis.Client
	steps  *lifecycle.Steps
	reaper *reaper.Reaper
	plan   sale.Sale
	wait   time.Duration // for the replicas

	mu     sync.Mutex
	alarms []lifecycle.Alarm
	queued []events.Event
}

const townSale = "town"

// newTown makes a sale of so many seats with a candidate each; nobody has booked.
func newTown(t *testing.T, seats int) *town {
	t.Helper()
	w := &town{t: t, pair: redisproc.TestPair(t), store: ledgertest.NewStore(time.Now),
		wait: 5 * time.Second} // other tests keep this machine busy, and little here is about a short WAIT
	w.open(w.pair.Primary.Addr(), 1)
	now := time.Now()
	w.plan = sale.Sale{ID: townSale, Title: "Town", Zone: "UTC", OpensAt: ledger.Instant(now.Add(-time.Hour)), ClosesAt: ledger.Instant(now.Add(time.Hour)),
		Hold: 10 * time.Minute, Price: sale.Money{AmountMinor: 100, Currency: "BDT"}, Levels: []sale.Level{{Name: "N1", Cap: seats}}}.WithDefaults()
	w.must(w.store.CreateControl(w.ctx(), ledger.Control{Sale: townSale, Gen: 1, Plan: w.plan, Open: true, RosterVersion: "r1",
		RosterSize: seats, Next: map[string]int{"N1": seats + 1}}))
	var rows []ledger.RosterRow
	for i := range seats {
		rows = append(rows, ledger.RosterRow{Candidate: fmt.Sprintf("c%d", i), EmailHash: lifecycletest.Email})
	}
	w.must(w.store.PutRoster(w.ctx(), townSale, rows))
	return w
}

// open connects to a primary with so many replicas; after a failover to the next one.
func (w *town) open(addr string, replicas int) {
	w.t.Helper()
	var err error
	w.redis, err = admredis.Open(admredis.Config{Addrs: []string{addr}, Replicas: replicas, AllowUnacknowledged: replicas == 0,
		WaitTimeout: w.wait,
		Log:         slog.New(slog.DiscardHandler)})
	w.must(err)
	w.t.Cleanup(func() { w.redis.Close() })
	w.admin = goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1})
	w.t.Cleanup(func() { w.admin.Close() })
	w.steps = &lifecycle.Steps{Store: w.store, Redis: w.redis, Gateways: payment.Gateways{"slow": &slowGateway{}}, Guard: w.redis, Publish: w, Status: w,
		Controls: w.store, Now: time.Now, Log: slog.New(slog.DiscardHandler), Alarm: w.alarm}
	w.reaper, err = reaper.New(reaper.Options{Steps: w.steps, Redis: w.redis, Ages: &ages{}, Queue: &queue{},
		// The control item is read afresh by everybody here: nothing has to be waited for.
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	w.must(err)
}

func (w *town) alarm(a lifecycle.Alarm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alarms = append(w.alarms, a)
}

// Publish implements events.Publisher.
func (w *town) Publish(_ context.Context, e events.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued = append(w.queued, e)
	return nil
}

// Changed implements lifecycle.StatusNotifier.
func (w *town) Changed(string, int64) {}

func (w *town) ctx() context.Context { return w.t.Context() }

func (w *town) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// commands is how many commands the primary has done.
func (w *town) commands() int {
	w.t.Helper()
	stats, err := w.admin.InfoMap(w.ctx(), "stats").Result()
	w.must(err)
	n, err := strconv.Atoi(stats["Stats"]["total_commands_processed"])
	w.must(err)
	return n
}

// hold writes so many held bookings to the ledger; their holds ended long ago.
func (w *town) hold(n int) {
	w.t.Helper()
	for i := range n {
		b := ledger.Booking{ID: fmt.Sprintf("B%d", i), Sale: townSale, Candidate: fmt.Sprintf("c%d", i), Level: "N1", Gen: 1,
			Seats: []ledger.Seat{{Token: sale.TokenName("N1", i+1), Score: int64(i + 1)}}, Price: w.plan.Price,
			Payment: ledger.PaymentKey{Gateway: "slow", ID: fmt.Sprintf("p%d", i)}, AdmittedAt: time.Now().Add(-time.Hour), HoldUntil: time.Now().Add(-50 * time.Minute)}
		t, err := ledger.Hold(b, "worker", time.Now())
		w.must(err)
		w.must(w.store.Apply(w.ctx(), t))
	}
}

// clean fails the test unless the audit at rest and the diff find nothing.
func (w *town) clean() {
	w.t.Helper()
	a, err := w.reaper.Auditor.AuditWith(w.ctx(), townSale, reaper.AuditOptions{AtRest: true})
	w.must(err)
	if !a.OK {
		w.t.Errorf("audit: %+v", a.Violations[:min(5, len(a.Violations))])
	}
	d, err := w.reaper.Repairer.Repair(w.ctx(), townSale, true)
	w.must(err)
	if !d.Clean() {
		w.t.Errorf("drift: %+v", d)
	}
}

// slowGateway answers everything in five milliseconds: nobody has paid.
type slowGateway struct{ payment.Gateway }

const gatewayTime = 5 * time.Millisecond

func (*slowGateway) Name() string         { return "slow" }
func (*slowGateway) Moves() payment.Moves { return payment.MovesOnPage }

func (*slowGateway) Query(ctx context.Context, id string) (payment.Payment, error) {
	return payment.Payment{PaymentID: id, Status: payment.StatusOpen}, answer(ctx)
}

func (*slowGateway) Cancel(ctx context.Context, _ string) error { return answer(ctx) }

func answer(ctx context.Context) error {
	t := time.NewTimer(gatewayTime)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

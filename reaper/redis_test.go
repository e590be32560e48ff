package reaper_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
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

	mu     sync.Mutex
	alarms []lifecycle.Alarm
	queued []events.Event
}

const townSale = "town"

// newTown makes a sale of so many seats with a candidate each; nobody has booked.
func newTown(t *testing.T, seats int) *town {
	t.Helper()
	w := &town{t: t, pair: redisproc.TestPair(t), store: ledgertest.NewStore(time.Now)}
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
	w.redis, err = admredis.Open(admredis.Config{Addrs: []string{addr}, Replicas: replicas, AllowUnacknowledged: replicas == 0, Log: slog.New(slog.DiscardHandler)})
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

// size scales a suite by its one knob.
func size(n int) int {
	f, err := strconv.ParseFloat(os.Getenv("HOLDFAST_TEST_SIZE"), 64)
	if err != nil || f <= 0 {
		f = 1
	}
	return max(20, int(float64(n)*f))
}

// TestMassExpiry rebuilds an empty Redis from the ledger and then sweeps every
// hold, by two reapers at once: each seat comes back once, well within a minute.
func TestMassExpiry(t *testing.T) {
	t.Parallel()
	n := size(20_000)
	w := newTown(t, n)
	w.hold(n)
	began := time.Now()
	built, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	if built.Live != n || built.Roster != n || !built.Diff.Clean() {
		t.Fatalf("rebuild %+v", built)
	}
	t.Logf("rebuilt %d bookings and %d roster rows in %v", n, n, time.Since(began))
	began = time.Now()
	var results [2]reaper.SweepResult
	var errs [2]error
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i], errs[i] = w.reaper.Sweeper.Sweep(w.ctx(), townSale) })
	}
	wg.Wait()
	took := time.Since(began)
	w.must(errors.Join(errs[:]...))
	t.Logf("swept %d holds by two reapers in %v: %+v and %+v", n, took, results[0].Holds, results[1].Holds)
	for _, r := range results {
		if r.Failed() > 0 || r.Left() > 0 {
			t.Errorf("sweep %+v", r)
		}
	}
	if took > 45*time.Second {
		t.Errorf("it took %v", took)
	}
	st, err := w.redis.Status(w.ctx(), townSale, []string{"N1"})
	w.must(err)
	if st.Levels[0].Free != n || st.Used != 0 {
		t.Errorf("status %+v", st)
	}
	w.clean()
}

// TestFailoverToAReplicaThatLags: the replica was promoted while the old primary
// went on selling for a moment, and the new one sells the same seats again. The
// diff puts every booking of the ledger back and ends those in their way.
func TestFailoverToAReplicaThatLags(t *testing.T) {
	t.Parallel()
	n := size(400)
	w := newTown(t, n)
	w.hold(n / 2)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	w.follow()
	replica := goredis.NewClient(&goredis.Options{Addr: w.pair.Replica.Addr(), MaxRetries: -1})
	defer replica.Close()
	w.must(replica.Do(w.ctx(), "replicaof", "no", "one").Err())
	w.open(w.pair.Primary.Addr(), 0) // nobody asks for acknowledgements: that is the fault
	for i := n / 2; i < n; i++ {
		t, err := ledger.Hold(w.admit("lost", i), "worker", time.Now())
		w.must(err)
		w.must(w.store.Apply(w.ctx(), t))
	}
	w.must(w.pair.Primary.Kill())
	w.open(w.pair.Replica.Addr(), 0)
	for i := n / 2; i < n*3/4; i++ { // other candidates get the same seats
		w.admit("again", i+n)
	}
	d, err := w.reaper.Differ.Diff(w.ctx(), townSale)
	w.must(err)
	if d.Replication != reaper.ReplicationFailover || d.Drift[reaper.KindLost] == nil || d.Drift[reaper.KindLost].Repaired != n-n/2 || d.Open() != 0 {
		t.Errorf("diff %+v", d)
	}
	c, err := w.store.Control(w.ctx(), townSale)
	w.must(err)
	if c.Frozen || c.Epoch != 2 {
		t.Errorf("control %+v", c)
	}
	w.clean()
}

// admit books a seat of Redis alone.
func (w *town) admit(kind string, i int) ledger.Booking {
	w.t.Helper()
	id := fmt.Sprintf("%s-%d", kind, i)
	a, err := w.redis.Admit(w.ctx(), admission.Request{Sale: townSale, BookingID: id, Candidate: fmt.Sprintf("c%d", i), Level: "N1", Gen: 2,
		RosterVersion: admission.ProvenRoster, AmountMinor: 100, Currency: "BDT", Count: 1})
	w.must(err)
	if a.Outcome != admission.Admitted {
		w.t.Fatalf("admit %s: %v", id, a.Outcome)
	}
	_, err = w.redis.Attach(w.ctx(), admission.Attachment{Sale: townSale, BookingID: id, Driver: a.Driver, PaymentID: "slow:p-" + id, URL: "https://pay.example/",
		HoldUntil: a.HoldUntil, StashFor: time.Minute})
	w.must(err)
	r, err := w.redis.Record(w.ctx(), townSale, id)
	w.must(err)
	return lifecycle.BookingFromRecord(townSale, r)
}

// follow waits until the replica has what the primary has.
func (w *town) follow() {
	w.t.Helper()
	_, err := w.redis.SetOpen(w.ctx(), townSale, 2, true) // acknowledged, and all before it
	w.must(err)
}

// TestLostAndRestoredRedis: emptied, and replaced by another server, both freeze
// the sale; a rebuild brings every booking back.
func TestLostAndRestoredRedis(t *testing.T) {
	t.Parallel()
	n := size(200)
	w := newTown(t, n)
	w.hold(n)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	for name, lose := range map[string]func(){
		"flushed": func() { w.must(w.admin.FlushAll(w.ctx()).Err()) },
		"another server": func() {
			other := redisproc.Test(t, redisproc.Options{})
			w.open(other.Addr(), 0)
		},
	} {
		lose()
		d, err := w.reaper.Differ.Diff(w.ctx(), townSale)
		w.must(err)
		if !d.Frozen || d.Replication != reaper.ReplicationLost {
			t.Errorf("%s: diff %+v", name, d)
		}
		before, err := w.store.Control(w.ctx(), townSale)
		w.must(err)
		res, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
		w.must(err)
		if res.Live != n || res.Gen != before.Gen {
			t.Errorf("%s: rebuild %+v", name, res)
		}
		w.clean()
	}
}

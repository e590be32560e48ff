package ingress_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/sale"
)

// gated is the adapter as mains wire it: gates, group commit, one store.
type gated struct {
	*redis.Store
	gates *redis.Gates
}

func (g gated) Admit(ctx context.Context, r admission.Request) (admission.Answer, error) {
	return g.gates.Admit(ctx, r)
}

// overRealRedis puts a primary with a replica, the group commit and its gates
// under the world.
func overRealRedis(t *testing.T, change ...func(*ingress.Options)) *world {
	t.Helper()
	pair := redisproc.TestPair(t)
	store, err := redis.Open(redis.Config{Addrs: []string{pair.Primary.Addr()}, Replicas: 1,
		WaitTimeout: 1500 * time.Millisecond, // a busy machine is no missing replica
		Log:         slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	g := gated{store, redis.NewGates(store, redis.NewCommitter(store, redis.CommitOptions{}))}
	w := newWorld(t, func(o *ingress.Options) {
		o.Redis, o.Admit, o.AdmitIsGated, o.Now, o.OnSale = store, g, true, time.Now, g.gates.Watch
		for _, f := range change {
			f(o)
		}
	})
	w.steps.Redis, w.steps.Guard, w.steps.Now = g, store, time.Now
	now := time.Now().UTC().Truncate(time.Millisecond)
	w.plan.OpensAt, w.plan.ClosesAt = now.Add(-time.Hour), now.Add(time.Hour)
	p := admission.Plan{Sale: theSale, Gen: 1, OpensAt: w.plan.OpensAt, ClosesAt: w.plan.ClosesAt, Hold: w.plan.Hold, TotalCap: w.plan.TotalCap, Open: true, RosterVersion: "r1"}
	for _, l := range w.plan.Levels {
		p.Levels = append(p.Levels, admission.LevelPlan{Name: l.Name, Kind: string(l.Kind), Cap: l.Cap, Next: l.Cap + 1})
	}
	var rows []admission.RosterEntry
	for i := range 100 {
		m, err := sale.ParseEmail(mail(i))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, admission.RosterEntry{Candidate: string(w.candidate(i)), EmailHash: string(w.hasher.Email(m))})
	}
	if err := store.Install(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	if err := store.PutRoster(t.Context(), theSale, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.UpdateControl(t.Context(), theSale, func(c *ledger.Control) error { c.Plan = w.plan; return nil }); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.now = time.Now()
	w.mu.Unlock()
	w.refresh()
	if err := g.gates.Refresh(t.Context(), theSale); err != nil {
		t.Fatal(err)
	}
	return w
}

// The whole way over a real primary with a real replica: book, repeat, refuse,
// give back, and book what came back.
func TestBookingOverRealRedis(t *testing.T) {
	w := overRealRedis(t)
	first := w.book(wish(1, "N2"), 201, "", "Idempotency-Key", "k1")
	same := w.book(wish(1, "N2"), 200, "", "Idempotency-Key", "k1")
	if same.text("payment_url") != first.text("payment_url") || same.text("hold_until") != first.text("hold_until") {
		t.Errorf("%s, first %s", same.raw, first.raw)
	}
	w.book(wish(1, "N1"), 422, "idempotency_mismatch", "Idempotency-Key", "k1")
	if dup := w.book(wish(1, "N1"), 409, "duplicate", "Idempotency-Key", "k2"); dup.text("payment_url") != first.text("payment_url") {
		t.Errorf("%s", dup.raw)
	}
	w.book(wish(2, "N2"), 409, "level_full")
	w.book(wish(999, "N1"), 400, "invalid_code")
	w.work()
	b, err := w.store.Booking(t.Context(), first.text("booking_id"))
	if err != nil || b.State != ledger.Held || b.Seats[0].Score != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	w.wants(w.do("DELETE", "/bookings/"+b.ID, ""), 200, "")
	if again := w.book(wish(1, "N2"), 200, "", "Idempotency-Key", "k1"); again.text("state") != "released" {
		t.Errorf("%s", again.raw)
	}
	w.book(wish(2, "N2"), 201, "")
}

// 100 candidates at once for 50 seats: exactly 50, over the group commit.
func TestCrowdOverRealRedis(t *testing.T) {
	w := overRealRedis(t)
	got := w.crowd(100, func(i int) (string, []string) { return wish(i, "N1"), []string{"Idempotency-Key", fmt.Sprint(i)} })
	if got["201 "] != 50 || got["409 level_full"] != 50 {
		t.Errorf("answers %v", got)
	}
	w.work()
	held := 0
	if err := w.store.Scan(t.Context(), theSale, ledger.Visitor{Booking: func(b ledger.Booking) error { held++; return nil }}); err != nil {
		t.Fatal(err)
	}
	if held != 50 {
		t.Errorf("%d bookings in the ledger", held)
	}
}

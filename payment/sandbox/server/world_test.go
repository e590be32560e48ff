package server_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/payment/sandbox/server"
)

func TestMain(m *testing.M) { leak.Main(m) }

const adminToken = "admin-token"

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// shop is a receiver of webhooks that checks them as production does.
type shop struct {
	gateway *sandbox.Gateway
	clock   *clock
	answer  func(n payment.Notice) int // HTTP status

	mu   sync.Mutex
	seen []payment.Notice
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	n, err := s.gateway.ParseWebhook(r.Header, body, s.clock.Now())
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, n)
	s.mu.Unlock()
	status := http.StatusNoContent
	if s.answer != nil {
		status = s.answer(n)
	}
	w.WriteHeader(status)
}

func (s *shop) notices() []payment.Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]payment.Notice(nil), s.seen...)
}

type world struct {
	clock   *clock
	server  *server.Server
	shop    *shop
	gateway *sandbox.Gateway
	url     string
}

// newWorld starts a gateway and a shop on sockets. Webhooks flow when
// started.
func newWorld(t *testing.T, moves payment.Moves) *world {
	t.Helper()
	w := &world{clock: &clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}}
	w.shop = &shop{clock: w.clock}
	hooks := httptest.NewServer(w.shop)
	s, err := server.New(server.Config{
		AdminToken: adminToken,
		Engine: engine.Config{Now: w.clock.Now, Accounts: []engine.Account{{
			Name: "sandbox", AppKey: "key", AppSecret: "secret", WebhookSecret: "hook", Payee: "merchant",
			Moves: moves, WebhookURL: hooks.URL,
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.server = s
	listener := httptest.NewServer(s)
	w.url = listener.URL
	w.gateway, err = sandbox.New(sandbox.Config{
		Name: "sandbox", BaseURL: listener.URL, AppKey: "key", AppSecret: "secret", WebhookSecret: "hook",
		Payee: "merchant", Moves: moves, Now: w.clock.Now, Tokens: sandbox.NewMemoryTokens(w.clock.Now, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.shop.gateway = w.gateway
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		w.gateway.Close()
		listener.Close()
		hooks.Close()
	})
	return w
}

func (w *world) create(t *testing.T, booking string) payment.Session {
	t.Helper()
	s, err := w.gateway.Create(t.Context(), payment.CreateRequest{
		Metadata:    payment.Metadata{Sale: "spring", BookingID: booking, Candidate: "c0ffee"},
		AmountMinor: 150_000, Currency: "BDT", Title: "Spring <b>exam</b>",
		ReturnURL: "https://shop.example/return?sale=spring", ExpiresAt: w.clock.Now().Add(10 * time.Minute),
	})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return s
}

func (w *world) faults(t *testing.T, f engine.Faults) {
	t.Helper()
	if err := w.server.SetFaults("sandbox", f); err != nil {
		t.Fatal(err)
	}
}

func (w *world) act(t *testing.T, paymentID string, action engine.Action) {
	t.Helper()
	if _, err := w.server.Act(paymentID, action, 0); err != nil {
		t.Fatalf("act %s: %v", action, err)
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (w *world) waitNotices(t *testing.T, n int) []payment.Notice {
	t.Helper()
	waitFor(t, "webhooks", func() bool { return len(w.shop.notices()) >= n && w.server.Waiting() == 0 })
	got := w.shop.notices()
	if len(got) != n {
		t.Fatalf("%d webhooks, want %d: %+v", len(got), n, got)
	}
	return got
}

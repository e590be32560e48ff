package sandbox_test

import (
	"context"
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

// clock is a clock that only tests move.
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

const (
	hold     = 10 * time.Minute
	price    = 150_000
	currency = "BDT"
)

// world is a gateway on a real socket with an account and a client of each kind.
type world struct {
	clock  *clock
	server *server.Server
	url    string
	tokens *sandbox.MemoryTokens
	page   *sandbox.Gateway
	exec   *sandbox.Gateway
}

func newWorld(t *testing.T, change ...func(*engine.Account)) *world {
	t.Helper()
	w := &world{clock: &clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}}
	account := func(name string, moves payment.Moves) engine.Account {
		a := engine.Account{Name: name, AppKey: "key-" + name, AppSecret: "secret-" + name,
			WebhookSecret: "hook-" + name, Payee: "merchant-" + name, Moves: moves}
		for _, f := range change {
			f(&a)
		}
		return a
	}
	s, err := server.New(server.Config{Engine: engine.Config{
		Now:      w.clock.Now,
		Accounts: []engine.Account{account("page", payment.MovesOnPage), account("exec", payment.MovesOnExecute)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.server = s
	listener := httptest.NewServer(s)
	w.url = listener.URL
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		listener.Close()
	})
	w.tokens = sandbox.NewMemoryTokens(w.clock.Now, 0)
	w.page = w.client(t, "page", payment.MovesOnPage, w.tokens)
	w.exec = w.client(t, "exec", payment.MovesOnExecute, w.tokens)
	return w
}

func (w *world) config(name string, moves payment.Moves, tokens payment.TokenStore) sandbox.Config {
	return sandbox.Config{Name: name, BaseURL: w.url, AppKey: "key-" + name, AppSecret: "secret-" + name,
		WebhookSecret: "hook-" + name, Payee: "merchant-" + name, Moves: moves, Tokens: tokens, Now: w.clock.Now,
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

func (w *world) client(t *testing.T, name string, moves payment.Moves, tokens payment.TokenStore) *sandbox.Gateway {
	t.Helper()
	g, err := sandbox.New(w.config(name, moves, tokens))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func (w *world) request(booking string) payment.CreateRequest {
	return payment.CreateRequest{
		Metadata:    payment.Metadata{Sale: "spring", BookingID: booking, Candidate: "c0ffee"},
		AmountMinor: price, Currency: currency, Title: "Spring exam", ReturnURL: "https://shop.example/return?sale=spring",
		ExpiresAt: w.clock.Now().Add(hold),
	}
}

func (w *world) create(t *testing.T, g *sandbox.Gateway, booking string) payment.Session {
	t.Helper()
	s, err := g.Create(t.Context(), w.request(booking))
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return s
}

func (w *world) act(t *testing.T, paymentID string, action engine.Action) {
	t.Helper()
	if _, err := w.server.Act(paymentID, action, 0); err != nil {
		t.Fatalf("act %s: %v", action, err)
	}
}

func (w *world) faults(t *testing.T, account string, f engine.Faults) {
	t.Helper()
	if err := w.server.SetFaults(account, f); err != nil {
		t.Fatal(err)
	}
}

func wantStatus(t *testing.T, g *sandbox.Gateway, paymentID string, want payment.Status) payment.Payment {
	t.Helper()
	p, err := g.Query(t.Context(), paymentID)
	if err != nil || p.Status != want {
		t.Fatalf("query = %q, %v; want %q", p.Status, err, want)
	}
	return p
}

// entry is the ledger's truth about a payment.
func (w *world) entry(t *testing.T, paymentID string) engine.Entry {
	t.Helper()
	for _, e := range w.server.Payments() {
		if e.PaymentID == paymentID {
			return e
		}
	}
	t.Fatalf("the ledger has no payment %s", paymentID)
	return engine.Entry{}
}

// both runs a test against either kind of gateway.
func both(t *testing.T, test func(t *testing.T, w *world, g *sandbox.Gateway)) {
	t.Helper()
	t.Run("page", func(t *testing.T) { w := newWorld(t); test(t, w, w.page) })
	t.Run("execute", func(t *testing.T) { w := newWorld(t); test(t, w, w.exec) })
}

// complete brings a payment to captured, however the gateway does that.
func (w *world) complete(t *testing.T, g *sandbox.Gateway, paymentID string) {
	t.Helper()
	w.act(t, paymentID, engine.ActPay)
	if g.Moves() == payment.MovesOnExecute {
		if _, err := g.Execute(t.Context(), paymentID); err != nil {
			t.Fatalf("execute: %v", err)
		}
	}
}

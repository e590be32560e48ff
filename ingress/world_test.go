package ingress_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/payment/sandbox/server"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/workers"
)

func TestMain(m *testing.M) { leak.Main(m) }

const (
	theSale    = "spring"
	payHost    = "http://pay.example"
	hookSecret = "hook-secret"
	secret     = "0123456789abcdef0123456789abcdef"
)

// world is an ingress on fakes that are faithful where it matters: the ledger
// and Redis of the other suites, and the sandbox gateway as it is.
type world struct {
	testing.TB
	in     *ingress.Ingress
	redis  *admissiontest.Redis
	store  *ledgertest.Store
	pay    *server.Server
	page   *sandbox.Gateway
	steps  *lifecycle.Steps
	hasher *sale.Hasher
	plan   sale.Sale
	logs   *syncBuffer

	mu         sync.Mutex
	now        time.Time
	queued     []events.Event
	publishErr error
}

// syncBuffer is a log that may be written from many goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newWorld(t testing.TB, change ...func(*ingress.Options)) *world {
	t.Helper()
	start := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	w := &world{TB: t, now: start, logs: &syncBuffer{}}
	log := slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
	w.plan = sale.Sale{ID: theSale, Title: "Spring <exam>", Zone: "Asia/Dhaka", OpensAt: start.Add(-time.Hour), ClosesAt: start.Add(24 * time.Hour),
		Hold: 10 * time.Minute, Price: sale.Money{AmountMinor: 150_000, Currency: "BDT"}, MaxSeats: 2,
		Levels: []sale.Level{{Name: "N1", Cap: 50}, {Name: "N2", Cap: 1}}}.WithDefaults()
	w.store, w.redis = ledgertest.NewStore(w.Now), admissiontest.New(w.Now)
	var err error
	if w.hasher, err = sale.NewHasher([]byte(secret)); err != nil {
		t.Fatal(err)
	}
	w.openGateway(log)
	gateways := payment.Gateways{"page": w.page}
	w.steps = &lifecycle.Steps{Store: w.store, Redis: w.redis, Gateways: gateways, Guard: w.redis, Publish: w, Status: w,
		Controls: w.store, Now: w.Now, Log: log, Alarm: func(a lifecycle.Alarm) { t.Errorf("alarm %+v", a) }}
	w.load(50)
	o := ingress.Options{Hasher: w.hasher, Ledger: w.store, Redis: w.redis, Admit: w.redis, Walks: w.steps, Publish: w,
		Gateways: gateways, Gateway: "page", Status: w, PublicURL: "https://book.example", Now: w.Now, Log: log,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	for _, f := range change {
		f(&o)
	}
	if w.in, err = ingress.New(o); err != nil {
		t.Fatal(err)
	}
	w.refresh()
	return w
}

func (w *world) refresh() {
	w.Helper()
	if err := w.in.Refresh(w.Context()); err != nil {
		w.Fatal(err)
	}
}

func (w *world) openGateway(log *slog.Logger) {
	w.Helper()
	s, err := server.New(server.Config{Engine: engine.Config{Now: w.Now, Accounts: []engine.Account{{Name: "page", AppKey: "key",
		AppSecret: "secret", WebhookSecret: hookSecret, Payee: "us", Moves: payment.MovesOnPage}}}, PublicURL: payHost})
	if err != nil {
		w.Fatal(err)
	}
	w.pay = s
	w.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(w.Context())); err != nil {
			w.Error(err)
		}
	})
	w.page, err = sandbox.New(sandbox.Config{Name: "page", BaseURL: payHost, AppKey: "key", AppSecret: "secret", WebhookSecret: hookSecret,
		Payee: "us", Moves: payment.MovesOnPage, HTTPClient: &http.Client{Transport: server.InProcess(s)}, Now: w.Now, Log: log})
	if err != nil {
		w.Fatal(err)
	}
}

// load installs the sale with candidates CODE-0000 and so on.
func (w *world) load(n int) {
	w.Helper()
	p := admission.Plan{Sale: theSale, Gen: 1, OpensAt: w.plan.OpensAt, ClosesAt: w.plan.ClosesAt, Hold: w.plan.Hold,
		TotalCap: w.plan.TotalCap, Open: true, RosterVersion: "r1"}
	for _, l := range w.plan.Levels {
		p.Levels = append(p.Levels, admission.LevelPlan{Name: l.Name, Kind: string(l.Kind), Cap: l.Cap, Next: l.Cap + 1})
	}
	var rows []admission.RosterEntry
	for i := range n {
		code, err := sale.NormaliseCode(code(i))
		if err != nil {
			w.Fatal(err)
		}
		mail, err := sale.ParseEmail(mail(i))
		if err != nil {
			w.Fatal(err)
		}
		rows = append(rows, admission.RosterEntry{Candidate: string(w.hasher.Code(code)), EmailHash: string(w.hasher.Email(mail))})
	}
	for _, err := range []error{
		w.redis.Install(w.Context(), p, nil), w.redis.PutRoster(w.Context(), theSale, rows),
		w.store.CreateControl(w.Context(), ledger.Control{Sale: theSale, Gen: 1, Plan: w.plan, Open: true}),
	} {
		if err != nil {
			w.Fatal(err)
		}
	}
}

func code(i int) string { return fmt.Sprintf("CODE-%04d", i) }
func mail(i int) string { return fmt.Sprintf("person.%d@example.org", i) }

// wish is a booking request's body.
func wish(i int, level string) string {
	return fmt.Sprintf(`{"code":%q,"email":%q,"level":%q,"website":""}`, code(i), mail(i), level)
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Publish implements events.Publisher, with the queue's deduplication.
func (w *world) Publish(_ context.Context, e events.Event) error {
	if _, err := events.Encode(e); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.publishErr != nil {
		return w.publishErr
	}
	for _, q := range w.queued {
		if q.DedupID() == e.DedupID() {
			return nil
		}
	}
	w.queued = append(w.queued, e)
	return nil
}

// Changed implements lifecycle.StatusNotifier.
func (w *world) Changed(string, int64) {}

func (w *world) events() []events.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]events.Event(nil), w.queued...)
}

// work lets a worker handle everything that is queued.
func (w *world) work() {
	w.Helper()
	h := &workers.Handler{Steps: w.steps}
	for {
		w.mu.Lock()
		q := w.queued
		w.queued = nil
		w.mu.Unlock()
		if len(q) == 0 {
			return
		}
		for _, e := range q {
			if err := h.Handle(w.Context(), e, events.Meta{ReceiveCount: 1, SentAt: w.Now()}); err != nil {
				w.Fatalf("worker: %s: %v", e.Type, err)
			}
		}
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    []byte
	doc    map[string]any
}

func (a answer) text(field string) string {
	s, _ := a.doc[field].(string)
	return s
}

// do sends a request to the public listener. headers are name and value in turn.
func (w *world) do(method, path, body string, headers ...string) answer {
	w.Helper()
	return w.send(w.in.Public(), method, path, body, headers...)
}

func (w *world) send(h http.Handler, method, path, body string, headers ...string) answer {
	w.Helper()
	return w.sendWith(w.Context(), h, method, path, body, headers...)
}

func (w *world) sendWith(ctx context.Context, h http.Handler, method, path, body string, headers ...string) answer {
	w.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequestWithContext(ctx, method, path, r)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	a := answer{status: rec.Code, header: rec.Header(), raw: rec.Body.Bytes()}
	if strings.Contains(rec.Header().Get("Content-Type"), "json") && rec.Body.Len() > 0 {
		if err := json.Unmarshal(a.raw, &a.doc); err != nil {
			w.Fatalf("%s %s: not JSON: %v\n%s", method, path, err, a.raw)
		}
	}
	return a
}

// book sends a booking request and wants a status and, if it is no success, a
// code.
func (w *world) book(body string, status int, code string, headers ...string) answer {
	w.Helper()
	a := w.do(http.MethodPost, "/sales/"+theSale+"/bookings", body, headers...)
	w.wants(a, status, code)
	return a
}

func (w *world) wants(a answer, status int, code string) {
	w.Helper()
	if a.status != status || a.text("code") != code {
		w.Fatalf("status %d, code %q; want %d, %q\n%s", a.status, a.text("code"), status, code, a.raw)
	}
	if code != "" {
		if ct := a.header.Get("Content-Type"); ct != "application/problem+json" || a.text("type") == "" || a.text("title") == "" || a.doc["status"] != float64(status) {
			w.Errorf("not a problem document: %s %s", ct, a.raw)
		}
	}
}

func (w *world) used() int {
	w.Helper()
	s, err := w.redis.Status(w.Context(), theSale, w.plan.LevelNames())
	if err != nil {
		w.Fatal(err)
	}
	return s.Used
}

// candidate is the hash of candidate i.
func (w *world) candidate(i int) sale.CodeHash {
	w.Helper()
	c, err := sale.NormaliseCode(code(i))
	if err != nil {
		w.Fatal(err)
	}
	return w.hasher.Code(c)
}

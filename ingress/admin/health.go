package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Check is one thing that has to work before a process may take requests.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

const (
	checkFor = 2 * time.Second
	checkAge = time.Second // answers are shared for so long: probes must not be load
)

// Health answers /healthz and /readyz. Healthy means that the process runs;
// ready, that it would sell a seat now: every check passes and it is not
// shutting down.
type Health struct {
	checks   []Check
	now      func() time.Time
	draining atomic.Bool

	mu   sync.Mutex
	at   time.Time
	last map[string]string
	ok   bool
}

// NewHealth returns the health of a process with these checks.
func NewHealth(checks []Check, now func() time.Time) *Health {
	return &Health{checks: checks, now: now}
}

// Drain makes the process unready for good.
func (h *Health) Drain() { h.draining.Store(true) }

// Live is GET /healthz.
func (h *Health) Live(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, map[string]string{"status": "ok"})
}

// Ready is GET /readyz: 200 or 503, with the result of each check.
func (h *Health) Ready(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		send(w, http.StatusServiceUnavailable, readiness{Checks: map[string]string{"process": "is shutting down"}})
		return
	}
	results, ok := h.run(r.Context())
	status := http.StatusOK
	if !ok {
		status = http.StatusServiceUnavailable
	}
	send(w, status, readiness{Ready: ok, Checks: results})
}

type readiness struct {
	Ready  bool              `json:"ready"`
	Checks map[string]string `json:"checks"`
}

// run makes all checks at once, or repeats a young answer.
func (h *Health) run(ctx context.Context) (map[string]string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.now(); h.last != nil && now.Sub(h.at) < checkAge {
		return h.last, h.ok
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkFor)
	defer cancel()
	errs := make([]error, len(h.checks))
	var wg sync.WaitGroup
	for i, c := range h.checks {
		wg.Go(func() { errs[i] = c.Run(ctx) })
	}
	wg.Wait()
	h.at, h.last, h.ok = h.now(), make(map[string]string, len(errs)), true
	for i, c := range h.checks {
		h.last[c.Name] = "ok"
		if errs[i] != nil {
			h.last[c.Name], h.ok = errs[i].Error(), false
		}
	}
	return h.last, h.ok
}

func send(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

package browsertest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// proxy stands between the browser and the ingress and does, sale by sale, what
// bad networks and busy servers do.
type proxy struct {
	to *httputil.ReverseProxy

	mu     sync.Mutex
	faults map[string]*faults
}

// many faults last until a test ends them.
const many = 1_000_000

// faults are counted down. Seen counts what came, by "METHOD kind".
type faults struct {
	loseReplies map[string]int // act, then break the connection in the middle of the answer
	busy        map[string]int // answer 503 without acting
	seen        map[string]int
	keys        map[string]bool // Idempotency-Keys
}

func newProxy(to string) *proxy {
	u, err := url.Parse(to)
	if err != nil {
		panic(err) // a constant form
	}
	return &proxy{to: httputil.NewSingleHostReverseProxy(u), faults: map[string]*faults{}}
}

// of returns the faults of a sale, to be read or set within do.
func (p *proxy) of(sale string, do func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.faults[sale]
	if f == nil {
		f = &faults{loseReplies: map[string]int{}, busy: map[string]int{}, seen: map[string]int{}, keys: map[string]bool{}}
		p.faults[sale] = f
	}
	do(f)
}

// kindOf names a request: book, hold, seats, status, booking, return, page.
func kindOf(r *http.Request) (sale, kind string) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	sale = r.URL.Query().Get("sale")
	switch {
	case parts[0] == "sales" && len(parts) == 3 && parts[2] == "bookings":
		return parts[1], "book"
	case parts[0] == "sales" && len(parts) == 3 && parts[2] == "holds":
		return parts[1], "hold"
	case parts[0] == "sales" && len(parts) > 3 || len(parts) == 3 && parts[2] == "seats":
		return parts[1], "seats"
	case parts[0] == "sales" && len(parts) == 3:
		return parts[1], "status"
	case parts[0] == "sales" && len(parts) == 2:
		return parts[1], "page"
	case parts[0] == "payments":
		return sale, "return"
	case parts[0] == "bookings":
		return sale, "booking"
	}
	return sale, "other"
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sale, kind := kindOf(r)
	lose, busy := false, false
	p.of(sale, func(f *faults) {
		f.seen[kind]++
		if kind == "book" || kind == "hold" {
			f.keys[r.Header.Get("Idempotency-Key")] = true
		}
		if busy = f.busy[kind] > 0; busy {
			f.busy[kind]--
		} else if lose = f.loseReplies[kind] > 0; lose {
			f.loseReplies[kind]--
		}
	})
	switch {
	case busy:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case lose:
		half(w, p.to, r)
	default:
		p.to.ServeHTTP(w, r)
	}
}

// half lets the request be done and sends half of its answer. Without any of it
// Chromium would repeat the request on its own, before the page learns of it.
func half(w http.ResponseWriter, to http.Handler, r *http.Request) {
	r.Header.Del("Accept-Encoding")
	rec := httptest.NewRecorder()
	to.ServeHTTP(rec, r)
	body := rec.Body.Bytes()
	maps.Copy(w.Header(), rec.Header())
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body[:len(body)/2]) // it is to break
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

package main

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// noAnswer stands for a connection that ended without an answer.
const noAnswer = 0

// answer is one booking request as the balancer saw it end.
type answer struct {
	at     time.Duration // since the balancer's start
	status int
}

// balancer spreads requests over the ingresses and remembers how each booking
// request ended. Where an ingress is dead the client's connection dies too: the
// balancer looks nowhere else, so that what a process took with it is seen.
type balancer struct {
	url    string
	start  time.Time
	server *http.Server
	next   atomic.Uint64

	mu      sync.Mutex
	answers []answer
}

func newBalancer(doors []string) (*balancer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &balancer{url: "http://" + l.Addr().String(), start: time.Now()}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 512
	proxy := &httputil.ReverseProxy{
		Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.(*statusWriter).status = noAnswer
			panic(http.ErrAbortHandler)
		},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", doors[b.next.Add(1)%uint64(len(doors))]
			// The crowd says from where each person comes; this hop adds nothing.
			r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
		},
	}
	b.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/bookings") {
			defer func() { b.remember(s.status) }()
		}
		proxy.ServeHTTP(s, r)
	})}
	go func() { _ = b.server.Serve(l) }() // always ErrServerClosed once close was called
	return b, nil
}

func (b *balancer) close() error {
	err := b.server.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (b *balancer) since() time.Duration { return time.Since(b.start) }

func (b *balancer) remember(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = append(b.answers, answer{b.since(), status})
}

// seen returns a copy of what was remembered.
func (b *balancer) seen() []answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]answer(nil), b.answers...)
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers the status.
func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

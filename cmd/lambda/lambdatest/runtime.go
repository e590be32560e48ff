// Package lambdatest is Lambda's side of a function, for tests: the Runtime API
// that a bootstrap polls, and the extensions API through which it asks for
// SIGTERM. It runs the very program that is deployed.
package lambdatest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Answer is what a function made of an invocation.
type Answer struct {
	Body   []byte
	Failed bool // the function reported an error, which is the body
	Took   time.Duration
}

// Runtime serves the API on loopback. It hands out one invocation at a time, as
// Lambda does to one instance.
type Runtime struct {
	listener net.Listener
	server   *http.Server
	invoked  chan invocation
	polled   chan struct{} // closed at the first poll: the function is warm
	once     sync.Once
	initFail chan []byte

	mu      sync.Mutex
	running map[string]invocation
	next    int
	sigterm bool
}

type invocation struct {
	id       string
	payload  []byte
	deadline time.Time
	began    time.Time
	answer   chan Answer
}

// Start serves the API until Close.
func Start() (*Runtime, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the runtime API: %w", err)
	}
	r := &Runtime{listener: l, invoked: make(chan invocation), polled: make(chan struct{}), initFail: make(chan []byte, 1), running: map[string]invocation{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", r.handNext)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", func(w http.ResponseWriter, q *http.Request) { r.take(w, q, false) })
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", func(w http.ResponseWriter, q *http.Request) { r.take(w, q, true) })
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", r.takeInitError)
	mux.HandleFunc("POST /2020-01-01/extension/register", r.register)
	mux.HandleFunc("GET /2020-01-01/extension/event/next", func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(l) }() // ErrServerClosed once Close was called
	return r, nil
}

// Addr is AWS_LAMBDA_RUNTIME_API.
func (r *Runtime) Addr() string { return r.listener.Addr().String() }

// Close ends the API and with it every poll.
func (r *Runtime) Close() error { return r.server.Close() }

// Warm waits until the function asks for its first invocation: its cold start
// is over. A function that gives up before is an error with its reason.
func (r *Runtime) Warm(ctx context.Context) error {
	select {
	case <-r.polled:
		return nil
	case why := <-r.initFail:
		return fmt.Errorf("the function could not start: %s", why)
	case <-ctx.Done():
		return fmt.Errorf("the function never asked for work: %w", ctx.Err())
	}
}

// Invoke hands one event to the function and waits for its answer. The function
// is told that it has until timeout from now; ctx is how long the test waits.
func (r *Runtime) Invoke(ctx context.Context, event any, timeout time.Duration) (Answer, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return Answer{}, err
	}
	r.mu.Lock()
	r.next++
	in := invocation{id: strconv.Itoa(r.next), payload: payload, answer: make(chan Answer, 1)}
	in.began = time.Now()
	in.deadline = in.began.Add(timeout)
	r.mu.Unlock()
	select {
	case r.invoked <- in:
	case <-ctx.Done():
		return Answer{}, errors.New("the function does not take another invocation")
	}
	select {
	case a := <-in.answer:
		return a, nil
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("the function did not answer: %w", ctx.Err())
	}
}

// WantsSIGTERM reports whether the function registered for a signal before it
// is killed.
func (r *Runtime) WantsSIGTERM() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sigterm
}

func (r *Runtime) handNext(w http.ResponseWriter, q *http.Request) {
	r.once.Do(func() { close(r.polled) })
	select {
	case in := <-r.invoked:
		r.mu.Lock()
		r.running[in.id] = in
		r.mu.Unlock()
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", in.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(in.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:holdfast")
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(in.payload) // a function that went away is seen by Invoke
	case <-q.Context().Done():
	}
}

func (r *Runtime) take(w http.ResponseWriter, q *http.Request, failed bool) {
	body, err := io.ReadAll(q.Body)
	r.mu.Lock()
	in, ok := r.running[q.PathValue("id")]
	delete(r.running, q.PathValue("id"))
	r.mu.Unlock()
	if err != nil || !ok {
		http.Error(w, "no such invocation", http.StatusBadRequest)
		return
	}
	in.answer <- Answer{Body: body, Failed: failed, Took: time.Since(in.began)}
	w.WriteHeader(http.StatusAccepted)
}

func (r *Runtime) takeInitError(w http.ResponseWriter, q *http.Request) {
	why, _ := io.ReadAll(q.Body)
	select {
	case r.initFail <- why:
	default:
	}
	w.WriteHeader(http.StatusAccepted)
}

func (r *Runtime) register(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	r.sigterm = true
	r.mu.Unlock()
	w.Header().Set("Lambda-Extension-Identifier", "sigterm")
	_, _ = io.WriteString(w, "{}") // as above
}

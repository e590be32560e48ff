package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

const (
	defaultSenders = 8
	sendTimeout    = 10 * time.Second
	// lookAgain bounds how long the sender trusts its timer, for engines whose
	// clock is not the wall clock.
	lookAgain = time.Second
)

// sender delivers the engine's webhooks: one dispatcher claims what is due, a
// bounded number of goroutines post it.
type sender struct {
	engine *engine.Engine
	client *http.Client
	now    func() time.Time
	log    *slog.Logger
	slots  chan struct{}

	mu      sync.Mutex
	stop    context.CancelFunc // ends the dispatcher
	abort   context.CancelFunc // breaks off posts
	stopped chan struct{}
	posts   sync.WaitGroup
}

func newSender(e *engine.Engine, c Config) *sender {
	client := c.HTTPClient
	if client == nil {
		client = &http.Client{
			Timeout:       sendTimeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: defaultSenders, IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	slots := c.Senders
	if slots <= 0 {
		slots = defaultSenders
	}
	return &sender{engine: e, client: client, now: c.Engine.Now, log: c.Log, slots: make(chan struct{}, slots)}
}

func (s *sender) start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil {
		return
	}
	intake, stop := context.WithCancel(ctx)
	// What was begun is finished even when ctx ends; close breaks it off.
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.abort, s.stopped = stop, abort, make(chan struct{})
	go func() {
		defer close(s.stopped)
		s.dispatch(intake, work)
	}()
}

func (s *sender) dispatch(intake, work context.Context) {
	for s.acquire(intake) {
		claimed := s.engine.Claim(1)
		if len(claimed) == 0 {
			<-s.slots
			if !s.sleep(intake) {
				return
			}
			continue
		}
		s.posts.Go(func() {
			defer func() { <-s.slots }()
			s.deliver(work, claimed[0])
		})
	}
}

func (s *sender) acquire(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case s.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// sleep waits for the next due time or for news, and reports false at the end.
func (s *sender) sleep(ctx context.Context) bool {
	pause := lookAgain
	if due, ok := s.engine.NextDue(); ok {
		pause = min(pause, max(due.Sub(s.now()), 0))
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.engine.Changed():
	case <-ctx.Done():
		return false
	}
	return true
}

// deliver posts one webhook and settles it. Only a 2xx counts as delivered.
func (s *sender) deliver(ctx context.Context, d engine.Delivery) {
	delivered := false
	defer func() { s.engine.Settle(d.ID, delivered) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		s.log.Warn("webhook has no usable URL", "event", d.Event.ID, "error", err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(api.HeaderSignature, api.Sign(d.Secret, s.now(), d.Body))
	answer, err := s.client.Do(request)
	if err != nil {
		s.log.Info("webhook not delivered, will be tried again", "event", d.Event.ID, "attempt", d.Attempt, "error", err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	// Read so that the connection can be used again; what it says is not used.
	_, _ = io.CopyN(io.Discard, answer.Body, api.MaxBodyBytes)
	delivered = answer.StatusCode/100 == 2
	if !delivered {
		s.log.Info("webhook refused, will be tried again", "event", d.Event.ID, "attempt", d.Attempt, "status", answer.StatusCode)
	}
}

func (s *sender) close(ctx context.Context) error {
	s.mu.Lock()
	stop, abort, stopped := s.stop, s.abort, s.stopped
	s.mu.Unlock()
	defer s.client.CloseIdleConnections()
	if stopped == nil {
		return nil
	}
	defer abort()
	stop()
	done := make(chan struct{})
	go func() {
		<-stopped
		s.posts.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		abort()
		<-done
		return errClosedEarly
	}
}

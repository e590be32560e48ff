// Package server is the sandbox gateway over HTTP: an API for merchants, a pay
// page for customers, signed webhooks, and an endpoint for its failure switches.
// It is for development and tests; serve it on a loopback address.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// hangAtMost bounds a call that a switch lets hang, in case its caller has no
// time-out of its own.
const hangAtMost = 2 * time.Minute

// Config is what a server is made of.
type Config struct {
	Engine engine.Config
	// PublicURL is where customers find the pay page, without a slash at the end.
	// Empty: as each create's Host header says.
	PublicURL string
	// AdminToken is the bearer token of /admin. Empty: there is no /admin.
	AdminToken string
	// HTTPClient sends the webhooks. Nil: one with a time-out of 10 s that
	// follows no redirect.
	HTTPClient *http.Client
	// Senders is how many webhooks are sent at once. Zero: 8.
	Senders int
	Log     *slog.Logger // nil: silent
}

// Server is the gateway. Its engine may be driven directly at the same time.
type Server struct {
	*engine.Engine
	config  Config
	handler http.Handler
	sender  *sender
	closing chan struct{}
	once    sync.Once
}

// New builds a server, or lists every fault of its configuration. It sends no
// webhooks before Start.
func New(c Config) (*Server, error) {
	e, err := engine.New(c.Engine)
	if err != nil {
		return nil, err
	}
	if c.Engine.Now == nil {
		c.Engine.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Engine: e, config: c, closing: make(chan struct{})}
	s.sender = newSender(e, c)
	s.handler = s.routes()
	return s, nil
}

// ServeHTTP serves API, pay page and admin endpoint.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Start begins to send webhooks, until ctx ends or Close is called. Call it once.
func (s *Server) Start(ctx context.Context) { s.sender.start(ctx) }

// Close lets go of hanging calls, claims no more webhooks and waits for those
// being sent; when ctx ends it breaks them off. No goroutine of the server is
// left when it returns. Safe to call twice, and without Start.
func (s *Server) Close(ctx context.Context) error {
	s.once.Do(func() { close(s.closing) })
	return s.sender.close(ctx)
}

// wait is a pause that ends early when the caller has gone or the server closes.
func (s *Server) wait(ctx context.Context, d time.Duration) {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	case <-s.closing:
	}
}

var errClosedEarly = errors.New("sandbox: webhooks were broken off at shutdown; they are lost, the payments are not")

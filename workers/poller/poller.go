// Package poller runs a handler in a long-lived process: it polls a FIFO queue,
// handles each message group in its order and many groups at once, and deletes
// a message only after its work is durable. It knows no AWS type; a Source is
// the queue.
package poller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/workers/delivery"
)

// Handler is what handles an event; see delivery.Handler for its contract.
type Handler = delivery.Handler

// Parker keeps what can't be handled; see delivery.Parker.
type Parker = delivery.Parker

// Source is a FIFO queue. Everything in it may fail or lose its answer; nothing
// is lost by that, since a message that is not deleted comes again.
type Source interface {
	// Receive waits up to wait and returns at most ten messages, hidden for the
	// visibility, those of a group in order. A repeat of an attempt whose answer
	// was lost returns the same messages. It makes a single attempt.
	Receive(ctx context.Context, attempt string, wait time.Duration) ([]events.Message, error)
	// Delete deletes deliveries; one error or nil for each.
	Delete(ctx context.Context, handles []string) []error
	// SetVisibility hides deliveries for d from now on, 0 gives them back at
	// once and in this order; one error or nil for each.
	SetVisibility(ctx context.Context, handles []string, d time.Duration) []error
	// Visibility is for how long Receive hides messages.
	Visibility() time.Duration
}

// Observer hears what happens, for metrics. Calls come from many goroutines and
// must be quick.
type Observer interface {
	Handled(delivery.Report)
	// Polled is told of each answer to a poll; err is why there was none.
	Polled(messages int, err error)
	// TidyFailed counts deliveries whose delete, release or extension failed.
	TidyFailed(op string, n int)
}

// Poller polls a queue and handles what comes. Make it with New; Run it once.
type Poller struct {
	cfg       Config
	deliverer delivery.Deliverer
	groups    chan []events.Message // for a worker that is free
	deletes   chan string           // handles of what is done
	holds     holds
	ages      ages
}

// New checks the configuration.
func New(cfg Config) (*Poller, error) {
	cfg = cfg.withDefaults()
	p := &Poller{
		cfg:     cfg,
		groups:  make(chan []events.Message),
		deletes: make(chan string, 10*cfg.Workers),
		deliverer: delivery.Deliverer{
			Handler: cfg.Handler, Parker: cfg.Parker, Timeout: cfg.EventTimeout,
			Observe: cfg.Observer.Handled, Now: cfg.Now, Log: cfg.Log,
		},
	}
	err := p.deliverer.Check()
	if cfg.Source == nil {
		err = errors.Join(err, errors.New("a Source is required"))
	}
	if err != nil {
		return nil, fmt.Errorf("configure the poller: %w", err)
	}
	p.holds.visibility = cfg.Source.Visibility()
	return p, nil
}

// InFlight is how many messages this poller has taken and not yet given back
// or deleted.
func (p *Poller) InFlight() int { return p.holds.count() }

// OldestAge is the age of the oldest message that this poller holds or has seen
// in the last two minutes, 0 if it saw none: whether the workers keep up, for
// the breaker (protocol.md 3.8). It says nothing about a queue that nobody
// polls.
func (p *Poller) OldestAge() time.Duration {
	now := p.cfg.Now()
	return max(p.ages.oldest(now), p.holds.oldestAge(now))
}

package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// DefaultEvery is how often at most one sale is read and published: every
// change is public well within a second, and a rush of a thousand changes costs
// a few writes.
const DefaultEvery = 250 * time.Millisecond

// DefaultTimeout bounds one try to publish.
const DefaultTimeout = 5 * time.Second

// ControlReader reads a sale's control item: its levels and its epoch.
type ControlReader interface {
	Control(ctx context.Context, saleID string) (ledger.Control, error)
}

// Config is what a Publisher works with. Reader, Store and Controls are required.
type Config struct {
	Reader   admission.StatusReader
	Store    ledger.StatusStore
	Controls ControlReader
	ShowFree bool          // publish counts of free seats
	Every    time.Duration // 0: DefaultEvery
	Timeout  time.Duration // 0: DefaultTimeout
	Log      *slog.Logger  // nil: slog.Default
}

// Publisher publishes the status of sales whose public state changed. The
// process that got the new version from a script publishes it, so each change
// is published by one instance; what a dead one left out the sweep repairs with
// Publish (protocol.md 3.13). Make one with Start; safe for many goroutines.
type Publisher struct {
	config Config
	ctx    context.Context // of the work; ends when Close gives up

	mu     sync.Mutex
	dirty  map[string]bool
	stored map[string]Version // the newest known to be stored
	closed bool

	wake   chan struct{} // there is something dirty, or the end
	done   chan struct{}
	cancel context.CancelFunc
}

// Start makes a publisher and its one goroutine, which ends with Close. Of ctx
// only the values are used: what was promised is published also when the
// process is being shut down.
func Start(ctx context.Context, c Config) *Publisher {
	if c.Every <= 0 {
		c.Every = DefaultEvery
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	p := &Publisher{config: c, dirty: map[string]bool{}, stored: map[string]Version{},
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go p.run()
	return p
}

// Changed notes that a script changed the public state of the sale and answered
// this version. It never blocks. A version of 0 is no change, and after Close
// nothing is noted.
func (p *Publisher) Changed(sale string, version int64) {
	if version <= 0 {
		return
	}
	p.mu.Lock()
	if !p.closed {
		p.dirty[sale] = true
	}
	p.mu.Unlock()
	p.signal()
}

func (p *Publisher) signal() {
	select {
	case p.wake <- struct{}{}:
	default: // it is awake, or will be
	}
}

// Close publishes what is left, one last try for each sale, and ends the
// goroutine. When ctx ends first it stops the try and returns ctx's error. Safe
// to call again.
func (p *Publisher) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.signal()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.cancel()
		<-p.done
		return ctx.Err()
	}
}

// run publishes rounds, at most one in config.Every.
func (p *Publisher) run() {
	defer close(p.done)
	defer p.cancel()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-p.wake:
		case <-p.ctx.Done():
			return
		}
		if p.round() {
			return
		}
		pause.Reset(p.config.Every)
		select {
		case <-pause.C:
		case <-p.ctx.Done():
			return
		}
	}
}

// round publishes every dirty sale once and reports whether it was the last
// round. A sale that fails stays dirty, so the next round tries it again.
func (p *Publisher) round() (last bool) {
	p.mu.Lock()
	sales := p.dirty
	p.dirty = map[string]bool{}
	last = p.closed
	p.mu.Unlock()
	for sale := range sales {
		ctx, cancel := context.WithTimeout(p.ctx, p.config.Timeout)
		_, err := p.Publish(ctx, sale)
		cancel()
		if err == nil {
			continue
		}
		p.config.Log.Warn("status not published", "sale", sale, "err", err)
		p.mu.Lock()
		p.dirty[sale] = true
		p.mu.Unlock()
		p.signal()
	}
	return last
}

// Flush publishes at once what is dirty, and waits for it: for a process that is
// about to be frozen. What fails stays dirty. Safe to call at any time.
func (p *Publisher) Flush(ctx context.Context) error {
	p.mu.Lock()
	sales := p.dirty
	p.dirty = map[string]bool{}
	p.mu.Unlock()
	var errs []error
	for sale := range sales {
		if _, err := p.Publish(ctx, sale); err != nil {
			errs = append(errs, err)
			p.mu.Lock()
			p.dirty[sale] = true
			p.mu.Unlock()
			p.signal()
		}
	}
	return errors.Join(errs...)
}

// Publish reads the sale's state and stores its document if that is newer than
// what is stored; it reports whether it was. The sweep calls it to repair what
// a dead publisher left out. Safe to call any number of times.
func (p *Publisher) Publish(ctx context.Context, sale string) (bool, error) {
	// The epoch first: a failover between the two reads then stores a new state
	// under the old epoch, and the publication under the new one replaces it.
	c, err := p.config.Controls.Control(ctx, sale)
	if err != nil {
		return false, fmt.Errorf("status: read the control item of sale %s: %w", sale, err)
	}
	s, err := p.config.Reader.Status(ctx, sale, c.Plan.LevelNames())
	if err != nil {
		return false, fmt.Errorf("status: read the state of sale %s: %w", sale, err)
	}
	d := From(s, c.Epoch, p.config.ShowFree)
	p.mu.Lock()
	newer := d.Version.After(p.stored[sale])
	p.mu.Unlock()
	if !newer {
		return false, nil
	}
	doc, err := json.Marshal(d)
	if err != nil {
		return false, fmt.Errorf("status: encode the status of sale %s: %w", sale, err)
	}
	err = p.config.Store.PutStatus(ctx, sale, d.Version.Epoch, d.Version.N, doc)
	if err != nil && !errors.Is(err, ledger.ErrStale) {
		return false, fmt.Errorf("status: store the status of sale %s: %w", sale, err)
	}
	p.mu.Lock()
	if d.Version.After(p.stored[sale]) {
		p.stored[sale] = d.Version
	}
	p.mu.Unlock()
	return err == nil, nil
}

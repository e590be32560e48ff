package reaper

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// Defaults of Options.
const (
	// DefaultParallel is how many ids of a pass are under way at once: a gateway
	// takes milliseconds to seconds, and 20,000 holds must be over in a minute.
	DefaultParallel = 16
	// DefaultLimit bounds the ids of each kind that one pass takes up.
	DefaultLimit = 50_000
	// DefaultPassMax bounds one sweep: a little less than the schedule of a
	// minute. What it leaves is the next one's.
	DefaultPassMax = 50 * time.Second
	// DefaultIDMax bounds the work on one id, so that a gateway that hangs holds
	// up a sixteenth of the pass and not all of it.
	DefaultIDMax = 15 * time.Second
)

// Actor is who the ledger's history names.
const Actor ledger.Actor = "reaper"

// Options are what the passes work on. Steps and Redis are required; Health
// too, unless Redis is one. Clock, ledger, gateways, alarm and log are those of
// Steps.
type Options struct {
	Steps  *lifecycle.Steps
	Redis  Redis
	Health admission.HealthReader

	Status StatusPublisher // nil: the sweep publishes nothing
	Parked Replayer        // nil: nothing is replayed
	Ages   QueueAges       // nil: NotedAges on the ledger, with Queue
	Queue  QueueDepth      // nil: no rebuild can see whether the queue is drained
	Dead   Redriver        // nil: a rebuild redrives no dead letters
	Seats  SeatScanner     // nil: see there; a Redis that is one is taken

	Metrics  Metrics       // nil: none
	Parallel int           // 0: DefaultParallel
	Limit    int           // 0: DefaultLimit
	PassMax  time.Duration // 0: DefaultPassMax
	IDMax    time.Duration // 0: DefaultIDMax
	// Wait waits on the clock of Steps.Now; nil waits on the real one. It
	// returns ctx's error when that ends first.
	Wait func(ctx context.Context, d time.Duration) error
}

// Reaper holds the passes over one set of ports.
type Reaper struct {
	Sweeper   *Sweeper
	Differ    *Differ
	Repairer  *Repairer
	Rebuilder *Rebuilder
	Auditor   *Auditor

	tools *tools
}

// tools is what the passes share.
type tools struct {
	Options
	store ledger.Store
	now   func() time.Time
	log   *slog.Logger
}

// New checks the options and makes the passes.
func New(o Options) (*Reaper, error) {
	t, err := newTools(o)
	if err != nil {
		return nil, err
	}
	differ := &Differ{t}
	return &Reaper{
		Sweeper: &Sweeper{t}, Differ: differ, Repairer: &Repairer{differ}, Rebuilder: &Rebuilder{t, differ}, Auditor: &Auditor{t}, tools: t,
	}, nil
}

func newTools(o Options) (*tools, error) {
	if o.Steps == nil || o.Redis == nil {
		return nil, errors.New("reaper: set Options.Steps and Options.Redis")
	}
	if o.Health == nil {
		o.Health, _ = o.Redis.(admission.HealthReader)
	}
	if o.Health == nil {
		return nil, errors.New("reaper: set Options.Health: without the replication id lost data goes unseen")
	}
	if o.Seats == nil {
		o.Seats, _ = o.Redis.(SeatScanner)
	}
	t := &tools{store: o.Steps.Store, now: o.Steps.Now, log: o.Steps.Log}
	if t.log == nil {
		t.log = slog.Default()
	}
	if o.Ages == nil {
		o.Ages = &NotedAges{Store: t.store, Now: t.now, Queue: o.Queue}
	}
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	o.Parallel, o.Limit = or(o.Parallel, DefaultParallel), or(o.Limit, DefaultLimit)
	o.PassMax, o.IDMax = or(o.PassMax, DefaultPassMax), or(o.IDMax, DefaultIDMax)
	t.Options = o
	return t, nil
}

func or[T int | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

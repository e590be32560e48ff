package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// The ages of a plan.
const (
	// RefreshEvery is how often the plans are read again (protocol.md 3.9: at
	// least every five seconds).
	RefreshEvery = 2 * time.Second
	// MaxAge is when a plan is too old to sell by. The script compares the
	// generation on every call, so an older plan sells nothing wrong; but a
	// process that can't read the ledger for so long does not know what it does
	// not know, and says so (fail closed).
	MaxAge = 30 * time.Second
)

// Ledger is where plans come from.
type Ledger interface {
	Sales(ctx context.Context) ([]string, error)
	Control(ctx context.Context, saleID string) (ledger.Control, error)
}

// Plans are the sales that this process knows. Make one with NewPlans; it is
// safe for concurrent use.
type Plans struct {
	from  Ledger
	clock admission.StatusReader
	now   func() time.Time
	log   *slog.Logger

	// OnSale, if set before the first refresh, is told of each sale that is new or
	// has other levels than before.
	OnSale func(saleID string, levels []string)

	current  atomic.Pointer[map[string]*booking.Plan]
	complete atomic.Pointer[time.Time] // when every sale was last read without a fault
	mu       sync.Mutex                // one refresh at a time
	kick     chan struct{}
}

// NewPlans reads plans from the ledger and the time from Redis.
func NewPlans(from Ledger, clock admission.StatusReader, now func() time.Time, log *slog.Logger) *Plans {
	p := &Plans{from: from, clock: clock, now: now, log: log, kick: make(chan struct{}, 1)}
	p.current.Store(&map[string]*booking.Plan{})
	return p
}

// Plan returns the newest plan of a sale; ok is false if there is no such sale.
// A plan that is older than MaxAge is returned all the same: see Fresh.
func (p *Plans) Plan(saleID string) (plan *booking.Plan, ok bool) {
	plan, ok = (*p.current.Load())[saleID]
	return plan, ok
}

// Fresh says whether the plan may be sold by.
func (p *Plans) Fresh(plan *booking.Plan) bool { return p.now().Sub(plan.ReadAt) < MaxAge }

// Complete says whether a sale that is not here does not exist, as of a moment
// ago. Otherwise it may be one that could not be read: then the answer is "try
// again", never "there is no such sale".
func (p *Plans) Complete() bool {
	at := p.complete.Load()
	return at != nil && p.now().Sub(*at) < MaxAge
}

// Sales are the ids of the sales, in order, as a fresh slice.
func (p *Plans) Sales() []string { return slices.Sorted(maps.Keys(*p.current.Load())) }

// Run refreshes until ctx ends.
func (p *Plans) Run(ctx context.Context) {
	tick := time.NewTicker(RefreshEvery)
	defer tick.Stop()
	for {
		if err := p.Refresh(ctx); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "plans not refreshed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-p.kick:
		}
	}
}

// Stale asks for a refresh soon: a script said that the generation has moved on.
func (p *Plans) Stale() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// Refresh reads every sale once. A sale that can't be read keeps its old plan,
// and its age tells; the error joins what went wrong.
func (p *Plans) Refresh(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, RefreshEvery)
	defer cancel()
	asked := p.now()
	ids, err := p.from.Sales(ctx)
	if err != nil {
		return fmt.Errorf("gate: list the sales: %w", err)
	}
	old, next := *p.current.Load(), make(map[string]*booking.Plan, len(ids))
	var faults []error
	for _, id := range ids {
		plan, err := p.read(ctx, id, old[id])
		if err != nil {
			faults = append(faults, err)
			plan = old[id]
		}
		if plan != nil {
			next[id] = plan
			p.tell(plan, old[id])
		}
	}
	p.current.Store(&next)
	if len(faults) == 0 {
		p.complete.Store(&asked)
	}
	return errors.Join(faults...)
}

func (p *Plans) tell(plan, old *booking.Plan) {
	levels := plan.Sale.LevelNames()
	if p.OnSale != nil && (old == nil || !slices.Equal(levels, old.Sale.LevelNames())) {
		p.OnSale(plan.Sale.ID, levels)
	}
}

func (p *Plans) read(ctx context.Context, id string, old *booking.Plan) (*booking.Plan, error) {
	asked := p.now()
	c, err := p.from.Control(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("gate: read the control item of sale %s: %w", id, err)
	}
	plan := &booking.Plan{Sale: c.Plan, Gen: c.Gen, Open: c.Open, Frozen: c.Frozen, ReadAt: asked}
	if old != nil {
		plan.ClockAhead, plan.Halls = old.ClockAhead, old.Halls
	}
	plan.Halls = sale.Halls(plan.Sale, plan.Halls)
	before := p.now()
	s, err := p.clock.Status(ctx, id, nil)
	if err != nil || s.Now.IsZero() { // Redis is down or does not know the sale yet: the script will say so
		return plan, nil
	}
	plan.ClockAhead, plan.Empty = s.Now.Sub(before), s.Bookings == 0
	return plan, nil
}

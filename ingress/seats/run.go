package seats

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

// lapsePage is how many expired holds of a level are released in one step.
const lapsePage = 500

// Run reads the maps that somebody watches, and releases expired holds, until ctx
// ends. One reading serves all viewers of a sale, and a sale whose Redis is frozen
// holds up its own viewers only.
func (h *Hub) Run(ctx context.Context) {
	tick := time.NewTicker(PollEvery)
	defer tick.Stop()
	var passes sync.WaitGroup
	defer passes.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.start(ctx, &passes, func(s *house) bool {
			due := h.Now().Sub(s.lapsedAt) >= lapseEvery
			if due {
				s.lapsedAt = h.Now()
			}
			return due
		})
	}
}

// Poll makes one pass over the sales with named seats, and waits for it.
func (h *Hub) Poll(ctx context.Context, lapse bool) {
	var passes sync.WaitGroup
	h.start(ctx, &passes, func(*house) bool { return lapse })
	passes.Wait()
}

// start begins a pass over each sale with named seats whose last one is over.
func (h *Hub) start(ctx context.Context, passes *sync.WaitGroup, lapse func(*house) bool) {
	for _, id := range h.Plans.Sales() {
		p, ok := h.Plans.Plan(id)
		if !ok || len(p.Halls) == 0 {
			continue
		}
		s := h.house(id)
		if !s.passing.CompareAndSwap(false, true) {
			continue
		}
		passes.Go(func() {
			defer s.passing.Store(false)
			h.pass(ctx, p, s, lapse(s))
		})
	}
}

func (h *Hub) pass(ctx context.Context, p *booking.Plan, s *house, lapse bool) {
	if lapse {
		h.lapse(ctx, p)
	}
	if s.subs.count() == 0 {
		return
	}
	if _, err := s.current(ctx, p, 0); err != nil && ctx.Err() == nil {
		h.Log.WarnContext(ctx, "no map for the viewers", "sale", p.Sale.ID, "err", err)
	}
}

// lapse gives the seats of expired holds back, for the figures of the status and
// for the sale's total: whoever wants the seats themselves frees them on the way.
func (h *Hub) lapse(ctx context.Context, p *booking.Plan) {
	ctx, cancel := context.WithTimeout(ctx, readFor)
	defer cancel()
	for _, l := range p.Sale.Levels {
		if l.Kind != sale.KindSeated {
			continue
		}
		n, version, err := h.Soft.Lapse(ctx, p.Sale.ID, l.Name, lapsePage)
		if err != nil {
			return // Redis is down: the next pass
		}
		if n > 0 && h.Changed != nil {
			h.Changed(p.Sale.ID, version)
		}
	}
}

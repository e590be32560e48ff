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
// ends. One reading serves all viewers of a sale.
func (h *Hub) Run(ctx context.Context) {
	tick := time.NewTicker(PollEvery)
	defer tick.Stop()
	var lapsedAt time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lapse := h.Now().Sub(lapsedAt) >= lapseEvery
		if lapse {
			lapsedAt = h.Now()
		}
		h.Poll(ctx, lapse)
	}
}

// Poll makes one pass over the sales with named seats.
func (h *Hub) Poll(ctx context.Context, lapse bool) {
	var wg sync.WaitGroup
	for _, id := range h.Plans.Sales() {
		p, ok := h.Plans.Plan(id)
		if !ok || len(p.Halls) == 0 {
			continue
		}
		wg.Go(func() {
			if lapse {
				h.lapse(ctx, p)
			}
			if s := h.house(id); s.subs.count() > 0 {
				_, err := s.current(ctx, p, 0)
				if err != nil && ctx.Err() == nil {
					h.Log.WarnContext(ctx, "no map for the viewers", "sale", id, "err", err)
				}
			}
		})
	}
	wg.Wait()
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

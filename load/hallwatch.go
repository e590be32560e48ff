package load

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// How often the public map is read, and all holders are looked at.
const (
	mapEvery  = 500 * time.Millisecond
	lookEvery = 500 * time.Millisecond
)

// deadlineMargin is how long before its end a claim counts as certain no more.
const deadlineMargin = time.Second

// view reads the public map again and again, as a browser does. A seat that
// somebody has for certain must not be shown as free, beyond the time by which a
// map may trail.
func (h *hall) view(ctx context.Context) {
	for pause(ctx, mapEvery) {
		before := time.Now()
		m, err := h.client.seats(ctx, false)
		if ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		if err != nil {
			h.out.Errors++
		} else {
			h.remember(m)
			h.out.Maps++
			h.judgeMap(before, time.Now())
		}
		h.mu.Unlock()
	}
}

// judgeMap compares the last map, asked for at before and here at after, with
// what clients know.
func (h *hall) judgeMap(before, after time.Time) {
	h.owners.certain(before, after.Add(deadlineMargin), func(c *claim) {
		for _, s := range c.seats {
			if h.gone[s] {
				continue
			}
			lag := before.Sub(c.since)
			h.out.Lag = max(h.out.Lag, lag)
			if lag > h.MapLag {
				h.out.Wrong = append(h.out.Wrong, fmt.Sprintf("seat %s is shown as free %v after %s got it", s, lag.Round(time.Millisecond), c.id))
			}
		}
	})
}

// probe looks at all holders in one consistent reading: nobody shares a seat,
// and no group is there in part.
func (h *hall) probe(ctx context.Context) {
	if h.Holders == nil {
		return
	}
	for pause(ctx, lookEvery) {
		before := time.Now()
		holders, err := h.Holders(ctx)
		if ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		if err != nil {
			h.out.Errors++
		} else {
			h.out.Looks++
			h.judgeHolders(holders, before, time.Now())
		}
		h.mu.Unlock()
	}
}

func (h *hall) judgeHolders(holders map[string][]string, before, after time.Time) {
	has := make(map[string]string, len(holders))
	for id, seats := range holders {
		for _, s := range seats {
			if other, ok := has[s]; ok {
				h.out.Twice = append(h.out.Twice, fmt.Sprintf("seat %s is held by %s and %s at once", s, id, other))
			}
			has[s] = id
		}
	}
	h.owners.certain(before, after.Add(deadlineMargin), func(c *claim) {
		if got := holders[c.id]; !sameSeats(got, c.seats) {
			h.out.Half = append(h.out.Half, fmt.Sprintf("%s was told %v and has %v", c.id, c.seats, got))
		}
	})
}

// compareTries and compareEvery bound the wait for the last map.
const (
	compareTries = 20
	compareEvery = 500 * time.Millisecond
)

// compare is the last look: when all is quiet, the seats of paid bookings are
// shown as sold, and nothing is held. More may be sold than clients know of, since
// late money gets another booking: but no more than the stores have.
func (h *hall) compare(ctx context.Context, r *run) error {
	if !r.result.Quiet {
		return nil
	}
	var wrong []string
	for range compareTries {
		m, err := h.client.seats(ctx, false)
		if err != nil {
			wrong = []string{err.Error()}
		} else if wrong = h.difference(m, r.inUse()); len(wrong) == 0 {
			return nil
		}
		if !pause(ctx, compareEvery) {
			break
		}
	}
	h.note(func(s *SeatsResult) { s.Wrong = append(s.Wrong, wrong...) })
	return ctx.Err()
}

// inUse is how many named seats the stores say are taken; unknown if the run can
// not look inside.
func (r *run) inUse() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.result.Watched {
		return unknown
	}
	n := 0
	for level := range r.hall.levels {
		n += r.result.Last.Used[level]
	}
	return n
}

const unknown = -1

func (h *hall) difference(m seatMap, inUse int) (wrong []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(m.Held) > 0 {
		wrong = append(wrong, fmt.Sprintf("%d seats are shown as held when nobody holds one", len(m.Held)))
	}
	if inUse != unknown && len(m.Sold) != inUse {
		wrong = append(wrong, fmt.Sprintf("%d seats are shown as sold, %d are", len(m.Sold), inUse))
	}
	for s := range h.sold {
		if !slices.Contains(m.Sold, s) {
			wrong = append(wrong, "seat "+s+" is paid and not shown as sold")
		}
	}
	return wrong
}

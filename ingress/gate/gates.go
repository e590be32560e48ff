package gate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// The local gates' own times.
const (
	// MarkAge is how old the knowledge that something is full may be (protocol.md 3.12).
	MarkAge = 250 * time.Millisecond
	// EarlyBy is when before opening the script begins to judge; until then a
	// request is refused here (protocol.md 3.12).
	EarlyBy = 2 * time.Second
)

// Holder says which booking a candidate holds, also one that another process
// admitted; admission.ErrNotFound if none.
type Holder interface {
	CandidateBooking(ctx context.Context, sale, candidate string) (string, error)
}

// Gates decide from the plans and from full marks. They satisfy booking.Gates
// and are safe for concurrent use.
type Gates struct {
	plans  *Plans
	holder Holder
	now    func() time.Time

	mu    sync.Mutex
	marks map[mark]full
}

// mark names what is full: a level, or with level "" the whole sale.
type mark struct{ sale, level string }

type full struct {
	at    time.Time
	seats int // so many were not free; fewer might be
}

// NewGates returns the gates of a process. Without a holder they keep no full
// marks: whoever stands behind them does.
func NewGates(plans *Plans, holder Holder, now func() time.Time) *Gates {
	return &Gates{plans: plans, holder: holder, now: now, marks: map[mark]full{}}
}

// Decide refuses what is certain: a sale that does not open for seconds to
// come and of which nobody holds a seat, a sale that is frozen or about which nothing fresh is known, and what
// was full a moment ago, if the candidate holds nothing. One read of `seen`
// answers the last, whoever admitted them (protocol.md 3.12, 3B.14).
func (g *Gates) Decide(ctx context.Context, r *admission.Request) (admission.Answer, bool) {
	p, ok := g.plans.Plan(r.Sale)
	if !ok || p.Frozen || !g.plans.Fresh(p) {
		return admission.Answer{Outcome: admission.StaleGen}, true
	}
	if p.Empty && p.Sale.OpensAt.Sub(g.now().Add(p.ClockAhead)) > EarlyBy {
		return admission.Answer{Outcome: admission.Closed, OpensAt: p.Sale.OpensAt}, true
	}
	outcome := g.full(r)
	if outcome == 0 {
		return admission.Answer{}, false
	}
	// An error says nothing about the candidate: the script judges.
	if _, err := g.holder.CandidateBooking(ctx, r.Sale, r.Candidate); !errors.Is(err, admission.ErrNotFound) {
		return admission.Answer{}, false
	}
	return admission.Answer{Outcome: outcome}, true
}

// full is LevelFull or SoldOut if a young mark says so, else 0. Named seats are
// never refused here: another one may be free.
func (g *Gates) full(r *admission.Request) admission.Outcome {
	if len(r.Seats) > 0 || g.holder == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range []struct {
		mark
		admission.Outcome
	}{{mark{r.Sale, r.Level}, admission.LevelFull}, {mark{r.Sale, ""}, admission.SoldOut}} {
		f, ok := g.marks[m.mark]
		if ok && g.now().Sub(f.at) <= MarkAge && r.Count >= f.seats {
			return m.Outcome
		}
	}
	return 0
}

// Learn marks what the script found full, and asks for new plans when the
// generation has moved on.
func (g *Gates) Learn(r *admission.Request, a *admission.Answer) {
	switch a.Outcome {
	case admission.LevelFull:
		g.mark(mark{r.Sale, r.Level}, r)
	case admission.SoldOut:
		g.mark(mark{r.Sale, ""}, r)
	case admission.StaleGen:
		g.plans.Stale()
	}
}

func (g *Gates) mark(m mark, r *admission.Request) {
	if len(r.Seats) > 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.marks[m] = full{at: g.now(), seats: r.Count}
}

// Undone forgets the sale's marks: a seat came back.
func (g *Gates) Undone(saleID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for m := range g.marks {
		if m.sale == saleID {
			delete(g.marks, m)
		}
	}
}

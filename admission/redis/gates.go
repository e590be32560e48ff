package redis

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// How old what the gates know may be (protocol.md 3.12).
const (
	fullMarkAge  = 250 * time.Millisecond
	refreshEvery = 100 * time.Millisecond
	closedAge    = time.Second     // of the times, to refuse before opening
	openingSlack = 2 * time.Second // before opens_ms the script begins to judge
)

// Decision is what the gates can say without asking the script.
type Decision struct {
	Outcome       admission.Outcome // Closed, LevelFull or SoldOut; 0: ask
	OpensAt       time.Time         // Closed
	RosterVersion string            // for the request, if it is to be asked
}

// Gates refuses locally what is sure, and spares the script the roster where it
// can (protocol.md 3.12). What it knows may be old: that costs a round trip,
// never a wrong answer. It stands in front of an Admitter and is one itself.
// Run keeps it fresh. It is safe for concurrent use.
type Gates struct {
	store *Store
	next  admission.Admitter
	now   func() time.Time
	known *group[string, bool]

	mu    sync.Mutex // for those who change sales
	sales atomic.Pointer[map[string]*gate]
}

var _ admission.Admitter = (*Gates)(nil)

// gate is what is known of one sale.
type gate struct {
	levels []string
	snap   atomic.Pointer[snapshot]
	freed  atomic.Int64 // counts seats that came back: a full mark from before is void
}

// snapshot is one reading of a sale. It is immutable.
type snapshot struct {
	status  admission.Status
	at      time.Time // our clock, before the reading
	skew    time.Duration
	freed   int64 // gate.freed before the reading
	levels  map[string]admission.LevelStatus
	roster  *rosterTable
	version string // of roster
}

// NewGates stands in front of next. Register it before the store is used.
func NewGates(s *Store, next admission.Admitter) *Gates {
	g := &Gates{store: s, next: next, now: s.now}
	g.sales.Store(&map[string]*gate{})
	g.known = newGroup(CommitOptions{}.complete(), s.primary, s.known)
	s.onFreed = append(s.onFreed, g.clear)
	return g
}

// Watch makes the gates know a sale, from the next refresh on. A sale that is
// not watched goes straight to the script.
func (g *Gates) Watch(sale string, levels []string) {
	g.change(func(sales map[string]*gate) { sales[sale] = &gate{levels: levels} })
}

// Forget stops watching a sale.
func (g *Gates) Forget(sale string) {
	g.change(func(sales map[string]*gate) { delete(sales, sale) })
}

// change lets f change a copy of the sales, which takes the place of what every
// request looks into without a lock.
func (g *Gates) change(f func(sales map[string]*gate)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sales := maps.Clone(*g.sales.Load())
	f(sales)
	g.sales.Store(&sales)
}

func (g *Gates) gate(sale string) *gate { return (*g.sales.Load())[sale] }

func (g *Gates) clear(sale string) {
	if w := g.gate(sale); w != nil {
		w.freed.Add(1)
	}
}

// Admit answers locally or asks the next Admitter.
func (g *Gates) Admit(ctx context.Context, r admission.Request) (admission.Answer, error) {
	if r.RosterVersion == admission.ProvenRoster {
		return g.next.Admit(ctx, r)
	}
	d, err := g.Check(ctx, r)
	if err != nil {
		return admission.Answer{}, err
	}
	if d.Outcome != 0 {
		return admission.Answer{Outcome: d.Outcome, BookingID: r.BookingID, OpensAt: d.OpensAt}, nil
	}
	r.RosterVersion = d.RosterVersion
	return g.next.Admit(ctx, r)
}

// Check judges a request by the snapshot. It reads from Redis only to refuse by
// a full mark, which must not hit somebody who holds a seat; callers who come
// together share that read.
func (g *Gates) Check(ctx context.Context, r admission.Request) (Decision, error) {
	w := g.gate(r.Sale)
	if w == nil {
		return Decision{}, nil
	}
	s := w.snap.Load()
	if s == nil || s.status.Gen != r.Gen {
		return Decision{}, nil
	}
	now := g.now()
	if s.beforeOpening(now) {
		if validRequest(&r) != nil {
			return Decision{}, nil // the next Admitter says what is wrong with it
		}
		return Decision{Outcome: admission.Closed, OpensAt: s.status.OpensAt}, nil
	}
	if !s.roster.allows(r.Candidate, r.EmailHash, r.Level) {
		return Decision{}, nil // perhaps somebody whose row has just changed
	}
	d := Decision{RosterVersion: s.version}
	full := s.full(&r, now, w.freed.Load())
	if full == 0 || validRequest(&r) != nil {
		return d, nil
	}
	holds, err := g.known.do(ctx, r.Sale, r.Candidate)
	if err == nil && !holds {
		d.Outcome = full
	}
	return d, err
}

// beforeOpening: the sale opens later, and nobody holds a seat of it whose
// replay would have to be answered.
func (s *snapshot) beforeOpening(now time.Time) bool {
	return now.Sub(s.at) <= closedAge && s.status.Bookings == 0 && !s.status.OpensAt.IsZero() &&
		now.Add(s.skew).Before(s.status.OpensAt.Add(-openingSlack))
}

// full says that a counted level, or the sale, had too few seats a moment ago,
// while it was open. Everything else is the script's to judge.
func (s *snapshot) full(r *admission.Request, now time.Time, freed int64) admission.Outcome {
	redisNow := now.Add(s.skew)
	open := s.status.Open && !redisNow.Before(s.status.OpensAt) && redisNow.Before(s.status.ClosesAt)
	l, known := s.levels[r.Level]
	switch {
	case now.Sub(s.at) > fullMarkAge, freed != s.freed, !open, !known, l.Kind != kindCounted, len(r.Seats) > 0, r.Count < 1, r.Count > maxSeats,
		l.Used+l.Free != l.Cap:
		return 0
	case l.Free < r.Count:
		return admission.LevelFull
	case s.status.Used+r.Count > s.status.TotalCap:
		return admission.SoldOut
	}
	return 0
}

// Refresh reads a watched sale once: its status, and its roster if that has
// another version than the one we have.
func (g *Gates) Refresh(ctx context.Context, sale string) error {
	w := g.gate(sale)
	if w == nil {
		return fmt.Errorf("%w: sale %q is not watched", admission.ErrNotFound, sale)
	}
	old := w.snap.Load()
	s := &snapshot{at: g.now(), freed: w.freed.Load(), levels: map[string]admission.LevelStatus{}}
	var err error
	if s.status, err = g.store.Status(ctx, sale, w.levels); err != nil {
		return err
	}
	s.skew = s.status.Now.Sub(s.at)
	for _, l := range s.status.Levels {
		s.levels[l.Name] = l
	}
	if old != nil {
		s.roster, s.version = old.roster, old.version
	}
	w.snap.Store(s)
	if s.status.RosterVersion == "" || s.version == s.status.RosterVersion {
		return nil
	}
	return g.loadRoster(ctx, sale, w, *s)
}

// loadRoster reads the roster of the version that s has. A version names rows
// that were complete before it was set, so what is read now is at least those.
func (g *Gates) loadRoster(ctx context.Context, sale string, w *gate, s snapshot) error {
	b := newRosterBuilder()
	err := g.store.ScanRoster(ctx, sale, func(r admission.RosterEntry) error { b.add(r); return nil })
	if err != nil {
		return err
	}
	s.roster, s.version = b.build(), s.status.RosterVersion
	w.snap.Store(&s)
	return nil
}

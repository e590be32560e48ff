package seats

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
)

// The ages of a map.
const (
	PollEvery = 250 * time.Millisecond // while somebody watches
	// MaxAge is how old a map may be that is shown. Free, held and sold are this
	// young; that a booking got more time to pay shows within RereadAfter, because
	// that raises no version.
	MaxAge      = 500 * time.Millisecond
	RereadAfter = 2 * time.Second
	lapseEvery  = time.Second
	scanAfter   = 5 * time.Second // between two scans of the ledger while Redis is down
	readFor     = 2 * time.Second
	scanFor     = 20 * time.Second
)

// Ledger is what shows sold and held seats while Redis is down.
type Ledger interface {
	Scan(ctx context.Context, saleID string, v ledger.Visitor) error
}

// Plans are the sales of this process.
type Plans interface {
	Plan(saleID string) (*booking.Plan, bool)
	Sales() []string
}

// Options are a hub's parts.
type Options struct {
	Plans   Plans
	Redis   admission.SeatReader
	Soft    admission.SoftHolder
	Ledger  Ledger // nil: no map while Redis is down
	Changed func(saleID string, version int64)
	Now     func() time.Time
	Log     *slog.Logger
	Viewers int // at most so many streams; 0: 10,000
}

// Hub keeps the maps of a process. It is safe for concurrent use.
type Hub struct {
	Options

	mu     sync.Mutex
	sales  map[string]*house
	count  int
	closed bool
}

// ErrUnavailable: neither Redis nor the ledger can be read.
var ErrUnavailable = errors.New("seats: the map can't be read now")

// New returns a hub. It reads nothing before somebody looks.
func New(o Options) *Hub {
	if o.Viewers == 0 {
		o.Viewers = 10_000
	}
	return &Hub{Options: o, sales: make(map[string]*house)}
}

// house is what is known of one sale's seats.
type house struct {
	hub   *Hub
	nonce string

	turn   chan struct{} // one reading at a time; whoever is in it has what follows
	view   *View
	readAt time.Time // when the holders were read
	seenAt time.Time // when the version was looked at
	scanAt time.Time
	failed error // of the last reading, at seenAt

	passing  atomic.Bool // a pass of Run or Poll is under way
	lapsedAt time.Time   // when a pass released expired holds

	subs subscribers
}

func (h *Hub) house(saleID string) *house {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sales[saleID]
	if s == nil {
		s = &house{hub: h, nonce: newNonce(), turn: make(chan struct{}, 1)}
		h.sales[saleID] = s
	}
	return s
}

func newNonce() string { return strings.ToLower(rand.Text()[:10]) }

// View returns a map that is at most MaxAge old. Many callers at once cause one
// reading.
func (h *Hub) View(ctx context.Context, p *booking.Plan) (*View, error) {
	return h.house(p.Sale.ID).current(ctx, p, MaxAge)
}

func (s *house) current(ctx context.Context, p *booking.Plan, age time.Duration) (*View, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // select would toss a coin
	}
	select { // nobody waits for another one's reading longer than for an own one
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.turn }()
	if young := s.hub.Now().Sub(s.seenAt) < age; young && s.failed != nil {
		return nil, s.failed // who waited behind a failure does not repeat it
	} else if young && s.view != nil && s.view.layout.of(p) {
		return s.view, nil
	}
	v, err := s.advance(ctx, p)
	s.failed, s.seenAt = err, s.hub.Now()
	return v, err
}

// advance reads what there is to read and moves the view on. It is called in turn.
func (s *house) advance(ctx context.Context, p *booking.Plan) (*View, error) {
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readFor) // others wait for it too
	defer cancel()
	next, err := s.fromRedis(rctx, p)
	if err != nil {
		s.hub.Log.WarnContext(ctx, "seats can't be read from Redis", "sale", p.Sale.ID, "err", err)
		if next, err = s.fromLedger(ctx, p); err != nil {
			return nil, err
		}
	}
	return s.show(next), nil
}

// fromRedis reads the version, and the holders if it is new or if they are old.
func (s *house) fromRedis(ctx context.Context, p *booking.Plan) (*View, error) {
	gen, n, err := s.hub.Redis.SeatVersion(ctx, p.Sale.ID)
	if err != nil {
		return nil, err
	}
	now := s.hub.Now()
	next := s.over(p)
	if old := s.view; old != nil && old.layout == next.layout && old.Source == FromRedis && old.gen == gen && old.n == n && now.Sub(s.readAt) < RereadAfter {
		next.gen, next.n, next.holders, next.ahead = gen, n, old.holders, old.ahead
	} else {
		m, err := s.hub.Redis.Seats(ctx, p.Sale.ID, next.layout.levels)
		if err != nil {
			return nil, err
		}
		next.gen, next.n, next.holders, next.ahead = m.Gen, m.Version, m.Holders, m.Now.Sub(now)
		s.readAt = now
	}
	next.Source = FromRedis
	next.board = next.layout.board(next.holders, next.redisNow(now))
	return next, nil
}

// fromLedger scans the ledger, seldom: it is the map of bad days.
func (s *house) fromLedger(ctx context.Context, p *booking.Plan) (*View, error) {
	now, next := s.hub.Now(), s.over(p)
	next.Source = FromLedger
	if old := s.view; old != nil && old.layout == next.layout && old.Source == FromLedger && now.Sub(s.scanAt) < scanAfter {
		return old, nil
	}
	if s.hub.Ledger == nil {
		return nil, ErrUnavailable
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scanFor)
	defer cancel()
	err := s.hub.Ledger.Scan(ctx, p.Sale.ID, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if stage, live := stageOf(b.State); live {
			next.holders = append(next.holders, admission.Holder{ID: b.ID, Level: b.Level, Stage: stage, Until: b.HoldUntil, Seats: b.Tokens()})
		}
		return nil
	}})
	if err != nil {
		return nil, errors.Join(ErrUnavailable, err)
	}
	s.scanAt = now
	if s.view != nil {
		next.n, next.gen, next.ahead = s.view.n, s.view.gen, s.view.ahead
	}
	next.board = next.layout.board(next.holders, next.redisNow(now))
	return next, nil
}

func stageOf(st ledger.State) (admission.Stage, bool) {
	switch st {
	case ledger.Held:
		return admission.StageAttached, true
	case ledger.Paid:
		return admission.StagePaid, true
	}
	return "", false
}

// over is an empty view over the plan's layout.
func (s *house) over(p *booking.Plan) *View {
	v := &View{sale: p.Sale.ID, nonce: s.nonce}
	if s.view != nil && s.view.layout.of(p) {
		v.layout = s.view.layout
	} else {
		v.layout = newLayout(p)
	}
	return v
}

// show makes next the view, under a new version if anything is different, and
// tells the viewers.
func (s *house) show(next *View) *View {
	old := s.view
	switch {
	case old == next:
		return old
	case old == nil || old.layout != next.layout: // another plan: nothing to chain to
		s.nonce = newNonce()
		next.nonce, next.seq = s.nonce, 1
		s.view = next
		s.subs.restart(s.event("snapshot", next, append(next.snapshot(s.hub.Now()), '}')))
		return next
	}
	list := changed(old.board, next.board)
	next.seq = old.seq
	if len(list) > 0 || old.Source != next.Source {
		next.seq++
		s.subs.tell(s.event("delta", next, next.delta(old.Version(), list, s.hub.Now())))
	}
	s.view = next
	return next
}

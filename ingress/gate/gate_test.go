package gate_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/gate"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

var start = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)

// source is the ledger, Redis' clock and `seen` of a test.
type source struct {
	mu      sync.Mutex
	now     time.Time // this host's
	ahead   time.Duration
	control ledger.Control
	fail    error
	noRedis error
	holds   map[string]string
	asked   int
	reads   atomic.Int64
}

func (s *source) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *source) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *source) Sales(context.Context) ([]string, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	return []string{s.control.Sale}, nil
}

func (s *source) Control(context.Context, string) (ledger.Control, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads.Add(1)
	return s.control, s.fail
}

func (s *source) Status(context.Context, string, []string) (admission.Status, error) {
	return admission.Status{Now: s.Now().Add(s.ahead), Bookings: len(s.holds)}, s.noRedis
}

func (s *source) CandidateBooking(_ context.Context, _, candidate string) (string, error) {
	s.asked++
	if s.noRedis != nil {
		return "", s.noRedis
	}
	if id, ok := s.holds[candidate]; ok {
		return id, nil
	}
	return "", admission.ErrNotFound
}

func newGates(t *testing.T) (*source, *gate.Plans, *gate.Gates) {
	t.Helper()
	s := &source{now: start, holds: map[string]string{}, control: ledger.Control{Sale: "spring", Gen: 3, Open: true, Plan: sale.Sale{ID: "spring",
		OpensAt: start.Add(-time.Hour), ClosesAt: start.Add(time.Hour), Hold: 10 * time.Minute}.WithDefaults()}}
	p := gate.NewPlans(s, s, s.Now, slog.New(slog.DiscardHandler))
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, p, gate.NewGates(p, s, s.Now)
}

func ask(candidate, level string, n int) *admission.Request {
	return &admission.Request{Sale: "spring", Candidate: candidate, Level: level, Count: n}
}

func decide(t *testing.T, g *gate.Gates, r *admission.Request) admission.Outcome {
	t.Helper()
	a, decided := g.Decide(t.Context(), r)
	if decided != (a.Outcome != 0) {
		t.Fatalf("decided %t with %v", decided, a.Outcome)
	}
	return a.Outcome
}

func TestOpenSaleGoesToTheScript(t *testing.T) {
	s, _, g := newGates(t)
	if o := decide(t, g, ask("c1", "N1", 1)); o != 0 || s.asked != 0 {
		t.Errorf("decided %v, asked %d times", o, s.asked)
	}
}

// Refused here until two seconds before opening, by the clock of Redis: a host
// whose own clock is wrong neither opens early nor late.
func TestBeforeOpening(t *testing.T) {
	for _, wrong := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute} {
		s, p, g := newGates(t)
		s.control.Plan.OpensAt = start.Add(wrong + 10*time.Second) // ten seconds away, by Redis
		s.ahead = wrong
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			after time.Duration
			want  admission.Outcome
		}{{0, admission.Closed}, {7900 * time.Millisecond, admission.Closed}, {100 * time.Millisecond, 0}, {time.Hour, 0}} {
			s.advance(c.after)
			if c.after == time.Hour { // the plan itself is refreshed meanwhile
				if err := p.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if o := decide(t, g, ask("c1", "N1", 1)); o != c.want {
				t.Errorf("clock wrong by %v, %v later: %v, want %v", wrong, c.after, o, c.want)
			}
		}
	}
}

// The opening was moved while somebody holds a seat: their retry is answered.
func TestBeforeOpeningWithHolders(t *testing.T) {
	s, p, g := newGates(t)
	s.holds["holder"], s.control.Plan.OpensAt = "B1", start.Add(time.Hour)
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := decide(t, g, ask("holder", "N1", 1)); o != 0 {
		t.Errorf("%v", o)
	}
}

func TestUnknownClockDecidesNothing(t *testing.T) {
	s, _, _ := newGates(t)
	s.noRedis = errors.New("away")
	s.control.Plan.OpensAt = start.Add(time.Hour)
	p := gate.NewPlans(s, s, s.Now, slog.New(slog.DiscardHandler))
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := decide(t, gate.NewGates(p, s, s.Now), ask("c1", "N1", 1)); o != 0 {
		t.Errorf("decided %v by a clock that nobody has compared", o)
	}
}

func TestFullMarks(t *testing.T) {
	s, _, g := newGates(t)
	s.holds["holder"] = "B1"
	full := &admission.Answer{Outcome: admission.LevelFull}
	g.Learn(ask("c1", "N1", 2), full)
	if o := decide(t, g, ask("c2", "N1", 1)); o != 0 {
		t.Error("two were not free, one may be")
	}
	g.Learn(ask("c1", "N1", 1), full)
	if o := decide(t, g, ask("c2", "N1", 1)); o != admission.LevelFull {
		t.Errorf("%v", o)
	}
	if o := decide(t, g, ask("c2", "N2", 1)); o != 0 {
		t.Error("another level is refused")
	}
	if o := decide(t, g, ask("holder", "N1", 1)); o != 0 {
		t.Error("a holder is refused")
	}
	named := ask("c2", "N1", 0)
	named.Seats = []string{"A-1"}
	if o := decide(t, g, named); o != 0 {
		t.Error("a named seat is refused")
	}
	s.noRedis = errors.New("away")
	if o := decide(t, g, ask("c2", "N1", 1)); o != 0 {
		t.Error("refused without knowing whether they hold something")
	}
	s.noRedis = nil
	s.advance(gate.MarkAge)
	if o := decide(t, g, ask("c2", "N1", 1)); o != admission.LevelFull {
		t.Error("a mark of 250 ms is forgotten too early")
	}
	s.advance(time.Millisecond)
	if o := decide(t, g, ask("c2", "N1", 1)); o != 0 {
		t.Error("an old mark refuses")
	}
	g.Learn(ask("c1", "N1", 1), &admission.Answer{Outcome: admission.SoldOut})
	if o := decide(t, g, ask("c2", "N2", 1)); o != admission.SoldOut {
		t.Errorf("%v", o)
	}
	g.Undone("other")
	if o := decide(t, g, ask("c2", "N2", 1)); o != admission.SoldOut {
		t.Error("another sale's undo clears the mark")
	}
	g.Undone("spring")
	if o := decide(t, g, ask("c2", "N2", 1)); o != 0 {
		t.Error("an undo does not clear the mark")
	}
}

func TestFrozenUnknownAndStale(t *testing.T) {
	s, p, g := newGates(t)
	if o := decide(t, g, &admission.Request{Sale: "other"}); o != admission.StaleGen {
		t.Errorf("%v", o)
	}
	s.fail = errors.New("away")
	s.advance(gate.MaxAge - time.Second)
	if err := p.Refresh(t.Context()); err == nil {
		t.Error("no error")
	}
	if o := decide(t, g, ask("c1", "N1", 1)); o != 0 {
		t.Error("one failed refresh stops the sale")
	}
	s.advance(time.Second)
	if o := decide(t, g, ask("c1", "N1", 1)); o != admission.StaleGen {
		t.Error("sells by a plan of unknown age")
	}
	s.fail, s.control.Frozen = nil, true
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := decide(t, g, ask("c1", "N1", 1)); o != admission.StaleGen {
		t.Error("sells while frozen")
	}
}

func TestSalesAreAnnounced(t *testing.T) {
	s, p, _ := newGates(t)
	var told []string
	p.OnSale = func(id string, levels []string) { told = append(told, id+":"+strings.Join(levels, ",")) }
	for _, levels := range [][]sale.Level{{{Name: "N1"}}, {{Name: "N1"}}, {{Name: "N1"}, {Name: "N2"}}} {
		s.control.Plan.Levels = levels
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(told, " "); got != "spring:N1 spring:N1,N2" {
		t.Errorf("told %s", got)
	}
}

// Plans are read every two seconds, and at once when a script says that the
// generation has moved on.
func TestPlansAreRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, g := newGates(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); p.Run(ctx) }()
		synctest.Wait()
		before := s.reads.Load()
		time.Sleep(10 * time.Second) // of the bubble's clock
		synctest.Wait()
		if n := s.reads.Load() - before; n < 4 || n > 6 {
			t.Errorf("%d reads in 10 s", n)
		}
		before = s.reads.Load()
		g.Learn(ask("c1", "N1", 1), &admission.Answer{Outcome: admission.StaleGen})
		synctest.Wait()
		if s.reads.Load() != before+1 {
			t.Error("a stale generation does not refresh the plans")
		}
		cancel()
		<-done
	})
}

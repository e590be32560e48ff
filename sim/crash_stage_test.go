package sim

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/sale"
)

// The figures of protocol.md 3.9: hold 10 min, sweeps every minute.
const (
	stageHold  = 10 * time.Minute
	sweepEvery = time.Minute
	// slack is what a sweep's jitter, the calls themselves and the look once a
	// second add to a bound.
	slack = 15 * time.Second
)

// stage is one deployment of the simulator with one level, on which
// nothing goes wrong but what a test aims at. Time is simulated, so the bounds
// of the crash table are exact.
type stage struct {
	*town
	tb     *testing.T
	aims   []*aim
	done   []deed
	logged []string // by any process
}

// aim is a fault for certain turns: those of a process whose name begins with
// proc, and whose operation and subject begin with op.
type aim struct {
	proc, op string
	v        verdict
	kills    bool   // the process dies at this turn: before it has an effect (crashed) or after
	times    int    // how many turns it hits; 0: one; always: all
	then     func() // what happens right after the turn
	hits     int
	at       time.Time // of the last hit
}

const always = -1

// deed is a turn that took effect.
type deed struct{ proc, what string }

// onStage plays f on a fresh stage with one seat; afterwards everything has to
// add up.
func onStage(t *testing.T, f func(t *testing.T, s *stage)) {
	t.Helper()
	onStageOf(t, 1, 3, f)
}

// onStageOf is onStage with so many seats and candidates.
func onStageOf(t *testing.T, seats, candidates int, f func(t *testing.T, s *stage)) {
	t.Helper()
	onStageWith(t, candidates, []sale.Level{{Name: "A", Cap: seats}}, f)
}

// onStageWith is onStage with these levels.
func onStageWith(t *testing.T, candidates int, levels []sale.Level, f func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, candidates, levels)
		defer s.end()
		f(t, s)
		s.aims = nil
		s.finish()
	})
}

// newStage is a deployment of the simulator whose script is not drawn.
func newStage(t *testing.T, candidates int, levels []sale.Level) *stage {
	t.Helper()
	s := &stage{tb: t}
	w, err := newTown(t.Context(), Options{Seed: 1, Log: func(line string) { s.logged = append(s.logged, line) }})
	s.town = w
	s.ok(err)
	w.faults.calm, w.tables, w.crowd = true, nil, nil
	w.script = script{candidates: candidates, gateway: "page", maxReceives: events.MaxReceives, sweepEvery: sweepEvery, refreshEvery: 5 * time.Second,
		ingress: 1, workers: 1, reapers: 1, resume: true}
	w.plan = sale.Sale{ID: theSale, Title: "Spring", Zone: "UTC", OpensAt: time.Now(), ClosesAt: time.Now().Add(96 * time.Hour), Hold: stageHold,
		MaxSeats: 1, Price: sale.Money{AmountMinor: 100_00, Currency: "BDT"}, Levels: levels}.WithDefaults()
	s.ok(w.openWorld())
	s.ok(w.load())
	w.operator, err = w.bootOperator()
	s.ok(err)
	w.boot()
	w.background(func() { w.cloud.Run(w.ctx) })
	w.background(w.sendWebhooks)
	s.until("the ingress listens", time.Minute, func() bool { return w.ingress[0].door.Load() != nil })
	return s
}

func (s *stage) ok(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

// aim adds a fault.
func (s *stage) aim(a aim) *aim {
	s.aims = append(s.aims, &a)
	return &a
}

// step lets one turn happen, or a second pass.
func (s *stage) step() {
	time.Sleep(time.Millisecond)
	synctest.Wait()
	t := s.sched.take()
	if t == nil {
		idle := time.NewTimer(time.Second)
		defer idle.Stop()
		select {
		case <-s.sched.arrived:
		case <-idle.C:
		}
		synctest.Wait()
		return
	}
	s.turn(t)
	if s.touched {
		s.touched = false
		s.ok(s.audit.step())
	}
}

func (s *stage) turn(t *turn) {
	what := t.op + " " + t.id
	a := s.hit(t.proc.name, what)
	v := verdict{}
	if a != nil {
		v = a.v
	}
	s.log.add(t, v)
	if v.kind != crashed && v.kind != failBefore {
		s.done = append(s.done, deed{t.proc.name, what})
	}
	if a != nil && a.kills { // what it has asked for happens, unless the verdict says otherwise; it hears of nothing
		t.proc.once.Do(func() { close(t.proc.dead) })
	}
	t.pick <- v
	synctest.Wait()
	if a == nil {
		return
	}
	if a.kills {
		t.proc.crash()
	}
	if a.then != nil {
		a.then()
	}
}

func (s *stage) hit(proc, what string) *aim {
	for _, a := range s.aims {
		if strings.HasPrefix(proc, a.proc) && strings.HasPrefix(what, a.op) && (a.times == always || a.hits < max(1, a.times)) {
			a.hits++
			a.at = time.Now()
			return a
		}
	}
	return nil
}

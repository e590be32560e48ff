package workers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"pgregory.net/rapid"
)

// scheduler runs actors one at a time: an actor goes on only when it is given
// the turn, and gives it back at its next call of any port. So the order of all
// calls is drawn, and a failure can be replayed and made smaller.
type scheduler struct {
	running int
	actors  []*scheduled
	fault   lifecycletest.Fault // of the next call, drawn by whoever gives the turn
	log     func(format string, args ...any)
}

type scheduled struct {
	name string
	turn chan bool // false: the process is killed, the call never returns
	back chan bool // true: the actor has ended
	dead bool
}

// killed unwinds an actor whose process was killed.
type killed struct{}

func (s *scheduler) start(name string, f func()) {
	a := &scheduled{name: name, turn: make(chan bool), back: make(chan bool)}
	s.actors = append(s.actors, a)
	go func() {
		defer func() {
			if r := recover(); r != nil && r != (killed{}) {
				panic(r)
			}
			a.back <- true
		}()
		if !<-a.turn {
			panic(killed{})
		}
		f()
	}()
}

// yield is called by the actor that runs.
func (s *scheduler) yield(string) {
	a := s.actors[s.running]
	if !a.dead {
		a.back <- false
		a.dead = !<-a.turn
	}
	if a.dead { // also for what is deferred: a killed process cleans nothing up
		panic(killed{})
	}
}

// inject is the fault of the call that was just given the turn.
func (s *scheduler) inject(op string) lifecycletest.Fault {
	s.log("%s: %s, fault %d", s.actors[s.running].name, op, s.fault)
	return s.fault
}

// end kills whoever is left, so that a failed draw leaves no goroutine behind.
func (s *scheduler) end() {
	for len(s.actors) > 0 {
		s.step(0, false)
	}
}

// step gives actor i the turn and reports whether it has ended.
func (s *scheduler) step(i int, alive bool) {
	s.running = i
	a := s.actors[i]
	a.turn <- alive
	if <-a.back {
		s.actors = append(s.actors[:i], s.actors[i+1:]...)
	}
}

// steps gives actor i up to n turns and reports whether it is still there.
func (s *scheduler) steps(i, n int) bool {
	before := len(s.actors)
	for range n {
		if len(s.actors) < before || i >= before {
			return false
		}
		s.step(i, true)
	}
	return len(s.actors) == before
}

// TestInterleavings draws who acts on one booking and in which order their
// calls happen, with lost answers, short acknowledgements, kills and failovers
// in between. At any end the ledger is inside Redis; after the healers every
// seat and every payment has exactly one end.
func TestInterleavings(t *testing.T) {
	rapid.Check(t, interleave)
}

func interleave(rt *rapid.T) {
	r := newRig(rt)
	gw := rapid.SampledFrom([]*lifecycletest.Gateway{r.Page, r.Exec}).Draw(rt, "gateway")
	b := r.Book("c1", "N2", gw)
	before(rt, r, gw, b)
	s := &scheduler{log: rt.Logf}
	defer s.end()
	r.Faults.Yield, r.Faults.Inject = s.yield, s.inject
	cast(rt, r, s, gw, b)
	for steps := 0; len(s.actors) > 0; steps++ {
		switch n := rapid.IntRange(0, 40).Draw(rt, "what"); n {
		case 9:
			r.Redis.Failover(rapid.IntRange(1, 5).Draw(rt, "lost"))
		case 13:
			r.Advance(time.Duration(rapid.IntRange(1, 300).Draw(rt, "seconds")) * time.Second)
		case 17:
			s.step(rapid.IntRange(0, len(s.actors)-1).Draw(rt, "killed"), false)
		default:
			s.fault = injected(rt)
			s.step(n%len(s.actors), true)
		}
	}
	r.Faults.Yield, r.Faults.Inject = nil, nil
	r.Check()
	r.healWith(b, gw)
	r.Quiet()
	if n := gw.Refunds(b.PaymentID); n > 1 {
		rt.Fatalf("money went back %d times", n)
	}
}

// before is what happened to the booking before the actors come.
func before(rt *rapid.T, r *rig, gw *lifecycletest.Gateway, b lifecycletest.Booked) {
	switch rapid.SampledFrom([]string{"pending", "held", "released", "forgotten"}).Draw(rt, "before") {
	case "held":
		r.done(b.Held)
	case "released":
		r.done(b.Held)
		r.release(b)
	case "forgotten": // Redis was lost and rebuilt before the event was handled
		r.rebuilt(2)
	}
	if rapid.Bool().Draw(rt, "paid") {
		gw.Edit(b.PaymentID, complete(r.Now()))
	} else {
		gw.Pay(b.PaymentID)
	}
}

// cast draws two to five actors.
func cast(rt *rapid.T, r *rig, s *scheduler, gw *lifecycletest.Gateway, b lifecycletest.Booked) {
	ctx, rivals := r.T.Context(), 0
	roles := map[string]func(){
		"held":      func() { _ = r.deliver(b.Held, 1) },
		"notified":  func() { _ = r.deliver(r.notice(b), 1) },
		"captured":  func() { capturedIfPaid(r, gw, b) },
		"expire":    func() { _, _ = r.Steps.Expire(ctx, b.ID, r.Now()) },
		"release":   func() { _, _ = r.Steps.Release(ctx, b.ID, ledger.ReasonOwner, "candidate") },
		"sweep":     func() { _ = r.Reap(r.Now(), 0) },
		"rival":     func() { r.rival(b, &rivals) },
		"operator":  func() { _ = r.Steps.Cancel(ctx, b.ID, "operator:ann") },
		"page pays": func() { gw.Pay(b.PaymentID) },
	}
	names := []string{"held", "notified", "notified", "captured", "expire", "release", "sweep", "rival", "operator", "page pays"}
	for i := range rapid.IntRange(2, 5).Draw(rt, "actors") {
		name := rapid.SampledFrom(names).Draw(rt, "actor")
		s.start(fmt.Sprintf("%s %d", name, i), roles[name])
	}
}

// capturedIfPaid delivers a payment.captured, which exists only if it was.
func capturedIfPaid(r *rig, gw *lifecycletest.Gateway, b lifecycletest.Booked) {
	if gw.Status(b.PaymentID) == "completed" {
		_ = r.deliver(b.Captured(r.Now()), 1)
	}
}

// rival is another candidate who wants the same seat and has it written. Each
// request has its own booking id: one id has one driver (protocol.md R2).
func (r *rig) rival(b lifecycletest.Booked, rivals *int) {
	*rivals++
	_ = r.tryBook(fmt.Sprintf("rival%d", *rivals), "c2", b.Held.Held.Level)
}

func injected(rt *rapid.T) lifecycletest.Fault {
	faults := map[int]lifecycletest.Fault{5: lifecycletest.FailBefore, 7: lifecycletest.LoseAnswer,
		9: lifecycletest.ShortWait, 11: lifecycletest.GhostWait} // rapid prefers small numbers
	return faults[rapid.IntRange(0, 40).Draw(rt, "fault")]
}

// healWith redelivers what the queue still has and lets the sweeps run.
func (r *rig) healWith(b lifecycletest.Booked, gw *lifecycletest.Gateway) {
	r.T.Helper()
	r.Advance(11 * time.Minute) // the dead marks of quick undos run out
	r.done(b.Held)
	if gw.Status(b.PaymentID) == "completed" {
		r.done(r.notice(b))
	}
	r.heal()
}

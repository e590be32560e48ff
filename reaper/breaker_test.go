package reaper_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
)

// wide makes the world's sale big enough for many orphans.
func (r *rig) wide(n int) {
	r.t.Helper()
	r.Control(func(c *ledger.Control) {
		c.Plan.Levels = []sale.Level{{Name: "N1", Cap: n, Kind: sale.KindCounted}, {Name: "N2", Cap: 1, Kind: sale.KindCounted}}
		c.Plan.TotalCap, c.Next = n+1, map[string]int{"N1": n + 1, "N2": 2}
		c.RosterSize += n
		r.World.Plan = c.Plan
	})
	var rows []admission.RosterEntry
	var kept []ledger.RosterRow
	for i := range n {
		row := ledger.RosterRow{Candidate: fmt.Sprintf("w%d", i), EmailHash: lifecycletest.Email}
		rows, kept = append(rows, admission.RosterEntry(row)), append(kept, row)
	}
	r.must(r.Redis.PutRoster(r.t.Context(), saleID, rows))
	r.must(r.Store.PutRoster(r.t.Context(), saleID, kept))
	_, err := r.Redis.SetCap(r.t.Context(), admission.CapChange{Sale: saleID, Gen: 1, Level: "N1", Cap: n})
	r.must(err)
	_, err = r.Redis.SetCap(r.t.Context(), admission.CapChange{Sale: saleID, Gen: 1, Cap: n + 1})
	r.must(err)
}

// TestBreakerHoldsWhenTooManyAreOverAge: a worker outage of 20 minutes does not
// tombstone everybody; it closes by itself when the workers are back.
func TestBreakerHoldsWhenTooManyAreOverAge(t *testing.T) {
	r := newRig(t)
	r.wide(20)
	var waiting []lifecycletest.Booked
	for i := range 6 { // the limit of a small sale is 5
		waiting = append(waiting, r.Book(fmt.Sprintf("w%d", i), "N1", r.Page))
	}
	orphan := r.admit("c1", "N1")
	r.Advance(20 * time.Minute)
	res := r.sweep()
	if res.Breaker == "" || res.Pending.Postponed != 6 || res.Pending.Done != 1 {
		t.Errorf("sweep %+v", res)
	}
	r.state(orphan, ledger.Released) // never had an event: nothing of it can be late
	c, err := r.Store.Control(t.Context(), saleID)
	r.must(err)
	if !strings.Contains(c.Breaker, "6 bookings") || r.Alarms() != string(reaper.AlarmBreaker) {
		t.Errorf("breaker %q, alarms %q", c.Breaker, r.Alarms())
	}
	for _, b := range waiting[:5] {
		r.handle(b.Held) // late, and in time
	}
	if res = r.sweep(); res.Breaker != "" || res.Pending.Done != 1 {
		t.Errorf("sweep %+v", res)
	}
	if c, err = r.Store.Control(t.Context(), saleID); err != nil || c.Breaker != "" {
		t.Errorf("breaker %q is still shown, %v", c.Breaker, err)
	}
	r.state(waiting[5], ledger.Released)
	r.sweep() // the holds of the five, which have ended long ago
	r.restful()
}

// TestBreakerAlarmsOnceInAWhile: on opening, then at a slow pace whoever sweeps,
// and again when it opens again; the trail says when it opened and closed.
func TestBreakerAlarmsOnceInAWhile(t *testing.T) {
	r := newRig(t)
	r.Book("c1", "N1", r.Page)
	r.ages.known = true
	sweepers := []*reaper.Reaper{r.Reaper, r.another()} // two processes
	alarms := func(sweeps int, age time.Duration, want int) {
		t.Helper()
		before := r.Raised(reaper.AlarmBreaker)
		r.ages.age = age
		for i := range sweeps {
			_, err := sweepers[i%2].Sweeper.Sweep(t.Context(), saleID)
			r.must(err)
			r.Advance(5 * time.Second)
		}
		if got := r.Raised(reaper.AlarmBreaker) - before; got != want {
			t.Errorf("%d alarms in %d sweeps, want %d", got, sweeps, want)
		}
	}
	const old, young = time.Hour, time.Second
	alarms(60, old, 1) // five minutes
	alarms(60, old, 1)
	alarms(2, young, 0)
	alarms(2, old, 1)
	var trail []string
	r.must(r.Store.Audit(t.Context(), saleID, func(e ledger.AuditEntry) error {
		trail = append(trail, e.Action)
		return nil
	}))
	if want := []string{reaper.IncidentBreakerOpened, reaper.IncidentBreakerClosed, reaper.IncidentBreakerOpened}; !slices.Equal(trail, want) {
		t.Errorf("the trail has %q, want %q", trail, want)
	}
}

// TestBreakerAlarmsForWhoDied: the reaper that opened it never came to its alarm.
func TestBreakerAlarmsForWhoDied(t *testing.T) {
	r := newRig(t)
	r.Control(func(c *ledger.Control) { c.Breaker = "messages are old" })
	r.ages.age, r.ages.known = time.Hour, true
	r.sweep()
	if r.Alarms() != string(reaper.AlarmBreaker) {
		t.Errorf("alarms %q", r.Alarms())
	}
}

func TestBreakerHoldsWhenMessagesAreOld(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.ages.age, r.ages.known = 5*time.Minute+time.Second, true
	r.Advance(orphanAge)
	if res := r.sweep(); res.Breaker == "" || res.Pending.Postponed != 1 {
		t.Errorf("sweep %+v", res)
	}
	r.ages.age = time.Second
	if res := r.sweep(); res.Breaker != "" || res.Pending.Done != 1 {
		t.Errorf("sweep %+v", res)
	}
	r.state(b, ledger.Released)
}

// TestBreakerDoesNotCountWhatTheLedgerHas: lost settles are no backlog.
func TestBreakerDoesNotCountWhatTheLedgerHas(t *testing.T) {
	r := newRig(t)
	r.wide(20)
	for i := range 8 {
		b := r.Book(fmt.Sprintf("w%d", i), "N1", r.Page)
		tr, err := ledger.Hold(bookingOf(r, b), "worker", r.Now())
		r.must(err)
		r.must(r.Store.Apply(t.Context(), tr))
	}
	r.Control(func(c *ledger.Control) { c.Plan.Ages.ReleaseGrace = time.Hour }) // only the pending step acts
	r.Advance(orphanAge)
	if res := r.sweep(); res.Breaker != "" || res.Pending.Settled != 8 {
		t.Errorf("sweep %+v", res)
	}
	r.restful()
}

// TestOrphanWhoseGatewayCantSayIsPaged: there is no hold in the ledger to put off.
func TestOrphanWhoseGatewayCantSayIsPaged(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.Status = payment.StatusPending })
	r.Advance(orphanAge)
	if res := r.sweep(); res.Pending.Postponed != 1 || r.Alarms() != "" {
		t.Errorf("sweep %+v, alarms %q", res, r.Alarms())
	}
	r.Advance(10 * time.Minute)
	if r.sweep(); r.Alarms() != "gate_unknown" {
		t.Errorf("alarms %q", r.Alarms())
	}
}

// TestNotedAges: of several workers the greatest age stays; silence while
// messages wait is an age, too.
func TestNotedAges(t *testing.T) {
	r := newRig(t)
	n := &reaper.NotedAges{Store: r.Store, Now: r.Now, Queue: r.queue}
	want := func(age time.Duration, known bool) {
		t.Helper()
		if got, k, err := n.OldestMessage(t.Context(), saleID); err != nil || got != age || k != known {
			t.Errorf("age %v, %v, %v; want %v, %v", got, k, err, age, known)
		}
	}
	note := func(age time.Duration) {
		t.Helper()
		r.must(n.Note(t.Context(), saleID, age))
	}
	want(0, false)
	note(7 * time.Minute)
	note(time.Second) // another worker
	want(7*time.Minute, true)
	r.Advance(reaper.NotedFor)
	note(time.Second)
	want(time.Second, true)
	r.Advance(3 * time.Minute)
	want(0, false) // nobody tells, and nothing waits
	r.queue.depth = events.Depth{Visible: 1}
	want(3*time.Minute, true)
}

// TestSweepIsCutShort: what a pass has no time for is the next one's, and the
// note is left all the same.
func TestSweepIsCutShort(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	r.Advance(holdIsOver)
	ctx, cancel := context.WithCancel(t.Context())
	r.Faults.Yield = func(op string) {
		if op == "ledger DueHolds" {
			cancel()
		}
	}
	_, err := r.Sweeper.Sweep(ctx, saleID)
	if err == nil {
		t.Error("no word of it")
	}
	r.Faults.Yield = nil
	r.sweep()
	r.restful()
}

// TestRepeatsOfAScanDoNotOpenTheBreaker: three orphans, each shown twice.
func TestRepeatsOfAScanDoNotOpenTheBreaker(t *testing.T) {
	r := newRig(t)
	for i, level := range []string{"N1", "N1", "N2"} {
		r.Book(fmt.Sprintf("c%d", i+1), level, r.Page)
	}
	r.Advance(orphanAge)
	twice, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: stutter{r.Redis}, Health: r, Ages: r.ages})
	r.must(err)
	res, err := twice.Sweeper.Sweep(t.Context(), saleID)
	if err != nil || res.Breaker != "" || res.Pending.Done != 3 {
		t.Errorf("sweep %+v, %v", res, err)
	}
	r.restful()
}

// TestUndoThatSomebodyElseDid: the listing was stale.
func TestUndoThatSomebodyElseDid(t *testing.T) {
	r := newRig(t)
	b := r.admit("c1", "N1")
	r.tombstone(r.record(b), ledger.ReasonPaymentRefused)
	came := false
	r.Faults.Yield = func(op string) {
		if op == "ledger Booking" && !came {
			came = true
			r.must(r.Steps.GiveBack(t.Context(), r.World.Booking(b.ID)))
		}
	}
	if res := r.sweep(); res.Undos.Gone != 1 {
		t.Errorf("undos %+v", res.Undos)
	}
	r.restful()
}

package reaper_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

func (r *rig) rebuild() reaper.RebuildResult {
	r.t.Helper()
	res, err := r.Rebuilder.Rebuild(r.t.Context(), saleID, reaper.RebuildOptions{})
	r.must(err)
	return res
}

// loseRedis empties Redis and restarts it with a new history.
func (r *rig) loseRedis() {
	r.Redis.Flush()
	r.promote(fmt.Sprintf("after %s", r.health.ReplicationID), false)
}

// TestScenario38_AllOfRedisLost: refused until it is rebuilt; then Redis has
// what the ledger has, and old drivers get GONE.
func TestScenario38_AllOfRedisLost(t *testing.T) {
	r := newRig(t)
	held, paid := r.held("c1", "N1", r.Page), r.paid("c2", "N2")
	driving := r.Book("c3", "N1", r.Page) // its event is not sent yet
	r.loseRedis()
	if res := r.sweep(); res.Replication != reaper.ReplicationLost || !res.Frozen {
		t.Fatalf("sweep saw %+v", res)
	}
	if r.Alarms() != string(reaper.AlarmDataLoss) {
		t.Errorf("alarms %q", r.Alarms())
	}
	if a, err := r.Redis.Admit(t.Context(), r.request("c4", 2)); err != nil || a.Outcome != admission.StaleGen {
		t.Errorf("admitted into a lost Redis: %v, %v", a.Outcome, err)
	}
	res := r.rebuild()
	if res.Gen != 2 || res.Live != 2 || res.Seats != 2 || res.Roster != 9 || !res.Diff.Clean() {
		t.Errorf("rebuild %+v", res)
	}
	if a, err := r.Redis.Attach(t.Context(), admission.Attachment{Sale: saleID, BookingID: driving.ID, Driver: 1, PaymentID: "page:x"}); err != nil || a.Outcome != admission.AttachGone {
		t.Errorf("an old driver went on: %v, %v", a.Outcome, err)
	}
	r.state(held, ledger.Held)
	r.state(paid, ledger.Paid)
	r.free("N1", 1)
	r.free("N2", 0)
	r.restful()
	r.handle(driving.Held) // its event comes after all: admitted again under the caps
	r.state(driving, ledger.Held)
	r.restful()
}

func (r *rig) request(candidate string, gen int64) admission.Request {
	return admission.Request{Sale: saleID, BookingID: "new-" + candidate, Candidate: candidate, Level: "N1", Gen: gen, InputHash: "in",
		EmailHash: "0123456789abcdef", AmountMinor: 10000, Currency: "BDT", Count: 1}
}

// TestScenario39_OldSnapshotRestored: the generation is equal, the history is not.
func TestScenario39_OldSnapshotRestored(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Redis.Rewind(3) // before its admission, with the current generation
	r.promote("restored", false)
	if res := r.sweep(); res.Replication != reaper.ReplicationLost {
		t.Fatalf("sweep saw %s", res.Replication)
	}
	c, err := r.Store.Control(t.Context(), saleID)
	r.must(err)
	if !c.Frozen || c.Gen != 2 {
		t.Errorf("control %+v", c)
	}
	if a, err := r.Redis.Admit(t.Context(), r.request("c4", c.Gen)); err != nil || a.Outcome != admission.StaleGen {
		t.Errorf("admitted into the snapshot: %v, %v", a.Outcome, err)
	}
	r.rebuild()
	r.state(b, ledger.Held)
	r.restful()
}

func TestRebuildWaitsForTheQueue(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	looks := 0
	r.queue.depth = events.Depth{Visible: 1, Dead: 1}
	r.queue.onDepth = func(d *events.Depth) {
		if looks++; looks == 4 { // a worker comes
			r.handle(b.Held)
			d.Visible = 0
		}
	}
	r.loseRedis()
	r.sweep()
	r.rebuild()
	if r.queue.redriven != 1 {
		t.Errorf("%d dead letters redriven", r.queue.redriven)
	}
	r.state(b, ledger.Held)
	r.restful()
}

func TestRebuildGivesUpOnAQueueThatDoesNotDrain(t *testing.T) {
	r := newRig(t)
	r.queue.depth.InFlight = 1
	_, err := r.Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{DrainMax: time.Minute})
	if !errors.Is(err, reaper.ErrNotDrained) {
		t.Fatalf("error %v", err)
	}
	c, err := r.Store.Control(t.Context(), saleID)
	r.must(err)
	if !c.Frozen || c.Rebuilder != "" {
		t.Errorf("control %+v", c)
	}
	if _, err := r.Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{SkipDrain: true}); err != nil {
		t.Fatal(err)
	}
	r.restful()
}

// TestRebuildPutsBackWhatBecomesLiveMeanwhile: a worker writes T1 of the last
// generation while bookings are being put back.
func TestRebuildPutsBackWhatBecomesLiveMeanwhile(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	late := r.Book("c2", "N1", r.Page)
	r.loseRedis()
	r.sweep()
	came := false
	res, err := r.Rebuilder.Rebuild(t.Context(), saleID, reaper.RebuildOptions{Progress: func(p reaper.RebuildProgress) {
		if p.Step == reaper.StepSeed && !came {
			came = true
			r.handle(late.Held)
		}
	}})
	r.must(err)
	if res.Live != 2 {
		t.Errorf("%d bookings put back", res.Live)
	}
	r.state(late, ledger.Held)
	r.restful()
}

// TestRebuildKeepsRaisedNumbers: after a raise and a cut the numbers below
// `next` are loaded, and a booking's own number is kept whatever it is.
func TestRebuildKeepsRaisedNumbers(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page) // N1-1
	r.Control(func(c *ledger.Control) { c.Next = map[string]int{"N1": 7} })
	r.loseRedis()
	r.sweep()
	r.rebuild()
	rec, err := r.Redis.Record(t.Context(), saleID, b.ID)
	r.must(err)
	if rec.Tokens[0] != "N1-1" {
		t.Errorf("tokens %v", rec.Tokens)
	}
	r.free("N1", 1)
	r.restful()
}

// TestLatePaymentsWaitForTheUnfreeze: what was put aside is handled by the
// rebuild itself, and by any sweep.
func TestLatePaymentsWaitForTheUnfreeze(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Page.Pay(b.PaymentID)
	r.release(b)
	r.Control(func(c *ledger.Control) { c.Frozen, c.Gen = true, 2 })
	r.handle(b.Captured(r.Now()))
	if r.rebuild().Replayed != 1 {
		t.Error("not replayed")
	}
	if got := r.Payment(b.Key); got.Resolution != ledger.Applied {
		t.Errorf("payment %+v", got)
	}
	r.restful()
}

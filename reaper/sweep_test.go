package reaper_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/reaper"
)

const (
	minute     = time.Minute
	holdIsOver = 11*time.Minute + time.Second // the hold and its grace
	orphanAge  = 15*time.Minute + time.Second
)

func TestSweepExpiresWhatIsDue(t *testing.T) {
	r := newRig(t)
	unpaid, paid := r.held("c1", "N1", r.Page), r.paid("c2", "N1")
	r.Advance(holdIsOver - 2*time.Second)
	if res := r.sweep(); res.Holds.Found != 0 {
		t.Errorf("due before its grace is over: %+v", res.Holds)
	}
	r.Advance(2 * time.Second)
	if res := r.sweep(); res.Holds.Found != 1 || res.Holds.Done != 1 {
		t.Errorf("holds %+v", res.Holds)
	}
	r.state(unpaid, ledger.Released)
	r.state(paid, ledger.Paid)
	r.free("N1", 1)
	if res := r.sweep(); !res.Quiet() {
		t.Errorf("still something to do: %+v", res)
	}
	r.restful()
}

func TestSweepLeavesANote(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	r.Advance(holdIsOver)
	r.sweep()
	n, err := r.Store.LastSweep(t.Context(), saleID, reaper.NoteSweep)
	r.must(err)
	if !n.At.Equal(r.Now()) || n.Counts["holds_done"] != 1 {
		t.Errorf("note %+v", n)
	}
}

// TestCase_C08: the gateway had taken the money: no release, and the payment is
// queued.
func TestCase_C08_ReaperAsksTheGatewayBeforeItReleases(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Page.Pay(b.PaymentID)
	r.Advance(holdIsOver)
	if res := r.sweep(); res.Holds.Captured != 1 {
		t.Errorf("holds %+v", res.Holds)
	}
	r.state(b, ledger.Held)
	r.work()
	r.state(b, ledger.Paid)
	r.restful()
}

// TestCase_B13: a payment that stays pending is asked about again, five times,
// then a person is paged.
func TestCase_B13_UnknownPaymentIsPutOffAndThenPaged(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.Status = payment.StatusPending })
	r.Advance(holdIsOver)
	for range 5 {
		if res := r.sweep(); res.Holds.Postponed != 1 {
			t.Fatalf("holds %+v", res.Holds)
		}
		r.Advance(3*minute + time.Second)
	}
	if got := r.Alarms(); got != "" {
		t.Errorf("alarms too early: %s", got)
	}
	r.sweep()
	if got := r.Alarms(); got != "gate_unknown" {
		t.Errorf("alarms %q", got)
	}
	r.state(b, ledger.Held)
	r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.Status = payment.StatusFailed })
	r.sweep()
	r.state(b, ledger.Released)
	r.restful()
}

// TestOneBadIDStopsNothing: the gateway of one booking is unknown to this
// process; all others are swept.
func TestOneBadIDStopsNothing(t *testing.T) {
	r := newRig(t)
	bad, good := r.held("c1", "N1", r.Exec), r.held("c2", "N1", r.Page)
	delete(r.Steps.Gateways, "exec")
	r.Advance(holdIsOver)
	res, err := r.Sweeper.Sweep(t.Context(), saleID)
	r.must(err)
	if res.Holds.Failed != 1 || res.Holds.Done != 1 {
		t.Errorf("holds %+v", res.Holds)
	}
	r.state(good, ledger.Released)
	r.state(bad, ledger.Held)
}

// TestAStepThatFailsStopsNoOther: the index of due holds is down.
func TestAStepThatFailsStopsNoOther(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.Faults.Inject = func(op string) lifecycletest.Fault {
		if op == "ledger DueHolds" {
			return lifecycletest.FailBefore
		}
		return lifecycletest.NoFault
	}
	r.Advance(orphanAge)
	res, err := r.Sweeper.Sweep(t.Context(), saleID)
	if err == nil || res.Pending.Done != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	r.state(b, ledger.Released)
}

func TestSweepSettlesWhatTheLedgerHas(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	held, err := ledger.Hold(bookingOf(r, b), "worker", r.Now())
	r.must(err)
	r.must(r.Store.Apply(t.Context(), held)) // T1, and the worker dies before S3
	r.Advance(10 * minute)
	if res := r.sweep(); res.Pending.Found != 0 {
		t.Errorf("looked at too early: %+v", res.Pending)
	}
	_, err = r.Steps.Redis.Attach(t.Context(), admission.Attachment{Sale: saleID, BookingID: b.ID, Driver: 1, PaymentID: b.Key.String()})
	r.must(err)
	r.Control(func(c *ledger.Control) { c.Plan.Ages.ReleaseGrace = time.Hour }) // only the pending step acts
	r.Advance(orphanAge - 10*minute)
	if res := r.sweep(); res.Pending.Settled != 1 || res.Pending.Found != 1 {
		t.Errorf("pending %+v", res.Pending)
	}
	r.state(b, ledger.Held)
	r.restful()
}

func TestFrozenSaleIsLeftAlone(t *testing.T) {
	r := newRig(t)
	r.held("c1", "N1", r.Page)
	r.Book("c2", "N1", r.Page)
	r.Control(func(c *ledger.Control) { c.Frozen = true })
	r.Advance(time.Hour)
	res := r.sweep()
	if !res.Frozen || !res.Quiet() {
		t.Errorf("swept a frozen sale: %+v", res)
	}
	if d := r.diff(); !d.Frozen || d.Records != 0 {
		t.Errorf("compared a frozen sale: %+v", d)
	}
	if d, err := r.Repairer.Repair(t.Context(), saleID, true); err != nil || !d.Frozen || d.Records != 0 {
		t.Errorf("compared a frozen sale: %+v, %v", d, err)
	}
}

// TestScenario14_ReplicaGone: what can't be acknowledged stays owed, is no
// failure, and is done when the replica is back.
func TestScenario14_ReplicaGone(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.Advance(holdIsOver)
	r.Faults.Inject = func(op string) lifecycletest.Fault {
		if op == "redis Undo" {
			return lifecycletest.ShortWait
		}
		return lifecycletest.NoFault
	}
	r.sweep()
	if res := r.sweep(); res.Undos.Postponed != 1 || res.Failed() != 0 {
		t.Errorf("sweep %+v", res)
	}
	r.Faults.Inject = nil
	if res := r.sweep(); res.Undos.Done != 1 {
		t.Errorf("sweep %+v", res)
	}
	r.state(b, ledger.Released)
	r.restful()
}

// TestFrozenSaleIsPagedUntilSomebodyRebuilds: and not while somebody does.
func TestFrozenSaleIsPagedUntilSomebodyRebuilds(t *testing.T) {
	r := newRig(t)
	r.Control(func(c *ledger.Control) { c.Frozen, c.Rebuilder, c.RebuilderUntil = true, "x", r.Now().Add(time.Minute) })
	if r.sweep(); r.Alarms() != "" {
		t.Errorf("alarms %q", r.Alarms())
	}
	r.Advance(time.Minute)
	if r.sweep(); r.Alarms() != string(reaper.AlarmFrozen) {
		t.Errorf("alarms %q", r.Alarms())
	}
}

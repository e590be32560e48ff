package workers_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// expire lets the hold end and asks once for its release.
func (r *rig) expire(b lifecycletest.Booked) lifecycle.ReleaseOutcome {
	r.T.Helper()
	r.Advance(r.Plan.Hold)
	out, err := r.Steps.Expire(r.T.Context(), b.ID, r.Now())
	if err != nil {
		r.T.Fatal(err)
	}
	return out
}

// A customer who agreed to pay in time gets the seat, even if the gateway's
// webhook never comes and the hold has ended.
func TestApproved_DueHoldIsRemindedAndPaid(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	if out := r.expire(b); out != lifecycle.Postponed {
		t.Fatalf("expire: %v", out)
	}
	queued := r.Queued()
	if len(queued) != 1 || queued[0].Type != events.PaymentNotified || queued[0].Validate() != nil {
		t.Fatalf("queued %+v", queued)
	}
	r.done(queued...)
	r.state(b.ID, ledger.Paid)
	r.alarmed("")
	r.Quiet()
}

func TestApproved_WorkerThatDiedWithTheGuardCostsNoSeat(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	r.Faults.Inject = func(op string) lifecycletest.Fault { // it got the guard and never came to the commit gate
		if op == "redis AcquireExecute" {
			return lifecycletest.LoseAnswer
		}
		return lifecycletest.NoFault
	}
	if r.deliver(r.notice(b), 1) == nil {
		t.Fatal("the crash did not show")
	}
	r.Faults.Inject = nil
	for n := range 6 {
		_ = r.deliver(r.notice(b), n+1) // the guard is somebody else's: given up in the end
	}
	if n := r.Exec.Executes(b.PaymentID); n != 0 {
		t.Fatalf("executed %d times without the guard", n)
	}
	r.heal()
	r.state(b.ID, ledger.Paid)
	r.executedOnceAtMost(b)
	r.Quiet()
}

// The same where the booking's own event is lost: the worker writes the hold.
func TestApproved_OrphanIsRemindedAndPaid(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec) // its event is in the dead letters
	r.Exec.Pay(b.PaymentID)
	r.Advance(r.Plan.Ages.AttachedMax + time.Second)
	if err := r.Reap(r.Now(), 0); err != nil {
		t.Fatal(err)
	}
	r.done(r.Queued()...)
	r.state(b.ID, ledger.Paid)
	r.Quiet()
}

func TestApproved_OrphanThatCannotBeExecutedIsWithdrawnInTheEnd(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.Exec.Pay(b.PaymentID)
	r.Exec.Edit(b.PaymentID, func(p *payment.Payment) { p.AmountMinor-- })
	r.Advance(r.Plan.Ages.AttachedMax + sale.GateExtendTimes*r.Plan.Ages.GateExtend + time.Second)
	if err := r.Reap(r.Now(), 0); err != nil {
		t.Fatal(err)
	}
	r.state(b.ID, ledger.Released)
	r.Quiet()
}

// What can't be executed for so long never will be.
func TestApproved_RemindersAreBoundedAndDiffer(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	r.Exec.Edit(b.PaymentID, func(p *payment.Payment) { p.AmountMinor-- })
	ids := map[string]bool{}
	for n := range sale.GateExtendTimes {
		if out := r.expire(b); out != lifecycle.Postponed {
			t.Fatalf("ask %d: %v", n, out)
		}
		for _, e := range r.Queued() {
			ids[e.DedupID()] = true
			r.done(e)
		}
	}
	if len(ids) != sale.GateExtendTimes {
		t.Errorf("%d different reminders: the queue would drop the others", len(ids))
	}
	if out := r.expire(b); out != lifecycle.Released {
		t.Fatalf("after %d reminders: %v", sale.GateExtendTimes, out)
	}
	if r.Exec.Executes(b.PaymentID) != 0 {
		t.Error("executed a wrong amount")
	}
	r.Quiet()
}

// A gate or a worker that was so slow that its guard ran out must leave the one
// that somebody else of the same booking has taken since.
func TestExecute_AGuardThatRanOutIsNotLetGo(t *testing.T) {
	for name, slow := range map[string]func(r *rig, b lifecycletest.Booked){
		"gate":   func(r *rig, b lifecycletest.Booked) { _, _ = r.Steps.Expire(t.Context(), b.ID, r.Now()) },
		"worker": func(r *rig, b lifecycletest.Booked) { _ = r.deliver(r.notice(b), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N1", r.Exec)
			r.done(b.Held)
			r.Exec.Pay(b.PaymentID)
			r.Advance(r.Plan.Hold)
			guarded, taken := false, false
			r.Faults.Yield = func(op string) {
				guarded = guarded || op == "redis AcquireExecute"
				if op != "gateway Query" || !guarded || taken {
					return
				}
				taken = true // the gateway takes very long to answer
				r.Advance(r.Plan.Hold)
				if got, err := r.Redis.AcquireExecute(t.Context(), lifecycletest.Sale, b.Key.String(), b.ID, time.Hour); err != nil || !got {
					t.Fatalf("the guard did not run out: %v, %v", got, err)
				}
			}
			slow(r, b)
			r.Faults.Yield = nil
			if got, err := r.Redis.AcquireExecute(t.Context(), lifecycletest.Sale, b.Key.String(), b.ID, time.Hour); err != nil || got || !taken {
				t.Errorf("another caller's guard was let go: %v, %v", got, err)
			}
		})
	}
}

// Where the page moves the money there is nothing to execute: the gate cancels
// the payment, approved or not, and the hold goes.
func TestApproved_OnAPageIsCancelledAndReleased(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.Status = payment.StatusApproved })
	if out := r.expire(b); out != lifecycle.Released {
		t.Fatalf("expire: %v", out)
	}
	if len(r.Queued()) != 0 || r.Page.Status(b.PaymentID) != payment.StatusCancelled {
		t.Error("a reminder of a payment that can't be executed, or one that is left open")
	}
	r.Quiet()
}

package workers_test

import (
	"sync"
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
)

func TestScenario34_LostExecuteAnswerIsAskedForAndNeverExecutedTwice(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	r.Exec.LoseExecute = true
	if err := r.deliver(r.notice(b), 1); err != nil {
		t.Errorf("the lost answer was not asked for at once: %v", err)
	}
	r.done(r.notice(b))
	if n := r.Exec.Executes(b.PaymentID); n != 1 {
		t.Errorf("executed %d times", n)
	}
	r.state(b.ID, ledger.Paid)
	r.Quiet()
}

func TestScenario34_UnknownExecuteKeepsTheGuard(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	r.Exec.BreakExecute = true
	for n := range 6 {
		err := r.deliver(r.notice(b), n+1)
		if last := n == 5; (err == nil) != last {
			t.Fatalf("delivery %d: %v", n+1, err)
		}
	}
	if n := r.Exec.Executes(b.PaymentID); n != 1 {
		t.Fatalf("executed %d times blindly", n)
	}
	if out, err := r.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate"); err != nil || out != lifecycle.Postponed {
		t.Fatalf("release while the outcome is unknown: %v, %v", out, err)
	}
	r.heal() // the guard runs out with the hold; the gateway says approved: unpaid
	r.state(b.ID, ledger.Released)
	r.Quiet()
}

func TestExecute_RedirectAndWebhookInTheSameMillisecond(t *testing.T) {
	for range 50 {
		r := newRig(t)
		b := r.Book("c1", "N1", r.Exec)
		r.done(b.Held)
		r.Exec.Pay(b.PaymentID)
		gate := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				<-gate
				_ = r.deliver(r.notice(b), 1)
			})
		}
		close(gate)
		wg.Wait()
		r.done(r.notice(b))
		if n := r.Exec.Executes(b.PaymentID); n != 1 {
			t.Fatalf("executed %d times", n)
		}
		r.state(b.ID, ledger.Paid)
		r.Quiet()
	}
}

func TestExecute_WhoWaitedForTheGuardAsksAgain(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	other := false
	r.Faults.Yield = func(op string) { // just before the guard, another worker executes and dies
		if op == "redis AcquireExecute" && !other {
			other = true
			if _, err := r.Exec.Execute(t.Context(), b.PaymentID); err != nil {
				t.Error(err)
			}
		}
	}
	r.done(r.notice(b))
	if n := r.Exec.Executes(b.PaymentID); !other || n != 1 {
		t.Fatalf("executed %d times", n)
	}
	r.Quiet()
}

func TestExecute_ReleasedMeansTheMoneyIsNotTaken(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.release(b)
	r.Exec.Pay(b.PaymentID)
	r.done(r.notice(b))
	if r.Exec.Executes(b.PaymentID) != 0 {
		t.Error("took money for a released booking")
	}
	r.Quiet()
}

// TestExecute_AndReleaseDoNotInterleave lets an owner's release and a due
// expiry run at every call that the worker makes.
func TestExecute_AndReleaseDoNotInterleave(t *testing.T) {
	for k := 1; ; k++ {
		r := newRig(t)
		b := r.Book("c1", "N1", r.Exec)
		r.done(b.Held)
		r.Exec.Pay(b.PaymentID)
		calls, released := 0, lifecycle.ReleaseOutcome(0)
		r.Faults.Yield = func(string) {
			if calls++; calls == k {
				released, _ = r.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate")
				_, _ = r.Steps.Expire(t.Context(), b.ID, r.Now())
			}
		}
		r.done(r.notice(b))
		r.Faults.Yield = nil
		if released == lifecycle.Released || r.Booking(b.ID).State != ledger.Paid {
			t.Fatalf("call %d: release said %v, booking is %s: it was approved and about to be executed", k, released, r.Booking(b.ID).State)
		}
		r.Quiet()
		if calls < k {
			return
		}
	}
}

// TestExecute_DuringAReleaseTakesNothing lets the customer approve and the
// worker run at every call that an owner's release makes.
func TestExecute_DuringAReleaseTakesNothing(t *testing.T) {
	for k := 1; ; k++ {
		r := newRig(t)
		b := r.Book("c1", "N1", r.Exec)
		r.done(b.Held)
		calls := 0
		r.Faults.Yield = func(string) {
			if calls++; calls == k {
				r.Exec.Pay(b.PaymentID)
				_ = r.deliver(r.notice(b), 1)
			}
		}
		out, err := r.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate")
		r.Faults.Yield = nil
		if err != nil {
			t.Fatal(err)
		}
		executed := r.Exec.Executes(b.PaymentID)
		if out == lifecycle.Released && executed > 0 {
			t.Fatalf("call %d: release said %v, executed %d times", k, out, executed)
		}
		r.heal()
		r.Quiet()
		if calls < k {
			return
		}
	}
}

// TestExecute_AndReleaseInEveryOrder lets a release run for some calls, then the
// customer approve and a worker run for some calls, then both to their ends.
func TestExecute_AndReleaseInEveryOrder(t *testing.T) {
	const most = 20
	for first := range most {
		for second := range most {
			r := newRig(t)
			b := r.Book("c1", "N1", r.Exec)
			r.done(b.Held)
			var out lifecycle.ReleaseOutcome
			s := &scheduler{}
			r.Faults.Yield = s.yield
			s.start("release", func() { out, _ = r.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate") })
			releasing := s.steps(0, first)
			r.Exec.Pay(b.PaymentID)
			s.start("worker", func() { _ = r.deliver(r.notice(b), 1) })
			s.steps(len(s.actors)-1, second)
			if releasing {
				s.steps(0, most)
			}
			s.steps(0, 2*most)
			s.end()
			r.Faults.Yield = nil
			if n := r.Exec.Executes(b.PaymentID); out == lifecycle.Released && n > 0 {
				t.Fatalf("order %d, %d: released for its owner, and the money was taken all the same", first, second)
			}
			r.heal()
			r.Quiet()
		}
	}
}

func TestExecute_CommitGateStretchesTheHold(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	r.Advance(r.Plan.Hold) // over, not released: only RELEASED means expired
	r.Exec.DuringExecute = func() {
		if got := r.Booking(b.ID).HoldUntil; got.Before(r.Now().Add(r.Plan.Ages.CommitExtend)) {
			t.Errorf("executed under a hold until %v", got)
		}
		if out, err := r.Steps.Expire(t.Context(), b.ID, r.Now()); err != nil || out == lifecycle.Released {
			t.Errorf("expired during an execute: %v, %v", out, err)
		}
	}
	r.done(r.notice(b))
	r.state(b.ID, ledger.Paid)
	r.Quiet()
}

func TestExecute_WrongAmountIsNotTaken(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	r.Exec.Edit(b.PaymentID, func(p *payment.Payment) { p.AmountMinor-- })
	r.done(r.notice(b))
	if r.Exec.Executes(b.PaymentID) != 0 {
		t.Error("executed a wrong amount")
	}
	r.alarmed(string(lifecycle.AlarmMismatch))
}

func TestExecute_RefusedIsADefiniteNo(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Exec)
	r.done(b.Held)
	r.Exec.Pay(b.PaymentID)
	r.Exec.DuringExecute = func() {
		r.Exec.Edit(b.PaymentID, func(p *payment.Payment) { p.Status = payment.StatusFailed })
	}
	r.done(r.notice(b))
	r.state(b.ID, ledger.Held)
	if out, err := r.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate"); err != nil || out != lifecycle.Released {
		t.Errorf("the guard was kept: %v, %v", out, err)
	}
}

func TestNotice_GivesUpOnlyWhereSomebodyAsksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		before func(r *rig, b lifecycletest.Booked)
		parked bool
	}{
		"held":    {func(r *rig, b lifecycletest.Booked) { r.done(b.Held) }, false},
		"pending": {func(*rig, lifecycletest.Booked) {}, false},
		"released": {func(r *rig, b lifecycletest.Booked) {
			r.done(b.Held)
			r.release(b)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N1", r.Page)
			c.before(r, b)
			r.payLate(r.Page, b)
			r.Page.Down = true
			for n := range 5 {
				if err := r.deliver(r.notice(b), n+1); err == nil || parked(err) {
					t.Fatalf("delivery %d: %v, want again later", n+1, err)
				}
			}
			err := r.deliver(r.notice(b), 6)
			if parked(err) != c.parked || !c.parked && err != nil {
				t.Fatalf("the last delivery: %v, want parked %v", err, c.parked)
			}
			r.Page.Down = false
			r.done(r.notice(b)) // the redrive
			r.heal()
			r.Quiet()
		})
	}
}

func TestNotice_PendingPaymentIsAskedAgainUntilTheHoldEnds(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.Status = payment.StatusPending })
	r.done(r.notice(b))
	for n := range 5 {
		r.Advance(r.Plan.Hold)
		if out, err := r.Steps.Expire(t.Context(), b.ID, r.Now()); err != nil || out != lifecycle.Postponed {
			t.Fatalf("ask %d: %v, %v", n, out, err)
		}
		r.alarmed("")
	}
	r.Advance(r.Plan.Hold)
	if out, err := r.Steps.Expire(t.Context(), b.ID, r.Now()); err != nil || out != lifecycle.Postponed {
		t.Fatal(out, err)
	}
	r.alarmed(string(lifecycle.AlarmGateUnknown))
	r.payLate(r.Page, b)
	r.heal()
	r.state(b.ID, ledger.Paid)
	r.Quiet()
}

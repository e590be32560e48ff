package reaper_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

// The rows of the crash table (protocol.md 3.9) that the reaper heals, by number.

const unattachedAge = 2*time.Minute + time.Second

// TestCrashRow03 also is row 6 (the gateway refused, the API died before T4).
func TestCrashRow03_APIDiesAfterS1(t *testing.T) {
	r := newRig(t)
	b := r.admit("c1", "N1")
	r.Advance(unattachedAge - 2*time.Second)
	if res := r.sweep(); res.Pending.Found != 0 {
		t.Errorf("reaped a driver at work: %+v", res.Pending)
	}
	r.Advance(2 * time.Second)
	if res := r.sweep(); res.Pending.Done != 1 {
		t.Errorf("pending %+v", res.Pending)
	}
	if got := r.World.Booking(b.ID); got.State != ledger.Released || got.Reason != ledger.ReasonUnattached || got.UndoOwed {
		t.Errorf("booking %+v", got)
	}
	r.free("N1", 2)
	r.restful()
	// Never answered, so the same key starts anew.
	a, err := r.Redis.Admit(t.Context(), admission.Request{Sale: saleID, BookingID: "again", Candidate: "c1", Level: "N1", Gen: 1, Key: "key" + b.ID,
		InputHash: "in", EmailHash: lifecycletest.Email, AmountMinor: 10000, Currency: "BDT", Count: 1})
	if err != nil || a.Outcome != admission.Admitted {
		t.Errorf("the same key after an abort: %v, %v", a.Outcome, err)
	}
}

func TestCrashRow05_ShortWaitAndTheUndoIsLost(t *testing.T) {
	r := newRig(t)
	r.ghost("c1")
	r.Advance(unattachedAge)
	r.sweep()
	r.free("N1", 2)
	r.restful()
}

// ghost is an admission whose acknowledgement and undo both failed.
func (r *rig) ghost(candidate string) {
	r.t.Helper()
	r.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "Admit" {
			return admissiontest.GhostWait
		}
		return admissiontest.NoFault
	}
	_, err := r.Redis.Admit(r.t.Context(), r.request(candidate, 1))
	r.Redis.Fault = nil
	if err == nil {
		r.t.Fatal("an unacknowledged admission was answered")
	}
	r.free("N1", 1)
}

func TestCrashRow07_DiesBetweenT4AndS2(t *testing.T) {
	r := newRig(t)
	b := r.admit("c1", "N1")
	r.tombstone(r.record(b), ledger.ReasonPaymentRefused)
	if res := r.sweep(); res.Undos.Done != 1 {
		t.Errorf("undos %+v", res.Undos)
	}
	r.gone(b)
	r.restful()
}

func TestCrashRow08_DiesBetweenS2AndT5(t *testing.T) {
	r := newRig(t)
	b := r.admit("c1", "N1")
	r.tombstone(r.record(b), ledger.ReasonPaymentRefused)
	_, err := r.Redis.Undo(t.Context(), admission.Undo{Sale: saleID, BookingID: b.ID, Candidate: "c1", Level: "N1", Mode: admission.UndoAbort})
	r.must(err)
	if res := r.sweep(); res.Undos.Done != 1 {
		t.Errorf("undos %+v", res.Undos)
	}
	r.free("N1", 2)
	r.restful()
}

// TestCrashRow09 also is row 16 (HELD to the dead letters, nobody pays).
func TestCrashRow09_DiesAfterAttachBeforeSend(t *testing.T) {
	for name, pays := range map[string]bool{"unpaid": false, "paid": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N1", r.Page)
			if pays {
				r.Page.Pay(b.PaymentID)
			}
			r.Advance(orphanAge)
			res := r.sweep()
			r.work()
			if pays && res.Pending.Captured == 1 {
				r.state(b, ledger.Paid) // T2': the payment proves the admission
			} else if !pays && res.Pending.Done == 1 {
				r.state(b, ledger.Released)
				if r.Page.Pay(b.PaymentID) {
					t.Error("the page still takes money")
				}
			} else {
				t.Errorf("pending %+v", res.Pending)
			}
			r.restful()
		})
	}
}

func TestCrashRow10_ReaperAndWorkerRaceForB(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.Control(func(c *ledger.Control) { c.Plan.Ages.ReleaseGrace = time.Hour }) // only the pending step acts
	r.Advance(orphanAge)
	raced := false
	r.Faults.Yield = func(op string) { // the event comes just before T4
		if op == "ledger Apply:T4" && !raced {
			raced = true
			r.handle(b.Held)
		}
	}
	res := r.sweep()
	if !raced || res.Pending.Settled != 1 {
		t.Errorf("pending %+v", res.Pending)
	}
	r.state(b, ledger.Held)
	r.World.Check()
}

func TestCrashRow17_HeldRedrivenAfterTheTombstone(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.Advance(orphanAge)
	r.sweep()
	r.Advance(48 * time.Hour)
	r.handle(b.Held)
	r.state(b, ledger.Released)
	r.restful()
}

func TestCrashRow18_HoldExpiresUnpaid(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Exec)
	r.Advance(holdIsOver)
	r.sweep()
	r.state(b, ledger.Released)
	r.free("N1", 2)
	r.restful()
}

func TestCrashRow28_RefundWorkerDies(t *testing.T) {
	for k := 1; ; k++ {
		r := newRig(t)
		b := r.paid("c1", "N1")
		tr, err := ledger.Cancel(r.World.Booking(b.ID), "operator:ann", r.Now())
		r.must(err)
		r.must(r.Store.Apply(t.Context(), tr))
		r.Faults.CrashAt(k, true)
		_ = r.Steps.DriveRefund(t.Context(), b.Key)
		crashed, _ := r.Faults.Crashed()
		r.Faults.Restart()
		r.sweep()
		if p := r.Payment(b.Key); p.Refund != ledger.RefundDone || r.Page.Refunds(b.PaymentID) != 1 {
			t.Fatalf("crash at call %d: %+v, money went back %d times", k, p, r.Page.Refunds(b.PaymentID))
		}
		r.restful()
		if !crashed {
			return
		}
	}
}

// TestScenario36 also is row 19: two reapers on one id, one dies at any call.
func TestScenario36_OneOfTwoReapersDies(t *testing.T) {
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			r := newRig(t)
			r.held("c1", "N1", r.Page)
			r.Book("c2", "N2", r.Page)
			r.admit("c3", "N1")
			r.Advance(orphanAge)
			r.Faults.CrashAt(k, after)
			_, _ = r.Sweeper.Sweep(t.Context(), saleID)
			crashed, ops := r.Faults.Crashed()
			r.Faults.Restart()
			r.Advance(time.Minute)
			_, err := r.another().Sweeper.Sweep(t.Context(), saleID)
			r.must(err)
			r.sweep()
			r.free("N1", 2)
			r.free("N2", 1)
			r.restful()
			if t.Failed() {
				t.Fatalf("crash at call %d (after: %v) of %v", k, after, ops)
			}
			if !crashed {
				break
			}
		}
	}
}

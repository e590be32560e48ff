package reaper_test

import (
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// TestCrashRow21_FailoverLosesTheUndo: the flag is still set (scenario 37), or
// it was cleared and the diff finds the seat.
func TestCrashRow21_FailoverLosesTheUndo(t *testing.T) {
	for name, cleared := range map[string]bool{"flag set (scenario 37)": false, "flag cleared": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.held("c1", "N1", r.Page)
			tr, err := ledger.Release(r.World.Booking(b.ID), ledger.ReasonOwner, "candidate", r.Now())
			r.must(err)
			r.must(r.Store.Apply(t.Context(), tr))
			if cleared {
				r.must(r.Steps.GiveBack(t.Context(), r.World.Booking(b.ID)))
			} else {
				_, err := r.Redis.Undo(t.Context(), admission.Undo{Sale: saleID, BookingID: b.ID, Candidate: "c1", Level: "N1", Mode: admission.UndoRelease})
				r.must(err)
			}
			r.Redis.Rewind(1)
			r.promote("two", true)
			r.free("N1", 1)
			rep, err := r.RunOnce(t.Context(), reaper.PassSweep)
			r.must(err)
			if rep.Sweeps[saleID].Replication != reaper.ReplicationFailover {
				t.Errorf("replication %s", rep.Sweeps[saleID].Replication)
			}
			d := rep.Diffs[saleID] // at once
			if cleared && (d.Drift[reaper.KindUndoLost] == nil || d.Drift[reaper.KindUndoLost].Repaired != 1) {
				t.Errorf("drift %+v", d.Drift)
			}
			r.free("N1", 2)
			r.restful()
		})
	}
}

func TestCrashRow22_FailoverLosesTheSettle(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.handle(b.Held)
	if r.Redis.Failover(1) != 1 {
		t.Fatal("the settle was acknowledged")
	}
	r.Page.Pay(b.PaymentID)
	r.handle(b.Captured(r.Now()))
	r.Redis.Failover(1) // the settle of the payment, too
	r.Advance(orphanAge)
	if res := r.sweep(); res.Pending.Settled != 1 {
		t.Errorf("pending %+v", res.Pending)
	}
	r.state(b, ledger.Paid)
	r.restful()
}

// TestCrashRow23_FailoverLosesTheAttach: reaped at two minutes; who paid gets
// the seat on the late path.
func TestCrashRow23_FailoverLosesTheAttach(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	if r.Redis.Failover(1) != 1 {
		t.Fatal("the attach was acknowledged")
	}
	r.Page.Pay(b.PaymentID)
	r.Advance(unattachedAge)
	if res := r.sweep(); res.Pending.Done != 1 {
		t.Errorf("pending %+v", res.Pending)
	}
	r.handle(b.Notice(r.Now()))
	r.work()
	r.state(b, ledger.Released)
	if got := r.World.Booking(b.ID).Successor; r.World.Booking(got).State != ledger.Paid {
		t.Errorf("successor %q", got)
	}
	r.restful()
}

func TestCrashRow24_FailoverKeepsAnUnacknowledgedAdmission(t *testing.T) {
	r := newRig(t)
	r.ghost("c1")
	r.promote("two", true)
	r.Advance(unattachedAge)
	r.sweep()
	r.free("N1", 2)
	r.restful()
}

// TestCrashRow25_FailoverLosesAnAcknowledgedAdmission: the seat was sold again;
// the first booking is put back and the second one ends.
func TestCrashRow25_FailoverLosesAnAcknowledgedAdmission(t *testing.T) {
	for name, pays := range map[string]bool{"second unpaid": false, "second paid": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			first := r.held("c1", "N2", r.Page)
			r.Redis.Rewind(3) // admit, attach, settle
			r.promote("two", true)
			second := r.Book("c2", "N2", r.Page)
			if pays {
				r.Page.Pay(second.PaymentID)
			}
			if res := r.sweep(); res.Replication != reaper.ReplicationFailover {
				t.Fatalf("replication %s", res.Replication)
			}
			d := r.diff()
			if d.Drift[reaper.KindLost] == nil || d.Drift[reaper.KindLost].Repaired != 1 {
				t.Fatalf("drift %+v", d.Drift)
			}
			r.work()
			r.state(first, ledger.Held)
			r.state(second, ledger.Released)
			r.sweep()
			if pays && r.Page.Refunds(second.PaymentID) != 1 {
				t.Errorf("money went back %d times", r.Page.Refunds(second.PaymentID))
			}
			r.restful()
		})
	}
}

func TestCrashRow26_AllOfRedisLost(t *testing.T) { TestScenario38_AllOfRedisLost(t) }

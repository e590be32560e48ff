package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// Rows 27 and 28 of the crash table: nobody sweeps, and a refund breaks off.

// TestCrashRow27: leaks wait, nothing is oversold, and operators are told.
func TestCrashRow27_ReaperDead(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.until("the first sweep", 2*sweepEvery, func() bool { return len(s.did("ledger.NoteSweep sweep")) > 0 })
		s.reapers[0].p.crash()
		died := time.Now()
		a := s.held(0, "k")
		s.pass(time.Hour) // the auditor looks at every write
		if s.free() || s.state(a) != ledger.Held {
			t.Errorf("without a reaper the hold is %s", s.state(a))
		}
		if got, err := s.book(1, "k"); err != nil || got.doc.Code != "sold_out" && got.doc.Code != "level_full" {
			t.Errorf("%d %s, %v", got.status, got.doc.Code, err)
		}
		if check := s.reaperCheck(); check.Verdict == operator.Pass || !strings.Contains(check.Detail, "ago") {
			t.Errorf("%v after the last sweep the check says %+v", time.Since(died), check)
		}
		fresh, err := s.bootReaper()
		s.ok(err)
		s.reapers[0] = fresh
		s.until("the seat is back", sweepEvery+slack, s.free)
		s.until("the check is content", sweepEvery, func() bool { return s.reaperCheck().Verdict == operator.Pass })
	})
}

// reaperCheck is what operators see about the sweeps.
func (s *stage) reaperCheck() (found operator.Check) {
	s.tb.Helper()
	done := make(chan error, 1)
	s.background(func() {
		list, err := s.operator.desk.Check(s.ctx, theSale)
		for _, c := range list {
			if c.Name == "reaper" {
				found = c
			}
		}
		done <- err
	})
	s.until("the check is made", time.Minute, func() bool { return len(done) == 1 })
	s.ok(<-done)
	return found
}

// TestCrashRow28 kills the worker at each call that a late payment's refund
// makes, before and after it: the money goes back once.
func TestCrashRow28_RefundWorkerDies(t *testing.T) {
	for _, op := range []string{"ledger.Apply late-refund", "ledger.Apply T6", "gateway.GET", "gateway.POST"} {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s before=%t", strings.Fields(op)[len(strings.Fields(op))-1], before), func(t *testing.T) {
				onStage(t, func(_ *testing.T, s *stage) { s.refundDies(op, before) })
			})
		}
	}
}

func (s *stage) refundDies(op string, before bool) {
	a := s.held(0, "k")
	s.paysLate(a)
	s.until("the hold is over", stageHold+2*time.Minute+slack, s.free)
	s.held(1, "k") // takes the seat
	fault := aim{op: op}
	if before {
		fault.v.kind = crashed
	}
	hit := s.workerDies(fault)
	s.until("the fault", 20*time.Minute, func() bool { return hit.hits > 0 })
	s.until("the money is back", time.Minute+sweepEvery+slack, func() bool { return s.refundedMinor(a) == s.plan.Price.AmountMinor })
	if s.state(a) != ledger.Released {
		s.tb.Errorf("the booking is %s", s.state(a))
	}
}

// paysLate pays now; the gateway takes the money four minutes after the hold.
func (s *stage) paysLate(a answer) {
	s.tb.Helper()
	_, id, _ := strings.Cut(a.doc.PaymentURL, "/pay/")
	_, err := s.pay.Act(id, engine.ActLate, 4*time.Minute)
	s.ok(err)
}

func (s *stage) refundedMinor(a answer) int64 {
	_, id, _ := strings.Cut(a.doc.PaymentURL, "/pay/")
	for _, p := range s.pay.Payments() {
		if p.PaymentID == id {
			return p.RefundedMinor
		}
	}
	return 0
}

package workers_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// The tests are named after the scenarios of protocol.md 6.

func complete(at time.Time) func(*payment.Payment) {
	return func(p *payment.Payment) { p.Status, p.CapturedAt = payment.StatusCompleted, at }
}

func TestScenario15_GatewayRefusesAndTheCandidateBooksAgainAtOnce(t *testing.T) {
	r := newRig(t)
	a := admitOnly(r, "X1", "c1")
	out, err := r.Steps.Withdraw(t.Context(), a, ledger.ReasonPaymentRefused, "ingress", admission.UndoAbort)
	if err != nil || out != lifecycle.Withdrawn {
		t.Fatalf("withdraw: %v, %v", out, err)
	}
	r.done(r.Book("c1", "N1", r.Page).Held)
	r.heal()
	r.Quiet()
}

func TestScenario16_CreateTimedOutButExists(t *testing.T) {
	r := newRig(t)
	a := admitOnly(r, "X1", "c1")
	if _, err := r.Exec.Create(t.Context(), payment.CreateRequest{Metadata: payment.Metadata{Sale: a.Sale, BookingID: a.ID, Candidate: a.Candidate},
		AmountMinor: 10000, Currency: "BDT"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Steps.Withdraw(t.Context(), a, ledger.ReasonPaymentUnknown, "ingress", admission.UndoAbort); err != nil {
		t.Fatal(err)
	}
	r.Exec.Pay("pay-X1") // somebody approves the page that nobody was given
	r.done(events.Event{Version: 1, Type: events.PaymentNotified, Sale: a.Sale, Candidate: "c1", At: r.Now(),
		Notice: &events.Notice{Gateway: "exec", PaymentID: "pay-X1", EventID: "e", Source: "webhook"}})
	if n := r.Exec.Executes("pay-X1"); n != 0 {
		t.Errorf("took money for a withdrawn booking: %d executes", n)
	}
	r.heal()
	r.Quiet()
}

// admitOnly is a booking that came no further than S1.
func admitOnly(r *rig, id, candidate string) ledger.Booking {
	r.T.Helper()
	a, err := r.Redis.Admit(r.T.Context(), admission.Request{Sale: "spring", BookingID: id, Candidate: candidate, Level: "N1", Gen: 1,
		RosterVersion: "r1", AmountMinor: 10000, Currency: "BDT", Count: 1})
	if err != nil || a.Outcome != admission.Admitted {
		r.T.Fatal(a.Outcome, err)
	}
	rec, err := r.Redis.Record(r.T.Context(), "spring", id)
	if err != nil {
		r.T.Fatal(err)
	}
	return lifecycle.BookingFromRecord("spring", rec)
}

func TestScenario17_SentAfterAllAndTheTombstoneWins(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	out, err := r.Steps.Withdraw(t.Context(), lifecycle.BookingFromHeld(b.Held), ledger.ReasonNotQueued, "ingress", admission.UndoAbort)
	if err != nil || out != lifecycle.Withdrawn {
		t.Fatalf("withdraw: %v, %v", out, err)
	}
	r.done(b.Held)
	r.state(b.ID, ledger.Released)
	r.done(r.Book("c2", "N2", r.Page).Held) // the seat is free again
	r.heal()
	r.Quiet()
}

func TestScenario18_SentAfterAllAndTheWorkerWins(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	out, err := r.Steps.Withdraw(t.Context(), lifecycle.BookingFromHeld(b.Held), ledger.ReasonNotQueued, "ingress", admission.UndoAbort)
	if err != nil || out != lifecycle.WithdrawLive {
		t.Fatalf("withdraw: %v, %v; want live", out, err)
	}
	r.state(b.ID, ledger.Held)
	r.Check()
}

func TestScenario19_20_21_HeldTwiceWritesOnceAndSettles(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.Faults.CrashAt(3, false) // control, T1 are done; S3 is not
	if r.deliver(b.Held, 1) == nil {
		t.Fatal("the crash did not show")
	}
	r.Faults.Restart()
	r.state(b.ID, ledger.Held)
	r.done(b.Held)
	if s, _ := r.Redis.Status(t.Context(), "spring", nil); s.Pending != 0 {
		t.Error("the redelivery did not settle")
	}
	r.Advance(6 * time.Minute) // beyond the deduplication window
	r.done(b.Held)
	if h := r.Booking(b.ID).History; len(h) != 1 {
		t.Errorf("history %v, want one entry", h)
	}
	if n := r.Store.Calls()["Apply:T1"]; n < 3 {
		t.Errorf("T1 was tried %d times: the test does not test it", n)
	}
	r.Check()
}

func TestScenario22_SettleOfAnOldBookingLeavesTheNewOneAlone(t *testing.T) {
	r := newRig(t)
	first := r.Book("c1", "N1", r.Page)
	r.done(first.Held)
	if _, err := r.Steps.Release(t.Context(), first.ID, ledger.ReasonOwner, "candidate"); err != nil {
		t.Fatal(err)
	}
	second := r.Book("c1", "N1", r.Page)
	if err := r.Steps.Settle(t.Context(), r.Booking(first.ID)); err != nil {
		t.Fatal(err)
	}
	if s, _ := r.Redis.Status(t.Context(), "spring", nil); s.Pending != 1 {
		t.Errorf("pending %d, want the second booking's entry", s.Pending)
	}
	r.done(second.Held)
	r.Check()
}

func TestScenario24_HeldRedrivenTwoDaysAfterTheTombstone(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	if err := r.Reap(r.Now(), 0); err != nil { // an orphan: its event is in the dead letters
		t.Fatal(err)
	}
	other := r.Book("c2", "N2", r.Page)
	r.done(other.Held)
	r.Advance(48 * time.Hour)
	r.done(b.Held)
	r.state(b.ID, ledger.Released)
	r.state(other.ID, ledger.Held)
	r.Check()
}

func TestScenario25_PaidBeforeHeld(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	r.state(b.ID, ledger.Paid)
	r.done(b.Held) // redriven: a no-op
	r.state(b.ID, ledger.Paid)
	r.resolution(b, ledger.Applied, ledger.NoRefund)
	r.heal()
	r.Quiet()
}

func TestScenario26_PaidFiveTimesIsOneTransition(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	for range 5 {
		r.done(r.notice(b), b.Captured(r.Now()))
		r.Advance(25 * time.Hour) // case D15: no memory shorter than the gateway's retries
	}
	if h := r.Booking(b.ID).History; len(h) != 2 {
		t.Errorf("history %v, want held and paid", h)
	}
	if rec, err := r.Redis.Record(t.Context(), "spring", b.ID); err != nil || rec.Stage != admission.StagePaid {
		t.Errorf("stage %s in Redis, %v", rec.Stage, err)
	}
	r.Quiet()
}

func TestScenario27_PaymentAndExpiryAtOnce(t *testing.T) {
	for _, first := range []string{"payment", "expiry"} {
		t.Run(first, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N2", r.Page)
			r.done(b.Held)
			r.Advance(r.Plan.Hold + time.Minute)
			if first == "payment" {
				r.Page.Pay(b.PaymentID)
				r.done(r.notice(b))
				if rec, err := r.Redis.Record(t.Context(), "spring", b.ID); err != nil || rec.Stage != admission.StagePaid {
					t.Errorf("stage %s in Redis, %v", rec.Stage, err)
				}
			}
			if _, err := r.Steps.Expire(t.Context(), b.ID, r.Now()); err != nil {
				t.Fatal(err)
			}
			if first == "payment" {
				r.state(b.ID, ledger.Paid)
			} else {
				r.state(b.ID, ledger.Released)
				r.payLate(r.Page, b)
				r.done(r.notice(b))
				r.state(sale.LateBookingID(b.ID), ledger.Paid)
			}
			r.heal()
			r.Quiet()
		})
	}
}

func TestScenario28_LatePaymentGetsAFreeSeat(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.release(b)
	r.Advance(20 * time.Minute)
	r.payLate(r.Page, b)
	r.done(r.notice(b), r.notice(b))
	late := r.Booking(sale.LateBookingID(b.ID))
	if late.State != ledger.Paid || r.Booking(b.ID).Successor != late.ID {
		t.Fatalf("late booking %+v, successor %q", late, r.Booking(b.ID).Successor)
	}
	r.resolution(b, ledger.Applied, ledger.NoRefund)
	r.Quiet()
}

func TestScenario28_TheCandidatesOwnOldEntryRefusesNobody(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.Advance(r.Plan.Hold + time.Minute)
	r.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "Undo" {
			return admissiontest.FailBefore
		}
		return admissiontest.NoFault
	}
	if out, err := r.Steps.Expire(t.Context(), b.ID, r.Now()); err != nil || out != lifecycle.Released {
		t.Fatalf("expire: %v, %v", out, err)
	}
	r.Redis.Fault = nil
	r.payLate(r.Page, b)
	r.done(r.notice(b))
	r.state(sale.LateBookingID(b.ID), ledger.Paid)
	r.Quiet()
}

func TestScenario29_LateAndSoldOutIsRefundedOnce(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.release(b)
	other := r.Book("c2", "N2", r.Page)
	r.done(other.Held)
	r.payLate(r.Page, b)
	r.done(r.notice(b), r.notice(b))
	r.resolution(b, ledger.Refund, ledger.RefundDone)
	if n := r.Page.Refunds(b.PaymentID); n != 1 {
		t.Errorf("money went back %d times", n)
	}
	r.state(other.ID, ledger.Held)
	r.Check()
}

func TestScenario29_AHiccupIsNoRefusal(t *testing.T) {
	for name, hiccup := range map[string]func(r *rig) (undo func()){
		"gen": func(r *rig) func() {
			r.Control(func(c *ledger.Control) { c.Gen = 7 })
			return func() { r.Control(func(c *ledger.Control) { c.Gen = 1 }) }
		},
		"transport": func(r *rig) func() { return r.onAdmit(admissiontest.FailBefore) },
		"lost":      func(r *rig) func() { return r.onAdmit(admissiontest.LoseAnswer) },
		"short":     func(r *rig) func() { return r.onAdmit(admissiontest.ShortWait) },
		"ghost":     func(r *rig) func() { return r.onAdmit(admissiontest.GhostWait) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N2", r.Page)
			r.done(b.Held)
			r.release(b)
			r.payLate(r.Page, b)
			undo := hiccup(r)
			for n := range 20 {
				if r.deliver(b.Captured(r.Now()), n+1) == nil {
					t.Fatal("a hiccup was taken for an end")
				}
			}
			if p := r.Payment(b.Key); p.Resolution == ledger.Refund {
				t.Fatal("refunded for a hiccup")
			}
			undo()
			r.Advance(11 * time.Minute) // a quick undo bars the id for ten
			r.done(b.Captured(r.Now()))
			r.state(sale.LateBookingID(b.ID), ledger.Paid)
			r.Quiet()
		})
	}
}

// onAdmit makes every admission go wrong until undo is called.
func (r *rig) onAdmit(f admissiontest.Fault) (undo func()) {
	r.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "Admit" {
			return f
		}
		return admissiontest.NoFault
	}
	return func() { r.Redis.Fault = nil }
}

func TestScenario31_LatePaymentWhileTheCandidateHoldsAnother(t *testing.T) {
	r := newRig(t)
	first := r.Book("c1", "N1", r.Page)
	r.done(first.Held)
	r.release(first)
	second := r.Book("c1", "N1", r.Page)
	r.done(second.Held)
	r.payLate(r.Page, first)
	r.done(r.notice(first))
	r.resolution(first, ledger.Refund, ledger.RefundDone)
	r.state(second.ID, ledger.Held)
	r.Check()
}

func TestScenario32_OldReleasesDoNotTouchTheNewBooking(t *testing.T) {
	r := newRig(t)
	first := r.Book("c1", "N1", r.Page)
	r.done(first.Held)
	r.release(first)
	second := r.Book("c1", "N1", r.Page)
	r.done(second.Held)
	r.Advance(48 * time.Hour) // case B31
	if err := r.Steps.GiveBack(t.Context(), r.Booking(first.ID)); err != nil {
		t.Fatal(err)
	}
	r.done(first.Held, r.notice(first))
	for _, why := range []ledger.Reason{ledger.ReasonOwner, ledger.ReasonOperator} {
		if out, err := r.Steps.Release(t.Context(), first.ID, why, "operator:x"); err != nil || out != lifecycle.AlreadyReleased {
			t.Fatalf("release again: %v, %v", out, err)
		}
	}
	r.state(second.ID, ledger.Held)
	r.Check()
}

func TestScenario33_CompletedOneSecondBeforeTheCancel(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Advance(r.Plan.Hold + time.Minute)
	r.Page.BeforeCancel = func() { r.Page.Pay(b.PaymentID) }
	out, err := r.Steps.Expire(t.Context(), b.ID, r.Now())
	if err != nil || out != lifecycle.AlreadyPaid {
		t.Fatalf("expire: %v, %v; want already paid", out, err)
	}
	r.done(r.Queued()...)
	r.state(b.ID, ledger.Paid)
	r.Quiet()
}

func TestScenario35_ForgedRedirectChangesNothing(t *testing.T) {
	for _, gw := range []string{"page", "exec"} {
		t.Run(gw, func(t *testing.T) {
			r := newRig(t)
			g := r.Page
			if gw == "exec" {
				g = r.Exec
			}
			b := r.Book("c1", "N1", g)
			r.done(b.Held)
			before := r.Booking(b.ID)
			r.done(r.notice(b))
			if got := r.Booking(b.ID); got.State != ledger.Held || len(got.History) != len(before.History) || !got.HoldUntil.Equal(before.HoldUntil) {
				t.Errorf("booking changed: %+v", got)
			}
			if g.Executes(b.PaymentID) != 0 {
				t.Error("executed on a forged redirect")
			}
			forged := r.notice(b)
			forged.Notice.PaymentID = "pay-nobody"
			r.done(forged)
			r.Check()
		})
	}
}

func TestScenario37_FailoverLosesAnUndoWhoseFlagIsSet(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.Advance(r.Plan.Hold + time.Minute)
	r.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "Undo" {
			return admissiontest.ShortWait
		}
		return admissiontest.NoFault
	}
	if _, err := r.Steps.Expire(t.Context(), b.ID, r.Now()); err != nil {
		t.Fatal(err)
	}
	if !r.Booking(b.ID).UndoOwed {
		t.Fatal("T5 without an acknowledgement")
	}
	if r.Redis.Failover(1) != 1 {
		t.Fatal("nothing was lost: the test does not test it")
	}
	r.Redis.Fault = nil
	if err := r.Reap(r.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}
	s, _ := r.Redis.Status(t.Context(), "spring", []string{"N2"})
	if s.Levels[0].Used != 0 || s.Levels[0].Free != 1 {
		t.Errorf("level %+v, want one free seat", s.Levels[0])
	}
	r.Quiet()
}

func TestScenario36_TwoReapersOneDiesBetweenReleaseAndUndo(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.Advance(r.Plan.Hold + time.Minute)
	for k := 1; ; k++ { // die at the undo, wherever that is
		r.Faults.CrashAt(k, false)
		_, err := r.Steps.Expire(t.Context(), b.ID, r.Now())
		crashed, _ := r.Faults.Crashed()
		r.Faults.Restart()
		if r.Booking(b.ID).State == ledger.Released {
			break
		}
		if !crashed {
			t.Fatalf("expire: %v", err)
		}
	}
	if !r.Booking(b.ID).UndoOwed {
		t.Fatal("no undo is owed")
	}
	for range 2 {
		if err := r.Reap(r.Now(), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	r.Quiet()
}

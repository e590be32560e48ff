package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
)

// hold writes a booked booking to the ledger, as the worker does.
func hold(t *testing.T, w *lifecycletest.World, b lifecycletest.Booked) {
	t.Helper()
	tr, err := ledger.Hold(lifecycle.BookingFromHeld(b.Held), "worker", w.Now())
	if err == nil {
		err = w.Steps.Write(t.Context(), tr)
	}
	if err == nil {
		err = w.Steps.Settle(t.Context(), w.Booking(b.ID))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func status(s payment.Status) func(*payment.Payment) {
	return func(p *payment.Payment) { p.Status = s }
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(w *lifecycletest.World, g *lifecycletest.Gateway, id string)
		page    lifecycle.GateVerdict
		execute lifecycle.GateVerdict
	}{
		{"open", func(*lifecycletest.World, *lifecycletest.Gateway, string) {}, lifecycle.GateUnpaid, lifecycle.GateUnpaid},
		{"approved", set(payment.StatusApproved), lifecycle.GateUnpaid, lifecycle.GateUnpaid},
		{"completed", set(payment.StatusCompleted), lifecycle.GateCaptured, lifecycle.GateCaptured},
		{"pending", set(payment.StatusPending), lifecycle.GateUnknown, lifecycle.GateUnknown},
		{"expired", set(payment.StatusExpired), lifecycle.GateUnpaid, lifecycle.GateUnpaid},
		{"mute", func(_ *lifecycletest.World, g *lifecycletest.Gateway, _ string) { g.Mute = true }, lifecycle.GateUnknown, lifecycle.GateUnknown},
		{"down", func(_ *lifecycletest.World, g *lifecycletest.Gateway, _ string) { g.Down = true }, lifecycle.GateUnknown, lifecycle.GateUnknown},
		{"completed before the cancel", func(_ *lifecycletest.World, g *lifecycletest.Gateway, id string) {
			g.BeforeCancel = func() { g.Pay(id) }
		}, lifecycle.GateCaptured, lifecycle.GateUnpaid},
		{"executing", func(w *lifecycletest.World, _ *lifecycletest.Gateway, id string) {
			for _, name := range []string{"page:", "exec:"} {
				if _, err := w.Redis.AcquireExecute(w.T.Context(), lifecycletest.Sale, name+id, "B1", time.Minute); err != nil {
					w.T.Fatal(err)
				}
			}
		}, lifecycle.GateUnpaid, lifecycle.GateUnknown},
		{"guard unreachable", func(w *lifecycletest.World, _ *lifecycletest.Gateway, _ string) {
			w.Redis.Fault = func(string) admissiontest.Fault { return admissiontest.FailBefore }
		}, lifecycle.GateUnpaid, lifecycle.GateUnknown},
	} {
		for kind, want := range map[string]lifecycle.GateVerdict{"page": c.page, "exec": c.execute} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				w := lifecycletest.New(t)
				g := map[string]*lifecycletest.Gateway{"page": w.Page, "exec": w.Exec}[kind]
				b := w.Book("c1", "N1", g)
				c.prepare(w, g, b.PaymentID)
				got, err := w.Steps.Gate(t.Context(), lifecycletest.Sale, b.Key)
				if err != nil || got.Verdict != want || (got.Verdict == lifecycle.GateUnknown) != (got.Cause != nil) {
					t.Fatalf("%+v, %v; want verdict %d", got, err, want)
				}
				if kind == "page" && want == lifecycle.GateUnpaid && g.Pay(b.PaymentID) {
					t.Error("the page still takes money after the gate said unpaid")
				}
			})
		}
	}
}

func set(s payment.Status) func(*lifecycletest.World, *lifecycletest.Gateway, string) {
	return func(_ *lifecycletest.World, g *lifecycletest.Gateway, id string) { g.Edit(id, status(s)) }
}

func TestGateWithoutPaymentOrGateway(t *testing.T) {
	w := lifecycletest.New(t)
	if got, err := w.Steps.Gate(t.Context(), lifecycletest.Sale, ledger.PaymentKey{}); err != nil || got.Verdict != lifecycle.GateUnpaid {
		t.Errorf("no payment: %+v, %v", got, err)
	}
	if _, err := w.Steps.Gate(t.Context(), lifecycletest.Sale, ledger.PaymentKey{Gateway: "other", ID: "x"}); !errors.Is(err, lifecycle.ErrUnknownGateway) {
		t.Errorf("unknown gateway: %v", err)
	}
	if got, err := w.Steps.Gate(t.Context(), lifecycletest.Sale, ledger.PaymentKey{Gateway: "page", ID: "nobody"}); err != nil || got.Verdict != lifecycle.GateUnpaid {
		t.Errorf("unknown payment: %+v, %v", got, err)
	}
}

// TestReleaseAnswers releases a booking in every state it can be in.
func TestReleaseAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, w *lifecycletest.World, b lifecycletest.Booked)
		want    lifecycle.ReleaseOutcome
		state   ledger.State
		queued  int
	}{
		{"held", func(*testing.T, *lifecycletest.World, lifecycletest.Booked) {}, lifecycle.Released, ledger.Released, 0},
		{"released", func(t *testing.T, w *lifecycletest.World, b lifecycletest.Booked) {
			if _, err := w.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate"); err != nil {
				t.Fatal(err)
			}
		}, lifecycle.AlreadyReleased, ledger.Released, 0},
		{"captured", func(_ *testing.T, w *lifecycletest.World, b lifecycletest.Booked) {
			w.Exec.Edit(b.PaymentID, status(payment.StatusCompleted))
		}, lifecycle.AlreadyPaid, ledger.Held, 1},
		{"approved", func(_ *testing.T, w *lifecycletest.World, b lifecycletest.Booked) {
			w.Exec.Pay(b.PaymentID)
		}, lifecycle.Postponed, ledger.Held, 0},
		{"gateway away", func(_ *testing.T, w *lifecycletest.World, _ lifecycletest.Booked) {
			w.Exec.Down = true
		}, lifecycle.Postponed, ledger.Held, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lifecycletest.New(t)
			b := w.Book("c1", "N1", w.Exec)
			hold(t, w, b)
			c.prepare(t, w, b)
			out, err := w.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate")
			if err != nil || out != c.want {
				t.Fatalf("release: %v, %v; want %v", out, err, c.want)
			}
			if got := w.Booking(b.ID).State; got != c.state {
				t.Errorf("state %q, want %q", got, c.state)
			}
			if q := w.Queued(); len(q) != c.queued {
				t.Errorf("queued %v", q)
			}
			w.Check()
		})
	}
	w := lifecycletest.New(t)
	if _, err := w.Steps.Release(t.Context(), "NOBODY", ledger.ReasonOwner, "candidate"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("unknown booking: %v", err)
	}
}

func TestReleaseUnheld(t *testing.T) {
	w := lifecycletest.New(t)
	orphan, live := w.Book("c1", "N1", w.Page), w.Book("c2", "N1", w.Page)
	hold(t, w, live)
	for _, c := range []struct {
		b    lifecycletest.Booked
		want lifecycle.ReleaseOutcome
	}{{live, lifecycle.StillHeld}, {orphan, lifecycle.Released}, {orphan, lifecycle.Released}} {
		out, err := w.Steps.ReleaseUnheld(t.Context(), lifecycle.BookingFromHeld(c.b.Held), ledger.ReasonOrphan, "reaper")
		if err != nil || out != c.want {
			t.Fatalf("booking %s: %v, %v; want %v", c.b.ID, out, err, c.want)
		}
	}
	w.Quiet()
}

func TestWithdrawOwesWhatItCouldNotUndo(t *testing.T) {
	for _, f := range []admissiontest.Fault{admissiontest.FailBefore, admissiontest.LoseAnswer, admissiontest.ShortWait} {
		w := lifecycletest.New(t)
		b := w.Book("c1", "N1", w.Page)
		w.Redis.Fault = func(string) admissiontest.Fault { return f }
		out, err := w.Steps.Withdraw(t.Context(), lifecycle.BookingFromHeld(b.Held), ledger.ReasonNotQueued, "ingress", admission.UndoAbort)
		if err != nil || out != lifecycle.WithdrawOwed || !w.Booking(b.ID).UndoOwed {
			t.Fatalf("fault %d: %v, %v", f, out, err)
		}
		w.Redis.Fault = nil
		if err := w.Steps.GiveBack(t.Context(), w.Booking(b.ID)); err != nil {
			t.Fatal(err)
		}
		w.Quiet()
	}
}

func TestWithdrawRefusesQuickAndGiveBackRefusesTheLiving(t *testing.T) {
	w := lifecycletest.New(t)
	b := w.Book("c1", "N1", w.Page)
	if _, err := w.Steps.Withdraw(t.Context(), lifecycle.BookingFromHeld(b.Held), ledger.ReasonNotQueued, "ingress", admission.UndoQuick); err == nil {
		t.Error("a quick undo after a tombstone")
	}
	hold(t, w, b)
	if err := w.Steps.GiveBack(t.Context(), w.Booking(b.ID)); !errors.Is(err, lifecycle.ErrNotReleased) {
		t.Errorf("gave a held booking's seats back: %v", err)
	}
	w.Check()
}

func TestCancel(t *testing.T) {
	w := lifecycletest.New(t)
	b := w.Book("c1", "N1", w.Page)
	hold(t, w, b)
	if err := w.Steps.Cancel(t.Context(), b.ID, "operator:ann"); !errors.Is(err, lifecycle.ErrNotPaid) {
		t.Errorf("cancel a held booking: %v", err)
	}
	if _, err := w.Steps.Release(t.Context(), b.ID, ledger.ReasonOwner, "candidate"); err != nil {
		t.Fatal(err)
	}
	if err := w.Steps.Cancel(t.Context(), b.ID, "operator:ann"); err != nil {
		t.Errorf("cancel a released booking: %v", err)
	}
	if p := w.Payment(b.Key); p.Resolution != ledger.Open {
		t.Errorf("payment %+v was touched", p)
	}
}

func TestCancelRefundsAndFreesAtOnce(t *testing.T) {
	w := lifecycletest.New(t)
	b := w.Book("c1", "N1", w.Page)
	hold(t, w, b)
	w.Page.Pay(b.PaymentID)
	c := ledger.Capture{Key: b.Key, AmountMinor: 10000, Currency: "BDT", At: w.Now()}
	tr, err := ledger.Confirm(w.Booking(b.ID), c, "worker", w.Now())
	if err == nil {
		err = w.Steps.Write(t.Context(), tr)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Steps.Cancel(t.Context(), b.ID, "operator:ann"); err != nil {
			t.Fatal(err)
		}
		if p := w.Payment(b.Key); p.Refund != ledger.RefundDone || w.Page.Refunds(b.PaymentID) != 1 {
			t.Errorf("payment %+v, money went back %d times", p, w.Page.Refunds(b.PaymentID))
		}
		w.Quiet()
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	w := lifecycletest.New(t)
	b := w.Book("c1", "N1", w.Page)
	r, err := w.Redis.Record(t.Context(), lifecycletest.Sale, b.ID)
	if err != nil {
		t.Fatal(err)
	}
	fromRecord, fromHeld := lifecycle.BookingFromRecord(lifecycletest.Sale, r), lifecycle.BookingFromHeld(b.Held)
	if diff := cmp.Diff(fromRecord, fromHeld); diff != "" {
		t.Errorf("event and record describe different bookings:\n%s", diff)
	}
	if diff := cmp.Diff(r, lifecycle.RecordOf(fromRecord)); diff != "" {
		t.Errorf("a reseed would write another record:\n%s", diff)
	}
	fromRecord.State = ledger.Paid
	if got := lifecycle.RecordOf(fromRecord).Stage; got != admission.StagePaid {
		t.Errorf("stage %s of a paid booking", got)
	}
}

func TestRestoreLostNeedsProof(t *testing.T) {
	w := lifecycletest.New(t)
	b := w.Book("c1", "N2", w.Page)
	hold(t, w, b)
	w.Redis.Flush()
	w.Install(1)
	released := false
	w.Faults.Yield = func(op string) { // released between the two looks at the ledger
		if op == "redis Record" && !released {
			released = true
			tr, err := ledger.Release(w.Booking(b.ID), ledger.ReasonOwner, "candidate", w.Now())
			if err != nil {
				t.Error(err)
			}
			if err := w.Store.Apply(t.Context(), tr); err != nil { // T3', and then the releaser is dead
				t.Error(err)
			}
		}
	}
	back, err := w.Steps.RestoreLost(t.Context(), b.ID)
	if err != nil || back || !released {
		t.Fatalf("restored a released booking: %v, %v", back, err)
	}
	w.Check()
}

func TestControlCacheIsNeverOlderThanItSays(t *testing.T) {
	w := lifecycletest.New(t)
	c := lifecycle.NewControlCache(w.Store, w.Now)
	frozen := func() bool {
		got, err := c.Control(t.Context(), lifecycletest.Sale)
		if err != nil {
			t.Fatal(err)
		}
		return got.Frozen
	}
	if frozen() {
		t.Fatal("frozen from the start")
	}
	w.Control(func(c *ledger.Control) { c.Frozen = true })
	before := w.Store.Calls()["Control"]
	w.Advance(lifecycle.ControlMaxAge - time.Millisecond)
	if frozen() || w.Store.Calls()["Control"] != before {
		t.Error("did not cache")
	}
	w.Advance(time.Millisecond)
	if !frozen() {
		t.Error("older than it says")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.Advance(time.Hour)
	if _, err := c.Control(ctx, lifecycletest.Sale); err == nil {
		t.Error("answered from an old copy after a failed read")
	}
}

func TestDriveRefund(t *testing.T) {
	w := lifecycletest.New(t)
	b := w.Book("c1", "N1", w.Page)
	hold(t, w, b)
	w.Page.Pay(b.PaymentID)
	c := ledger.Capture{Key: b.Key, AmountMinor: 10000, Currency: "BDT", At: w.Now()}
	if err := w.Store.Apply(t.Context(), ledger.RefundLate(w.Booking(b.ID), c, "x", w.Now())); err != nil {
		t.Fatal(err)
	}
	for k := 1; ; k++ { // die everywhere, again and again, on the same refund
		w.Faults.CrashAt(k, k%2 == 0)
		err := w.Steps.DriveRefund(t.Context(), b.Key)
		w.Faults.Restart()
		if err == nil {
			break
		}
	}
	if p := w.Payment(b.Key); p.Refund != ledger.RefundDone || w.Page.Refunds(b.PaymentID) != 1 {
		t.Errorf("payment %+v, money went back %d times", p, w.Page.Refunds(b.PaymentID))
	}
	if err := w.Steps.DriveRefund(t.Context(), b.Key); err != nil {
		t.Errorf("done already: %v", err)
	}
}

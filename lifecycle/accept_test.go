package lifecycle_test

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

// reviewed is a held booking whose payment of 9999 is in review.
func reviewed(t *testing.T, w *lifecycletest.World) lifecycletest.Booked {
	t.Helper()
	b := w.Book("c1", "N1", w.Page)
	hold(t, w, b)
	w.Page.Pay(b.PaymentID)
	c := ledger.Capture{Key: b.Key, AmountMinor: 9999, Currency: "BDT", At: w.Now()}
	if ok, err := w.Steps.FlagMismatch(t.Context(), w.Booking(b.ID), c, errors.New("one short")); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return b
}

func TestAcceptReviewedPaysTheHeldBooking(t *testing.T) {
	w := lifecycletest.New(t)
	b := reviewed(t, w)
	for range 2 {
		if err := w.Steps.AcceptReviewed(t.Context(), b.Key, "operator:ann", "one short, paid at the desk"); err != nil {
			t.Fatal(err)
		}
	}
	got, p := w.Booking(b.ID), w.Payment(b.Key)
	if got.State != ledger.Paid || got.Reason != ledger.ReasonAccepted || got.Actor != "operator:ann" || p.Resolution != ledger.Applied || p.AmountMinor != 9999 {
		t.Errorf("booking %+v, payment %+v", got, p)
	}
	w.Quiet()
	if err := w.Steps.Cancel(t.Context(), b.ID, "operator:ann"); err != nil {
		t.Fatal(err)
	}
	w.Quiet()
}

func TestAcceptReviewedCrashedAtEveryStep(t *testing.T) {
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			w := lifecycletest.New(t)
			b := reviewed(t, w)
			w.Faults.CrashAt(k, after)
			first := w.Steps.AcceptReviewed(t.Context(), b.Key, "operator:ann", "enough")
			crashed, ops := w.Faults.Crashed()
			w.Faults.Restart()
			if !crashed {
				if first != nil || k < 4 {
					t.Fatalf("call %d: %v", k, first)
				}
				break
			}
			w.Check()
			if err := w.Steps.AcceptReviewed(t.Context(), b.Key, "operator:ann", "enough"); err != nil {
				t.Fatalf("repeat after %v: %v", ops, err)
			}
			w.Quiet()
		}
	}
}

func TestAcceptReviewedAcceptsNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, w *lifecycletest.World, b lifecycletest.Booked)
		want   error
	}{
		"refunded before": {func(t *testing.T, w *lifecycletest.World, b lifecycletest.Booked) {
			if err := w.Steps.Write(t.Context(), ledger.RefundReviewed(w.Payment(b.Key), "no", w.Now())); err != nil {
				t.Fatal(err)
			}
		}, lifecycle.ErrNotAcceptable},
		"released": {func(t *testing.T, w *lifecycletest.World, b lifecycletest.Booked) {
			tr, err := ledger.Release(w.Booking(b.ID), ledger.ReasonOperator, "operator:ann", w.Now())
			if err == nil {
				err = w.Steps.Write(t.Context(), tr)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, lifecycle.ErrNotAcceptable},
	} {
		t.Run(name, func(t *testing.T) {
			w := lifecycletest.New(t)
			b := reviewed(t, w)
			c.before(t, w, b)
			before := w.Payment(b.Key)
			if err := w.Steps.AcceptReviewed(t.Context(), b.Key, "operator:ann", "enough"); !errors.Is(err, c.want) {
				t.Fatal(err)
			}
			if after := w.Payment(b.Key); after != before || w.Booking(b.ID).State == ledger.Paid {
				t.Errorf("changed: %+v", after)
			}
		})
	}
	w := lifecycletest.New(t)
	open := w.Book("c1", "N1", w.Page)
	hold(t, w, open)
	if err := w.Steps.AcceptReviewed(t.Context(), open.Key, "operator:ann", "enough"); !errors.Is(err, lifecycle.ErrNotAcceptable) {
		t.Errorf("an open payment: %v", err)
	}
	if err := w.Steps.AcceptReviewed(t.Context(), ledger.PaymentKey{Gateway: "page", ID: "none"}, "operator:ann", "enough"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("no such payment: %v", err)
	}
}

package sandbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func TestCase_C10_SessionOutlivesTheHoldAndCanBeEnded(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.page, "b1")
	if got, want := s.ExpiresAt, w.clock.Now().Add(30*time.Minute); !got.Equal(want) {
		t.Fatalf("session ends %v, want %v: it lives at least 30 minutes", got, want)
	}
	w.clock.Advance(hold + time.Minute)
	wantStatus(t, w.page, s.PaymentID, payment.StatusOpen) // payable though the hold is over
	if err := w.page.Cancel(t.Context(), s.PaymentID); err != nil {
		t.Fatal(err)
	}
	if err := w.page.Cancel(t.Context(), s.PaymentID); err != nil {
		t.Fatalf("cancel again: %v", err)
	}
	wantStatus(t, w.page, s.PaymentID, payment.StatusCancelled)

	left := w.create(t, w.page, "b2")
	w.clock.Advance(30 * time.Minute)
	wantStatus(t, w.page, left.PaymentID, payment.StatusExpired)
	if s := w.create(t, w.exec, "b3"); !s.ExpiresAt.IsZero() {
		t.Fatalf("an execute account publishes no end of its session, got %v", s.ExpiresAt)
	}
}

func TestScenario28_LatePaymentArrivesAfterTheSessionWasCancelled(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.page, "b1")
	w.act(t, s.PaymentID, engine.ActLate)
	wantStatus(t, w.page, s.PaymentID, payment.StatusOpen)
	if err := w.page.Cancel(t.Context(), s.PaymentID); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(hold + 2*time.Minute)
	p := wantStatus(t, w.page, s.PaymentID, payment.StatusCompleted)
	if want := w.request("b1").ExpiresAt.Add(-hold); !p.CapturedAt.Equal(want) {
		t.Fatalf("captured at %v, want %v", p.CapturedAt, want)
	}
}

func TestScenario28_LateApprovalOfACancelledPaymentMovesNothing(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.exec, "b1")
	w.act(t, s.PaymentID, engine.ActLate)
	if err := w.exec.Cancel(t.Context(), s.PaymentID); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(hold + 2*time.Minute)
	wantStatus(t, w.exec, s.PaymentID, payment.StatusCancelled)
	if _, err := w.exec.Execute(t.Context(), s.PaymentID); !errors.Is(err, payment.ErrRefused) {
		t.Fatalf("execute of a cancelled payment: %v, want ErrRefused", err)
	}
}

func TestScenario33_SessionCompletedBeforeExpire(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		s := w.create(t, g, "b1")
		w.complete(t, g, s.PaymentID)
		if err := g.Cancel(t.Context(), s.PaymentID); !errors.Is(err, payment.ErrCompleted) {
			t.Fatalf("cancel = %v, want ErrCompleted", err)
		}
		wantStatus(t, g, s.PaymentID, payment.StatusCompleted)
	})
}

func TestCancel_WhileTheMoneyIsUnderWay(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.page, "b1")
	w.act(t, s.PaymentID, engine.ActSlow)
	wantStatus(t, w.page, s.PaymentID, payment.StatusPending)
	wantUnknown(t, w.page.Cancel(t.Context(), s.PaymentID))
	w.clock.Advance(time.Minute)
	wantStatus(t, w.page, s.PaymentID, payment.StatusCompleted)
}

func TestCancel_AnswerLost(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		s := w.create(t, g, "b1")
		w.faults(t, g.Name(), engine.Faults{LoseCancel: 1})
		wantUnknown(t, g.Cancel(t.Context(), s.PaymentID))
		if err := g.Cancel(t.Context(), s.PaymentID); err != nil {
			t.Fatal(err)
		}
	})
}

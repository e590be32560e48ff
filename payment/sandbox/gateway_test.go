package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func TestNew_ListsEveryFaultAtOnce(t *testing.T) {
	_, err := sandbox.New(sandbox.Config{Name: "Not OK", BaseURL: "ftp://x", Moves: "sideways"})
	if err == nil {
		t.Fatal("an empty configuration was taken")
	}
	for _, want := range []string{"Name", "BaseURL", "AppKey", "WebhookSecret", "Payee", "Moves"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
	w := newWorld(t)
	if _, err := sandbox.New(w.config("exec", payment.MovesOnExecute, nil)); err == nil || !strings.Contains(err.Error(), "Tokens") {
		t.Errorf("an execute account without a token store: %v", err)
	}
}

func TestPayment_FromCreateToRefund(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		s := w.create(t, g, "b1")
		wantStatus(t, g, s.PaymentID, payment.StatusOpen)
		w.complete(t, g, s.PaymentID)
		got := wantStatus(t, g, s.PaymentID, payment.StatusCompleted)
		want := payment.Payment{
			PaymentID: s.PaymentID, Status: payment.StatusCompleted, AmountMinor: price, Currency: currency,
			Payee: g.Payee(), Live: g.Live(), CapturedAt: w.clock.Now(), Metadata: w.request("b1").Metadata,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("payment (-want +got):\n%s", diff)
		}
		if r, err := g.QueryRefund(t.Context(), s.PaymentID, "R:1"); err != nil || r != payment.RefundNone {
			t.Fatalf("refund before there is one = %q, %v", r, err)
		}
		for range 3 { // safe to repeat
			if r, err := g.Refund(t.Context(), s.PaymentID, "R:1", price); err != nil || r != payment.RefundDone {
				t.Fatalf("refund = %q, %v", r, err)
			}
		}
		if e := w.entry(t, s.PaymentID); e.CapturedMinor != price || e.RefundedMinor != price || e.Captures != 1 {
			t.Fatalf("ledger: %+v", e)
		}
		if p := wantStatus(t, g, s.PaymentID, payment.StatusCompleted); p.RefundedMinor != price {
			t.Fatalf("refunded_minor = %d, want %d", p.RefundedMinor, price)
		}
	})
}

func TestRefund_UnderAnotherKeyIsAlreadyDone(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		s := w.create(t, g, "b1")
		if _, err := g.Refund(t.Context(), s.PaymentID, "R:1", price); !errors.Is(err, payment.ErrRefused) {
			t.Fatalf("refund of an unpaid payment: %v, want ErrRefused", err)
		}
		w.complete(t, g, s.PaymentID)
		if _, err := g.Refund(t.Context(), s.PaymentID, "R:1", price); err != nil {
			t.Fatal(err)
		}
		if r, err := g.Refund(t.Context(), s.PaymentID, "R:2", price); err != nil || r != payment.RefundDone {
			t.Fatalf("a second key = %q, %v; want done", r, err)
		}
		if r, err := g.Refund(t.Context(), s.PaymentID, "R:1", price-1); err == nil || errors.Is(err, payment.ErrRefused) {
			t.Fatalf("the same key with another amount = %q, %v; want an error that is no refusal", r, err)
		}
		if e := w.entry(t, s.PaymentID); e.RefundedMinor != price {
			t.Fatalf("refunded %d, want %d once", e.RefundedMinor, price)
		}
	})
}

func TestRefund_PendingForAWhile(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		s := w.create(t, g, "b1")
		w.complete(t, g, s.PaymentID)
		w.faults(t, g.Name(), engine.Faults{RefundPendingMS: time.Minute.Milliseconds(), LoseRefund: 1})
		_, err := g.Refund(t.Context(), s.PaymentID, "R:1", price)
		wantUnknown(t, err)
		if r, err := g.QueryRefund(t.Context(), s.PaymentID, "R:1"); err != nil || r != payment.RefundPending {
			t.Fatalf("query refund = %q, %v; want pending", r, err)
		}
		w.clock.Advance(time.Minute)
		if r, err := g.Refund(t.Context(), s.PaymentID, "R:1", price); err != nil || r != payment.RefundDone {
			t.Fatalf("refund again = %q, %v; want done", r, err)
		}
		if e := w.entry(t, s.PaymentID); e.RefundedMinor != price || e.RefundPendingMinor != 0 {
			t.Fatalf("ledger: %+v", e)
		}
	})
}

func wantUnknown(t *testing.T, err error) {
	t.Helper()
	for _, verdict := range []error{payment.ErrRefused, payment.ErrCompleted, payment.ErrNotFound} {
		if err == nil || errors.Is(err, verdict) {
			t.Fatalf("error = %v; want one that leaves the outcome open", err)
		}
	}
}

func TestScenario15_CreateRefusedIsDefinite(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		w.faults(t, g.Name(), engine.Faults{RefuseCreate: 1})
		if _, err := g.Create(t.Context(), w.request("b1")); !errors.Is(err, payment.ErrRefused) {
			t.Fatalf("create = %v, want ErrRefused", err)
		}
		if n := len(w.server.Payments()); n != 0 {
			t.Fatalf("%d payments exist after a refusal", n)
		}
		w.create(t, g, "b2") // the candidate books again at once
	})
}

func TestScenario16_CreateTimesOutAndMayExist(t *testing.T) {
	tests := map[string]struct {
		faults engine.Faults
		exists int
	}{
		"not created":    {engine.Faults{TimeOutCreate: 1}, 0},
		"created":        {engine.Faults{TimeOutCreated: 1}, 1},
		"answer is lost": {engine.Faults{LoseCreate: 1}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.faults(t, "page", test.faults)
			config := w.config("page", payment.MovesOnPage, nil)
			config.Timeout = 300 * time.Millisecond
			impatient, err := sandbox.New(config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = impatient.Create(t.Context(), w.request("b1"))
			wantUnknown(t, err)
			if n := len(w.server.Payments()); n != test.exists {
				t.Fatalf("%d payments exist, want %d", n, test.exists)
			}
			// The same booking again is the same payment, and cancelled it moves no money.
			s := w.create(t, w.page, "b1")
			if n := len(w.server.Payments()); n != 1 {
				t.Fatalf("%d payments after the repeat, want 1", n)
			}
			if err := w.page.Cancel(t.Context(), s.PaymentID); err != nil {
				t.Fatal(err)
			}
			if _, err := w.server.Act(s.PaymentID, engine.ActPay, 0); err == nil {
				t.Fatal("a cancelled session could be paid")
			}
			if e := w.entry(t, s.PaymentID); e.CapturedMinor != 0 {
				t.Fatalf("money moved: %+v", e)
			}
		})
	}
}

func TestCreate_WithoutConnectionIsRefused(t *testing.T) {
	w := newWorld(t)
	config := w.config("page", payment.MovesOnPage, nil)
	config.BaseURL = "http://127.0.0.1:1"
	g, err := sandbox.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Create(t.Context(), w.request("b1")); !errors.Is(err, payment.ErrRefused) {
		t.Fatalf("create that was never sent = %v, want ErrRefused", err)
	}
	// A refund that was not sent is owed still: no definite no.
	_, err = g.Refund(t.Context(), "pay_1", "R:1", price)
	wantUnknown(t, err)
}

func TestCreate_DownIsUnknown(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		w.create(t, g, "b0") // the token is there
		w.faults(t, "", engine.Faults{Down: engine.Always})
		_, err := g.Create(t.Context(), w.request("b1"))
		wantUnknown(t, err)
		_, err = g.Query(t.Context(), "pay_1")
		wantUnknown(t, err)
		w.faults(t, "", engine.Faults{})
		w.create(t, g, "b1")
	})
}

func TestCase_C17_TwoCreatesAtAnExecuteAccountAreTwoPayments(t *testing.T) {
	w := newWorld(t)
	if first, second := w.create(t, w.exec, "b1"), w.create(t, w.exec, "b1"); first.PaymentID == second.PaymentID {
		t.Fatal("one payment; the account is not InvoiceIdempotent")
	}
	w = newWorld(t, func(a *engine.Account) { a.InvoiceIdempotent = true })
	if first, second := w.create(t, w.exec, "b1"), w.create(t, w.exec, "b1"); first.PaymentID != second.PaymentID {
		t.Fatal("two payments; the account is InvoiceIdempotent")
	}
}

// TestCreate_IsNotRepeatedBehindOurBack: net/http repeats a request with an
// idempotency key whose reused connection died. At an execute account that would
// be a second payment.
func TestCreate_IsNotRepeatedBehindOurBack(t *testing.T) {
	w := newWorld(t)
	config := w.config("exec", payment.MovesOnExecute, w.tokens)
	config.HTTPClient = nil // keeps its connections
	g, err := sandbox.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	w.create(t, g, "b0")
	w.faults(t, "exec", engine.Faults{LoseCreate: 1})
	_, err = g.Create(t.Context(), w.request("b1"))
	wantUnknown(t, err)
	if n := len(w.server.Payments()); n != 2 {
		t.Fatalf("%d payments, want the first and the lost one", n)
	}
}

func TestCase_C18_OneBookingInParallelIsOnePayment(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := w.page.Create(t.Context(), w.request("b1")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(w.server.Payments()); n != 1 {
		t.Fatalf("%d payments, want 1", n)
	}
	other := w.request("b1")
	other.AmountMinor++
	_, err := w.page.Create(t.Context(), other)
	wantUnknown(t, err) // a payment exists under the key: no definite no
}

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

func TestScenario34_ExecuteAnswerLostIsFoundByQuery(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.exec, "b1")
	w.act(t, s.PaymentID, engine.ActPay)
	wantStatus(t, w.exec, s.PaymentID, payment.StatusApproved)
	w.faults(t, "exec", engine.Faults{LoseExecute: 1, ChargeAgain: engine.Always})
	_, err := w.exec.Execute(t.Context(), s.PaymentID)
	wantUnknown(t, err)
	wantStatus(t, w.exec, s.PaymentID, payment.StatusCompleted)
	if e := w.entry(t, s.PaymentID); e.ExecuteCalls != 1 || e.CapturedMinor != price {
		t.Fatalf("the client executed %d times, captured %d", e.ExecuteCalls, e.CapturedMinor)
	}
	// A caller that executes blindly is charged twice, and the ledger shows it.
	if _, err := w.exec.Execute(t.Context(), s.PaymentID); err != nil {
		t.Fatal(err)
	}
	if e := w.entry(t, s.PaymentID); e.Captures != 2 || e.CapturedMinor != 2*price {
		t.Fatalf("the double charge does not show: %+v", e)
	}
}

func TestExecute_Again(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.exec, "b1")
	if _, err := w.exec.Execute(t.Context(), s.PaymentID); !errors.Is(err, payment.ErrRefused) {
		t.Fatalf("execute before approval: %v, want ErrRefused", err)
	}
	w.complete(t, w.exec, s.PaymentID)
	p, err := w.exec.Execute(t.Context(), s.PaymentID)
	if err != nil || p.Status != payment.StatusCompleted {
		t.Fatalf("execute again = %q, %v; want what a query says", p.Status, err)
	}
	if e := w.entry(t, s.PaymentID); e.Captures != 1 {
		t.Fatalf("captured %d times", e.Captures)
	}
	if _, err := w.page.Execute(t.Context(), s.PaymentID); !errors.Is(err, payment.ErrRefused) {
		t.Fatalf("execute at a page account: %v, want ErrRefused", err)
	}
}

func TestCase_D12_WhatQueryTellsUntruly(t *testing.T) {
	tests := map[string]struct {
		faults engine.Faults
		differ func(p payment.Payment, g *sandbox.Gateway) bool
	}{
		"amount":   {engine.Faults{AmountMismatch: 1}, func(p payment.Payment, _ *sandbox.Gateway) bool { return p.AmountMinor != price }},
		"currency": {engine.Faults{CurrencyMismatch: 1}, func(p payment.Payment, _ *sandbox.Gateway) bool { return p.Currency != currency }},
		"payee":    {engine.Faults{OtherPayee: 1}, func(p payment.Payment, g *sandbox.Gateway) bool { return p.Payee != g.Payee() }},
		"live":     {engine.Faults{FlipLive: 1}, func(p payment.Payment, g *sandbox.Gateway) bool { return p.Live != g.Live() }},
		"status":   {engine.Faults{QueryUnknown: 1}, func(p payment.Payment, _ *sandbox.Gateway) bool { return p.Status == payment.StatusUnknown }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
				s := w.create(t, g, "b1")
				w.complete(t, g, s.PaymentID)
				w.faults(t, g.Name(), test.faults)
				p, err := g.Query(t.Context(), s.PaymentID)
				if err != nil || !test.differ(p, g) {
					t.Fatalf("query = %+v, %v; want another %s", p, err, name)
				}
				if p = wantStatus(t, g, s.PaymentID, payment.StatusCompleted); test.differ(p, g) {
					t.Fatalf("the switch acted twice: %+v", p)
				}
			})
		})
	}
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

func TestUnknownPayment(t *testing.T) {
	both(t, func(t *testing.T, w *world, g *sandbox.Gateway) {
		other := w.page
		if g == w.page {
			other = w.exec
		}
		foreign := w.create(t, other, "b1").PaymentID
		for _, id := range []string{"pay_nobody", foreign, "..", ".", "a/b", "a%2Fb", "x?y#z", strings.Repeat("x", 3000)} {
			if _, err := g.Query(t.Context(), id); !errors.Is(err, payment.ErrNotFound) {
				t.Errorf("query %.20q = %v, want ErrNotFound", id, err)
			}
			if err := g.Cancel(t.Context(), id); !errors.Is(err, payment.ErrNotFound) {
				t.Errorf("cancel %.20q = %v, want ErrNotFound", id, err)
			}
			if _, err := g.Refund(t.Context(), id, "R:1", 1); !errors.Is(err, payment.ErrNotFound) {
				t.Errorf("refund %.20q = %v, want ErrNotFound", id, err)
			}
			if _, err := g.QueryRefund(t.Context(), id, "R:1"); !errors.Is(err, payment.ErrNotFound) {
				t.Errorf("query refund %.20q = %v, want ErrNotFound", id, err)
			}
		}
	})
}

func TestInvoiceOnly_ForgetsAllButTheBooking(t *testing.T) {
	w := newWorld(t, func(a *engine.Account) { a.InvoiceOnly = true })
	s := w.create(t, w.exec, "b1")
	p := wantStatus(t, w.exec, s.PaymentID, payment.StatusOpen)
	if want := (payment.Metadata{BookingID: "b1"}); p.Metadata != want {
		t.Fatalf("metadata = %+v, want %+v", p.Metadata, want)
	}
}

func TestCase_C21_SlowGatewayActsAfterItsCallerHasGone(t *testing.T) {
	w := newWorld(t)
	w.faults(t, "page", engine.Faults{SlowMS: 100})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := w.page.Create(ctx, w.request("b1"))
	wantUnknown(t, err)
	waitFor(t, "the payment of the impatient caller", func() bool { return len(w.server.Payments()) == 1 })
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

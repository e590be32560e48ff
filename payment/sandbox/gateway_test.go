package sandbox_test

import (
	"errors"
	"strings"
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

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
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

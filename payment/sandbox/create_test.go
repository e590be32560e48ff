package sandbox_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

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
			config.Timeout = 2 * time.Second
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

func TestInvoiceOnly_ForgetsAllButTheBooking(t *testing.T) {
	w := newWorld(t, func(a *engine.Account) { a.InvoiceOnly = true })
	s := w.create(t, w.exec, "b1")
	p := wantStatus(t, w.exec, s.PaymentID, payment.StatusOpen)
	if want := (payment.Metadata{BookingID: "b1"}); p.Metadata != want {
		t.Fatalf("metadata = %+v, want %+v", p.Metadata, want)
	}
}

package sandbox_test

import (
	"fmt"
	"testing"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// TestListCaptured walks several pages and finds every captured payment of the
// sale once, refunded ones too, and none that is open, another sale's or
// another account's.
func TestListCaptured(t *testing.T) {
	w := newWorld(t)
	const captured = 2*api.CapturedPage + 3
	want := map[string]bool{}
	for i := range captured {
		s := w.createIn(t, w.page, "spring", fmt.Sprintf("bid-%d", i))
		if _, err := w.server.Act(s.PaymentID, engine.ActPay, 0); err != nil {
			t.Fatal(err)
		}
		want[s.PaymentID] = true
		if i == 0 {
			if _, err := w.page.Refund(t.Context(), s.PaymentID, "R:"+s.PaymentID, price); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.createIn(t, w.page, "spring", "bid-open")
	other := w.createIn(t, w.page, "autumn", "bid-other")
	if _, err := w.server.Act(other.PaymentID, engine.ActPay, 0); err != nil {
		t.Fatal(err)
	}
	err := w.page.ListCaptured(t.Context(), "spring", func(p payment.Payment) error {
		if !want[p.PaymentID] {
			t.Errorf("%s is not of this sale, not captured, or listed twice", p.PaymentID)
		}
		delete(want, p.PaymentID)
		return nil
	})
	if err != nil || len(want) != 0 {
		t.Fatalf("%d captured payments are missing, %v", len(want), err)
	}
	if err := w.exec.ListCaptured(t.Context(), "spring", func(p payment.Payment) error { return fmt.Errorf("listed %s", p.PaymentID) }); err != nil {
		t.Fatalf("another account's list: %v", err)
	}
}

func (w *world) createIn(t *testing.T, g payment.Gateway, saleID, bookingID string) payment.Session {
	t.Helper()
	s, err := g.Create(t.Context(), payment.CreateRequest{Metadata: payment.Metadata{Sale: saleID, BookingID: bookingID, Candidate: "ch"},
		AmountMinor: price, Currency: currency, Title: "Seat", ReturnURL: "http://127.0.0.1/return", ExpiresAt: w.clock.Now().Add(hold)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package books_test

import (
	"context"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/localstack/books"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// sold is a ledger with a paid booking of two seats for each payment, and one
// booking that is held.
type sold []string

func (s sold) Scan(_ context.Context, _ string, v ledger.Visitor) error {
	for _, id := range s {
		b := ledger.Booking{ID: "B-" + id, State: ledger.Paid, Payment: ledger.PaymentKey{ID: id}, Seats: make([]ledger.Seat, 2)}
		if err := v.Booking(b); err != nil {
			return err
		}
	}
	return v.Booking(ledger.Booking{State: ledger.Held, Payment: ledger.PaymentKey{ID: "held"}})
}

func TestCompare(t *testing.T) {
	money := func(id string, back int64, times int) engine.Entry {
		return engine.Entry{PaymentID: id, CapturedMinor: 100, RefundedMinor: back, Captures: times}
	}
	for name, c := range map[string]struct {
		paid     sold
		payments []engine.Entry
		ok       bool
		detail   string
	}{
		"a seat and a refund":   {sold{"p"}, []engine.Entry{money("p", 0, 1), money("q", 100, 1), {PaymentID: "held"}}, true, "2 captured = 1 paid bookings (2 seats) + 1 refunded"},
		"a seat and its refund": {sold{"p"}, []engine.Entry{money("p", 100, 1)}, false, "payment p, captured 100 in 1 captures, refunded 100, seat true"},
		"neither":               {nil, []engine.Entry{money("held", 0, 1)}, false, "payment held"},
		"half of it back":       {nil, []engine.Entry{money("p", 50, 1)}, false, "refunded 50, seat false"},
		"charged twice":         {sold{"p"}, []engine.Entry{money("p", 0, 2)}, false, "2 captures"},
		"a seat without money":  {sold{"p", "q"}, []engine.Entry{money("p", 0, 1)}, false, "1 captured = 2 paid"},
	} {
		check, err := books.Compare(t.Context(), c.paid, "s", c.payments)
		if err != nil || check.OK != c.ok || !strings.Contains(check.Detail, c.detail) {
			t.Errorf("%s: %+v, %v", name, check, err)
		}
	}
}

func TestUnderWay(t *testing.T) {
	if n := books.UnderWay([]engine.Entry{{CapturedMinor: 1}, {LateUnderWay: true}, {RefundPendingMinor: 1}}); n != 2 {
		t.Errorf("%d under way, want 2", n)
	}
}

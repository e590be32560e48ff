// Package books holds the books of the sandbox gateway against the ledger.
package books

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// Ledger is what the books need of a store; Scan visits every record of a sale.
type Ledger interface {
	Scan(ctx context.Context, saleID string, v ledger.Visitor) error
}

// Compare looks at each payment of a sale's gateway: captured money is a paid
// booking or a refund, exactly one of the two, and was captured once. It is true
// only while nothing is UnderWay.
func Compare(ctx context.Context, store Ledger, saleID string, payments []engine.Entry) (load.Check, error) {
	paid := map[string]bool{} // by the gateway's payment id
	seats := 0
	err := store.Scan(ctx, saleID, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if b.State == ledger.Paid {
			paid[b.Payment.ID] = true
			seats += len(b.Seats)
		}
		return nil
	}})
	if err != nil {
		return load.Check{}, err
	}
	var captured, refunded int
	var first string
	for _, p := range payments {
		if p.CapturedMinor == 0 {
			continue
		}
		captured++
		back := p.RefundedMinor == p.CapturedMinor
		if back {
			refunded++
		}
		if seat := paid[p.PaymentID]; first == "" && (seat == back || p.Captures > 1) {
			first = fmt.Sprintf("; the first that is not: payment %s, captured %d in %d captures, refunded %d, seat %v", p.PaymentID, p.CapturedMinor, p.Captures, p.RefundedMinor, seat)
		}
	}
	return load.Check{Name: "every captured payment is a seat or a refund", OK: first == "" && captured == len(paid)+refunded,
		Detail: fmt.Sprintf("%d captured = %d paid bookings (%d seats) + %d refunded%s", captured, len(paid), seats, refunded, first)}, nil
}

// UnderWay counts payments whose late money or refund is still to come.
func UnderWay(payments []engine.Entry) (n int) {
	for _, p := range payments {
		if p.LateUnderWay || p.RefundPendingMinor > 0 {
			n++
		}
	}
	return n
}

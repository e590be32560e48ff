package sandbox

import (
	"context"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// ListCaptured calls each for every payment of the sale that the gateway has
// captured, refunded ones too, for an audit. An error means that the list is
// incomplete. Safe to repeat.
func (g *Gateway) ListCaptured(ctx context.Context, saleID string, each func(payment.Payment) error) error {
	for from := 0; ; {
		var page api.Captured
		if err := g.call(ctx, request{method: http.MethodGet, path: []string{"captured", strconv.Itoa(from)}}, &page); err != nil {
			return err
		}
		for _, p := range page.Payments {
			if p.Metadata.Sale != saleID {
				continue
			}
			found, err := answered(p, p.PaymentID, nil)
			if err != nil {
				return err
			}
			if err := each(found); err != nil {
				return err
			}
		}
		if page.Next <= from {
			return nil
		}
		from = page.Next
	}
}

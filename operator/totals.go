package operator

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
)

// Totals are the bookings of a sale as the ledger has them. Every booking is in
// exactly one of the counts by state, so they sum to all that were ever written
// (case B18): Held + Paid + the releases = Bookings.
type Totals struct {
	Sale     string                 `json:"sale"`
	Bookings int                    `json:"bookings"`
	Held     Count                  `json:"held"`
	Paid     Count                  `json:"paid"`
	Released map[string]int         `json:"released"` // bookings by reason
	ByLevel  map[string]LevelTotals `json:"levels"`
	// Refunds are payments by how far they have come back; their bookings count
	// among the released.
	Refunds map[string]int `json:"refunds"`
	Review  int            `json:"review"`
}

// LevelTotals are the live bookings of one level.
type LevelTotals struct {
	Held Count `json:"held"`
	Paid Count `json:"paid"`
}

// Count is a number of bookings, their seats, and their price.
type Count struct {
	Bookings    int   `json:"bookings"`
	Seats       int   `json:"seats"`
	AmountMinor int64 `json:"amount_minor"`
}

func (c *Count) add(b ledger.Booking) {
	c.Bookings++
	c.Seats += len(b.Seats)
	c.AmountMinor += b.Price.AmountMinor
}

// Totals counts every booking and payment of the sale in the ledger. It is not
// of one instant while the sale sells.
func (d *Desk) Totals(ctx context.Context, saleID string) (Totals, error) {
	t := Totals{Sale: saleID, Released: map[string]int{}, Refunds: map[string]int{}, ByLevel: map[string]LevelTotals{}}
	if _, err := d.control(ctx, saleID); err != nil {
		return t, err
	}
	err := d.Store.Scan(ctx, saleID, ledger.Visitor{
		Booking: func(b ledger.Booking) error { t.add(b); return nil },
		Payment: func(p ledger.PaymentRecord) error {
			switch p.Resolution {
			case ledger.Refund:
				t.Refunds[string(p.Refund)]++
			case ledger.Review:
				t.Review++
			}
			return nil
		},
	})
	if err != nil {
		return t, fmt.Errorf("operator: count the bookings of sale %s: %w", saleID, err)
	}
	return t, nil
}

func (t *Totals) add(b ledger.Booking) {
	t.Bookings++
	if !b.State.Live() {
		t.Released[string(b.Reason)]++
		return
	}
	level := t.ByLevel[b.Level]
	if b.State == ledger.Paid {
		t.Paid.add(b)
		level.Paid.add(b)
	} else {
		t.Held.add(b)
		level.Held.add(b)
	}
	t.ByLevel[b.Level] = level
}

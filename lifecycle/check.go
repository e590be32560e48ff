package lifecycle

import (
	"fmt"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
)

// MismatchError: a captured payment is not what the booking asked for. Such a
// payment goes to review, never to a seat (protocol.md 2.2.6).
type MismatchError struct {
	BookingID string
	What      string // "amount", "currency", "payee", "mode" or "refunded"
	Got, Want string
}

// Error says what differs; it is also the reason that the ledger keeps.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("payment differs from booking %s in %s: got %s, want %s", e.BookingID, e.What, e.Got, e.Want)
}

// CheckPayment compares a captured payment with its booking: amount, currency,
// our account at the gateway, live or test mode, and that none of it has been
// paid back (protocol.md 2.2.6, case D12). The error is a *MismatchError.
func CheckPayment(b ledger.Booking, gw payment.Gateway, p payment.Payment) error {
	mode := map[bool]string{true: "live", false: "test"}
	for _, c := range []struct{ what, got, want string }{
		{"amount", fmt.Sprint(p.AmountMinor), fmt.Sprint(b.Price.AmountMinor)},
		{"currency", p.Currency, b.Price.Currency},
		{"payee", p.Payee, gw.Payee()},
		{"mode", mode[p.Live], mode[gw.Live()]},
		{"refunded", fmt.Sprint(p.RefundedMinor), "0"},
	} {
		if c.got != c.want {
			return &MismatchError{BookingID: b.ID, What: c.what, Got: c.got, Want: c.want}
		}
	}
	return nil
}

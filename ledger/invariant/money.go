package invariant

import (
	"cmp"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// PayOnce: every captured payment is applied to one live paid booking or goes
// back, exactly one of the two (INV5); and every paid booking has its money. A
// payment in review is open work, not a violation.
func PayOnce(s Snapshot) []Violation {
	r := report{invariant: "PayOnce"}
	captured := make(map[ledger.PaymentKey]bool, len(s.Captured))
	for _, c := range s.Captured {
		captured[c.Key] = true
		p, ok := s.Payments[c.Key]
		switch {
		case !ok || p.Resolution == ledger.Open:
			r.add(c.Key.String(), "%d %s were captured, and nothing came of it", c.AmountMinor, c.Currency)
		case p.Resolution != ledger.Review && (p.AmountMinor != c.AmountMinor || p.Currency != c.Currency):
			r.add(c.Key.String(), "%d %s were captured, the ledger counts %d %s", c.AmountMinor, c.Currency, p.AmountMinor, p.Currency)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.Payments), func(a, b ledger.PaymentKey) int { return cmp.Compare(a.String(), b.String()) }) {
		p := s.Payments[k]
		resolved(&r, s, p)
		if s.Captured != nil && !captured[k] && p.Resolution == ledger.Applied {
			r.add(k.String(), "it is applied, but its gateway captured nothing")
		}
	}
	for id, b := range sorted(s.Bookings) {
		if p := s.Payments[b.Payment]; b.State == ledger.Paid && (p.Resolution != ledger.Applied || p.BookingID != id) {
			r.add(id, "it is PAID, but its payment %s is %s for booking %s", b.Payment, or(string(p.Resolution), "absent"), or(p.BookingID, "none"))
		}
	}
	return r.found
}

// resolved checks one payment against its booking.
func resolved(r *report, s Snapshot, p ledger.PaymentRecord) {
	switch b := s.Bookings[p.BookingID]; p.Resolution {
	case ledger.Applied:
		if b.State != ledger.Paid || b.Payment != p.Key {
			r.add(p.Key.String(), "it is applied to booking %s, which is %s by payment %s", p.BookingID, standing(s, p.BookingID), or(b.Payment.String(), "none"))
		}
		if b.State == ledger.Paid && b.Reason != ledger.ReasonAccepted && (b.Price.AmountMinor != p.AmountMinor || b.Price.Currency != p.Currency) {
			r.add(p.Key.String(), "it is applied with %d %s, its booking costs %d %s", p.AmountMinor, p.Currency, b.Price.AmountMinor, b.Price.Currency)
		}
		if p.Refund != ledger.NoRefund {
			r.add(p.Key.String(), "it is applied and its refund is %s", p.Refund)
		}
	case ledger.Refund:
		if p.Refund == ledger.NoRefund {
			r.add(p.Key.String(), "it is to be refunded, but no refund is due")
		}
		if b.State == ledger.Paid && b.Payment == p.Key {
			r.add(p.Key.String(), "it is refunded, and booking %s is still paid by it", p.BookingID)
		}
	}
}

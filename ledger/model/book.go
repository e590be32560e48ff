package model

import (
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// Names and figures of the model's sale as the production code sees them.
const (
	saleID  = "m"
	level   = "l"
	gateway = "g"
)

var (
	bidNames       = [bookings + holds]string{"b0", "b1", sale.LateBookingID("b0"), sale.LateBookingID("b1"), "h0", "h1"}
	candidateNames = [2]string{"c0", "c1"}
	paymentNames   = [attempts]string{"p0", "p1"}
	tokens         = [maxSeats]string{"l-1", "l-2"}
	price          = sale.Money{AmountMinor: 100, Currency: "EUR"}
	// noon is every time of the model: it has no clock, and no rule may need one.
	noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// plan is the sale that the invariants count against.
func (m *Model) plan() sale.Sale {
	n := int(m.seats())
	return sale.Sale{ID: saleID, TotalCap: n, MaxSeats: 1, Price: price, Levels: []sale.Level{{Name: level, Cap: n, Kind: sale.KindCounted}}}
}

func paymentKey(p uint8) ledger.PaymentKey {
	return ledger.PaymentKey{Gateway: gateway, ID: paymentNames[p]}
}

func bidOf(id string) bid {
	for b, name := range bidNames {
		if name == id {
			return bid(b)
		}
	}
	return noBid
}

// book is the ledger of one state in the production's types. It is a store that
// does what a Transition says and nothing else.
type book struct {
	bookings map[string]ledger.Booking
	claims   map[string]string
	seats    map[string]string
	payments map[ledger.PaymentKey]ledger.PaymentRecord
}

// waived are the conditions that a mutant leaves out.
type waived struct{ ownership, payment bool }

// apply writes t if its conditions hold, else it returns what is there instead.
func (k *book) apply(t ledger.Transition, w waived) (bool, ledger.Found) {
	if !k.allows(t, w) {
		return false, k.found(t)
	}
	if t.Create != nil {
		k.bookings[t.Create.ID] = *t.Create
	}
	if c := t.Update; c != nil {
		k.bookings[c.ID] = c.Apply(k.bookings[c.ID], t.At)
	}
	if l := t.Link; l != nil {
		b := k.bookings[l.BookingID]
		b.Successor = l.Successor
		k.bookings[l.BookingID] = b
	}
	if o := t.Claim; o != nil {
		k.claims[o.Candidate] = o.BookingID
		for _, s := range o.Tokens {
			k.seats[s] = o.BookingID
		}
	}
	if o := t.Free; o != nil {
		delete(k.claims, o.Candidate)
		for _, s := range o.Tokens {
			delete(k.seats, s)
		}
	}
	if c := t.Payment; c != nil {
		k.payments[c.Key] = c.Apply(k.payment(c.Key), t.At)
	}
	return true, ledger.Found{}
}

func (k *book) allows(t ledger.Transition, w waived) bool {
	if t.Create != nil && k.booking(t.Create.ID) != nil {
		return false
	}
	if c := t.Update; c != nil {
		if b := k.booking(c.ID); b == nil || !c.Allows(*b) {
			return false
		}
	}
	if l := t.Link; l != nil {
		if b := k.booking(l.BookingID); b == nil || !l.Allows(*b) {
			return false
		}
	}
	if !w.ownership && (!k.owned(t.Claim, true) || !k.owned(t.Free, false)) {
		return false
	}
	return t.Payment == nil || w.payment || t.Payment.Allows(k.payment(t.Payment.Key))
}

// owned reports whether candidate and seats are the booking's, or nobody's
// where that will do.
func (k *book) owned(o *ledger.Ownership, free bool) bool {
	if o == nil {
		return true
	}
	is := func(owner string) bool { return owner == o.BookingID || owner == "" && free }
	holds := is(k.claims[o.Candidate])
	for _, s := range o.Tokens {
		holds = holds && is(k.seats[s])
	}
	return holds
}

func (k *book) found(t ledger.Transition) ledger.Found {
	f := ledger.Found{Seats: map[string]string{}}
	if t.Create != nil || t.Update != nil {
		f.Booking = k.booking(t.BookingID())
	}
	if t.Link != nil {
		f.Linked = k.booking(t.Link.BookingID)
	}
	for _, o := range []*ledger.Ownership{t.Claim, t.Free} {
		if o == nil {
			continue
		}
		f.Candidate = k.claims[o.Candidate]
		for _, s := range o.Tokens {
			if owner := k.seats[s]; owner != "" {
				f.Seats[s] = owner
			}
		}
	}
	if t.Payment != nil {
		f.Payment = k.payment(t.Payment.Key)
	}
	return f
}

func (k *book) booking(id string) *ledger.Booking {
	if b, ok := k.bookings[id]; ok {
		return &b
	}
	return nil
}

func (k *book) payment(p ledger.PaymentKey) *ledger.PaymentRecord {
	if r, ok := k.payments[p]; ok {
		return &r
	}
	return nil
}

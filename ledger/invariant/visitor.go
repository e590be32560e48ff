package invariant

import (
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// New returns a snapshot of a sale of which nothing is known but its plan.
func New(plan sale.Sale) *Snapshot {
	return &Snapshot{
		Plan: plan, Bookings: map[string]ledger.Booking{}, Claims: map[string]string{}, SeatOwners: map[string]string{},
		Payments: map[ledger.PaymentKey]ledger.PaymentRecord{},
	}
}

// Visitor fills the ledger's half of the snapshot from a Scan.
func (s *Snapshot) Visitor() ledger.Visitor {
	return ledger.Visitor{
		Booking:   func(b ledger.Booking) error { s.Bookings[b.ID] = b; return nil },
		Candidate: func(candidate, id string) error { s.Claims[candidate] = id; return nil },
		Seat:      func(token, id string) error { s.SeatOwners[token] = id; return nil },
		Payment:   func(p ledger.PaymentRecord) error { s.Payments[p.Key] = p; return nil },
	}
}

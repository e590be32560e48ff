package ledgertest

import (
	"context"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// Scan implements ledger.Store: in memory it happens to be a snapshot. The
// visitor may call the store.
func (s *Store) Scan(ctx context.Context, saleID string, v ledger.Visitor) error {
	var bookings []ledger.Booking
	var payments []ledger.PaymentRecord
	var claims, seats []pair
	var roster []ledger.RosterRow
	err := s.do(ctx, "Scan", func() error {
		for _, id := range slices.Sorted(maps.Keys(s.bookings)) {
			if b := s.bookings[id]; b.Sale == saleID {
				bookings = append(bookings, b.Clone())
			}
		}
		for _, p := range s.payments {
			if p.Sale == saleID {
				payments = append(payments, p)
			}
		}
		for k, r := range s.roster {
			if k.sale == saleID {
				roster = append(roster, cloneRow(r))
			}
		}
		claims, seats = pairs(s.claims, saleID), pairs(s.seats, saleID)
		return nil
	})
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return visit(v.Booking, bookings) },
		func() error { return visitPairs(v.Candidate, claims) },
		func() error { return visitPairs(v.Seat, seats) },
		func() error { return visit(v.Payment, payments) },
		func() error { return visit(v.Roster, roster) },
	}
	return visit(func(step func() error) error { return step() }, steps)
}

type pair struct{ name, bookingID string }

func pairs(of map[owned]string, saleID string) []pair {
	var all []pair
	for k, id := range of {
		if k.sale == saleID {
			all = append(all, pair{k.name, id})
		}
	}
	return all
}

func visitPairs(each func(name, bookingID string) error, all []pair) error {
	if each == nil {
		return nil
	}
	return visit(func(p pair) error { return each(p.name, p.bookingID) }, all)
}

func cloneRow(r ledger.RosterRow) ledger.RosterRow {
	r.Levels = slices.Clone(r.Levels)
	return r
}

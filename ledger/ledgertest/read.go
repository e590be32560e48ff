package ledgertest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Booking implements ledger.Store.
func (s *Store) Booking(ctx context.Context, bookingID string) (b ledger.Booking, err error) {
	err = s.do(ctx, "Booking", func() error {
		found := s.booking(bookingID)
		if found == nil {
			return ledger.ErrNotFound
		}
		b = *found
		return nil
	})
	return b, err
}

// Payment implements ledger.Store.
func (s *Store) Payment(ctx context.Context, k ledger.PaymentKey) (p ledger.PaymentRecord, err error) {
	err = s.do(ctx, "Payment", func() error {
		found := s.payment(k)
		if found == nil {
			return ledger.ErrNotFound
		}
		p = *found
		return nil
	})
	return p, err
}

// CandidateBooking implements ledger.Store.
func (s *Store) CandidateBooking(ctx context.Context, saleID, candidate string) (string, error) {
	return s.owner(ctx, "CandidateBooking", s.claims, owned{saleID, candidate})
}

// SeatBooking implements ledger.Store.
func (s *Store) SeatBooking(ctx context.Context, saleID, token string) (string, error) {
	return s.owner(ctx, "SeatBooking", s.seats, owned{saleID, token})
}

func (s *Store) owner(ctx context.Context, op string, in map[owned]string, k owned) (id string, err error) {
	err = s.do(ctx, op, func() error {
		id = in[k]
		if id == "" {
			return ledger.ErrNotFound
		}
		return nil
	})
	return id, err
}

// DueHolds implements ledger.Store; oldest first.
func (s *Store) DueHolds(ctx context.Context, saleID string, cut time.Time, each func(string) error) error {
	return s.propose(ctx, "DueHolds", each, func(b ledger.Booking) (time.Time, bool) {
		return b.HoldUntil, b.Sale == saleID && b.State == ledger.Held && !b.HoldUntil.After(cut)
	})
}

// OwedUndos implements ledger.Store; oldest first.
func (s *Store) OwedUndos(ctx context.Context, saleID string, each func(string) error) error {
	return s.propose(ctx, "OwedUndos", each, func(b ledger.Booking) (time.Time, bool) {
		return b.ReleasedAt, b.Sale == saleID && b.UndoOwed
	})
}

// propose lists ids first, so that each may call the store.
func (s *Store) propose(ctx context.Context, op string, each func(string) error, due func(ledger.Booking) (time.Time, bool)) error {
	var ids []string
	err := s.do(ctx, op, func() error {
		at := map[string]time.Time{}
		for id, b := range s.bookings {
			if t, ok := due(b); ok {
				at[id] = t
			}
		}
		ids = slices.SortedFunc(maps.Keys(at), func(a, b string) int { return cmp.Or(at[a].Compare(at[b]), cmp.Compare(a, b)) })
		return nil
	})
	if err != nil {
		return err
	}
	return visit(each, ids)
}

// DueRefunds implements ledger.Store; in the order of the payments' names.
func (s *Store) DueRefunds(ctx context.Context, saleID string, each func(ledger.PaymentKey) error) error {
	var due []ledger.PaymentKey
	err := s.do(ctx, "DueRefunds", func() error {
		for k, p := range s.payments {
			if p.Sale == saleID && (p.Refund == ledger.RefundDue || p.Refund == ledger.RefundSent) {
				due = append(due, k)
			}
		}
		slices.SortFunc(due, func(a, b ledger.PaymentKey) int { return cmp.Compare(a.String(), b.String()) })
		return nil
	})
	if err != nil {
		return err
	}
	return visit(each, due)
}

func visit[T any](each func(T) error, all []T) error {
	if each == nil {
		return nil
	}
	for _, v := range all {
		if err := each(v); err != nil {
			return err
		}
	}
	return nil
}

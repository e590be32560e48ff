package redis

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/admission"
)

// ScanSeats walks the seat map: every token that somebody holds, with the
// booking that does. Pages may repeat an element; an error means that the walk
// is incomplete.
func (s *Store) ScanSeats(ctx context.Context, sale string, each func(token, bookingID string) error) error {
	return s.scanPairs(ctx, sale, saleKeys(sale).seat(), each)
}

// ScanCandidates walks the admitted set: every candidate who holds a booking,
// with its id. Pages may repeat an element; an error means that the walk is
// incomplete.
func (s *Store) ScanCandidates(ctx context.Context, sale string, each func(candidate, bookingID string) error) error {
	return s.scanPairs(ctx, sale, saleKeys(sale).seen(), each)
}

func (s *Store) scanPairs(ctx context.Context, sale, key string, each func(field, value string) error) error {
	if !word(sale, maxName) {
		return fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	return s.scan(ctx, key, func(pairs []string) error {
		for i := 0; i+1 < len(pairs); i += 2 {
			if err := each(pairs[i], pairs[i+1]); err != nil {
				return err
			}
		}
		return nil
	})
}

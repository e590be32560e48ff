package redis

import (
	"context"
	"errors"
	"strings"

	"github.com/holdfast/holdfast/admission"
)

// keepPages notes the payments' pages of a sale whose keys are about to be built
// anew, and returns what forgets them. The ledger does not have them, and whoever
// holds a seat still has to pay. They are a convenience: what Redis has lost, or
// an install that fails half-way, is answered without.
func (s *Store) keepPages(ctx context.Context, saleID string) (forget func(), err error) {
	pages, k := map[string]string{}, saleKeys(saleID)
	if err := s.checkLayout(ctx, k); errors.Is(err, admission.ErrLayout) {
		return func() {}, nil // where they are there, this build does not know
	} else if err != nil {
		return nil, err
	}
	for _, key := range []string{k.pending(), k.bk()} {
		err := s.scan(ctx, k, key, func(pairs []string) error {
			for i := 0; i+1 < len(pairs); i += 2 {
				if f := strings.SplitN(pairs[i+1], "|", 6); len(f) == 6 && strings.Contains(f[4], " ") {
					pages[strings.Clone(pairs[i])] = strings.Clone(f[4])
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	s.setPages(saleID, pages)
	return func() { s.setPages(saleID, nil) }, nil
}

func (s *Store) setPages(saleID string, pages map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pages == nil {
		delete(s.kept, saleID)
		return
	}
	s.kept[saleID] = pages
}

// paged is the id of r's payment as its record carries it: with the page that was
// kept for this very payment, while it is still to be paid.
func (s *Store) paged(saleID string, r *admission.Record) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.kept[saleID][r.BookingID]
	if r.Stage == admission.StageAttached && strings.HasPrefix(kept, r.PaymentID+" ") {
		return kept
	}
	return r.PaymentID
}

package ledgertest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

var _ ledger.MinuteStore = (*Store)(nil)

// PutMinute implements ledger.MinuteStore.
func (s *Store) PutMinute(ctx context.Context, saleID string, m ledger.Minute) error {
	return s.do(ctx, "PutMinute", func() error {
		m.At, m.Answers = ledger.Instant(m.At), maps.Clone(m.Answers)
		all := slices.DeleteFunc(s.minutes[saleID], func(o ledger.Minute) bool { return o.At.Equal(m.At) && o.Process == m.Process })
		s.minutes[saleID] = append(all, m)
		return nil
	})
}

// Minutes implements ledger.MinuteStore.
func (s *Store) Minutes(ctx context.Context, saleID string, since time.Time, each func(ledger.Minute) error) error {
	var all []ledger.Minute
	err := s.do(ctx, "Minutes", func() error {
		for _, m := range s.minutes[saleID] {
			if !m.At.Before(since) {
				m.Answers = maps.Clone(m.Answers)
				all = append(all, m)
			}
		}
		slices.SortFunc(all, func(a, b ledger.Minute) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Process, b.Process))
		})
		return nil
	})
	if err != nil {
		return err
	}
	return visit(each, all)
}

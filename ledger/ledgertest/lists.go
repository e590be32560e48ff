package ledgertest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// PutRoster implements ledger.RosterStore.
func (s *Store) PutRoster(ctx context.Context, saleID string, rows []ledger.RosterRow) error {
	return s.do(ctx, "PutRoster", func() error {
		for _, r := range rows {
			s.roster[owned{saleID, r.Candidate}] = cloneRow(r)
		}
		return nil
	})
}

// DropRoster implements ledger.RosterStore.
func (s *Store) DropRoster(ctx context.Context, saleID string, candidates []string) error {
	return s.do(ctx, "DropRoster", func() error {
		for _, c := range candidates {
			delete(s.roster, owned{saleID, c})
		}
		return nil
	})
}

// PutStatus implements ledger.StatusStore.
func (s *Store) PutStatus(ctx context.Context, saleID string, epoch, n int64, doc []byte) error {
	return s.do(ctx, "PutStatus", func() error {
		last, ok := s.status[saleID]
		if ok && cmp.Or(cmp.Compare(last.epoch, epoch), cmp.Compare(last.n, n)) >= 0 {
			return ledger.ErrStale
		}
		s.status[saleID] = statusDoc{epoch, n, slices.Clone(doc)}
		return nil
	})
}

// StatusDoc implements ledger.StatusStore.
func (s *Store) StatusDoc(ctx context.Context, saleID string) (doc []byte, epoch, n int64, err error) {
	err = s.do(ctx, "StatusDoc", func() error {
		last, ok := s.status[saleID]
		if !ok {
			return ledger.ErrNotFound
		}
		doc, epoch, n = slices.Clone(last.doc), last.epoch, last.n
		return nil
	})
	return doc, epoch, n, err
}

// Park implements ledger.Inbox.
func (s *Store) Park(ctx context.Context, it ledger.InboxItem) error {
	return s.do(ctx, "Park", func() error {
		it.At, it.Done, it.DoneBy, it.DoneAt = ledger.Instant(it.At), false, "", time.Time{}
		s.inbox[owned{it.Sale, it.ID}] = it
		return nil
	})
}

// Parked implements ledger.Inbox; in the order of the ids.
func (s *Store) Parked(ctx context.Context, saleID string, each func(ledger.InboxItem) error) error {
	var all []ledger.InboxItem
	err := s.do(ctx, "Parked", func() error {
		for k, it := range s.inbox {
			if k.sale == saleID {
				all = append(all, it)
			}
		}
		slices.SortFunc(all, func(a, b ledger.InboxItem) int { return cmp.Compare(a.ID, b.ID) })
		return nil
	})
	if err != nil {
		return err
	}
	return visit(each, all)
}

// ResolveParked implements ledger.Inbox.
func (s *Store) ResolveParked(ctx context.Context, saleID, id string, actor ledger.Actor) error {
	return s.do(ctx, "ResolveParked", func() error {
		k := owned{saleID, id}
		it, ok := s.inbox[k]
		if !ok {
			return ledger.ErrNotFound
		}
		if !it.Done {
			it.Done, it.DoneBy, it.DoneAt = true, actor, ledger.Instant(s.now())
		}
		s.inbox[k] = it
		return nil
	})
}

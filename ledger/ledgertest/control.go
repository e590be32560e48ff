package ledgertest

import (
	"context"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// Sales implements ledger.ControlStore; in the order of their names.
func (s *Store) Sales(ctx context.Context) (ids []string, err error) {
	err = s.do(ctx, "Sales", func() error {
		ids = slices.Sorted(maps.Keys(s.controls))
		return nil
	})
	return ids, err
}

// Control implements ledger.ControlStore.
func (s *Store) Control(ctx context.Context, saleID string) (c ledger.Control, err error) {
	err = s.do(ctx, "Control", func() error {
		found, ok := s.controls[saleID]
		if !ok {
			return ledger.ErrNotFound
		}
		c = cloneControl(found)
		return nil
	})
	return c, err
}

// CreateControl implements ledger.ControlStore.
func (s *Store) CreateControl(ctx context.Context, c ledger.Control) error {
	return s.do(ctx, "CreateControl", func() error {
		if _, exists := s.controls[c.Sale]; exists {
			return ledger.ErrExists
		}
		c = cloneControl(c)
		c.Rev = 1
		s.controls[c.Sale] = c
		return nil
	})
}

// UpdateControl implements ledger.ControlStore. change runs under the store's
// lock and must not call the store.
func (s *Store) UpdateControl(ctx context.Context, saleID string, change func(*ledger.Control) error) (c ledger.Control, err error) {
	err = s.do(ctx, "UpdateControl", func() error {
		found, ok := s.controls[saleID]
		if !ok {
			return ledger.ErrNotFound
		}
		edited := cloneControl(found)
		if err := change(&edited); err != nil {
			return err
		}
		edited = cloneControl(edited)
		edited.Sale, edited.Rev = saleID, found.Rev+1
		s.controls[saleID] = edited
		c = cloneControl(edited)
		return nil
	})
	return c, err
}

// NoteSweep implements ledger.ControlStore.
func (s *Store) NoteSweep(ctx context.Context, saleID string, n ledger.SweepNote) error {
	return s.do(ctx, "NoteSweep", func() error {
		n = cloneNote(n)
		k := owned{saleID, n.Kind}
		if last, ok := s.notes[k]; !ok || !last.At.After(n.At) {
			s.notes[k] = n
		}
		return nil
	})
}

// LastSweep implements ledger.ControlStore.
func (s *Store) LastSweep(ctx context.Context, saleID, kind string) (n ledger.SweepNote, err error) {
	err = s.do(ctx, "LastSweep", func() error {
		found, ok := s.notes[owned{saleID, kind}]
		if !ok {
			return ledger.ErrNotFound
		}
		n = cloneNote(found)
		return nil
	})
	return n, err
}

// AppendAudit implements ledger.ControlStore.
func (s *Store) AppendAudit(ctx context.Context, saleID string, e ledger.AuditEntry) error {
	return s.do(ctx, "AppendAudit", func() error {
		e.At = ledger.Instant(e.At)
		if !slices.Contains(s.audits[saleID], e) {
			s.audits[saleID] = append(s.audits[saleID], e)
		}
		return nil
	})
}

// Audit implements ledger.ControlStore.
func (s *Store) Audit(ctx context.Context, saleID string, each func(ledger.AuditEntry) error) error {
	var all []ledger.AuditEntry
	err := s.do(ctx, "Audit", func() error {
		all = slices.Clone(s.audits[saleID])
		slices.SortStableFunc(all, func(a, b ledger.AuditEntry) int { return a.At.Compare(b.At) })
		return nil
	})
	if err != nil {
		return err
	}
	return visit(each, all)
}

func cloneControl(c ledger.Control) ledger.Control {
	c.RebuilderUntil = ledger.Instant(c.RebuilderUntil)
	c.Next = maps.Clone(c.Next)
	c.Plan.Levels = slices.Clone(c.Plan.Levels)
	if c.CapIntent != nil {
		intent := *c.CapIntent
		intent.At = ledger.Instant(intent.At)
		c.CapIntent = &intent
	}
	return c
}

func cloneNote(n ledger.SweepNote) ledger.SweepNote {
	n.At = ledger.Instant(n.At)
	n.Counts, n.Suspects = maps.Clone(n.Counts), slices.Clone(n.Suspects)
	return n
}

package reaper

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// rosterPage is how many rows are written at a time.
const rosterPage = 1000

// loadRoster makes the roster in Redis that of the ledger, rows first and the
// version last, as an import does (protocol.md 3.3, R#). Safe to repeat.
func (t *tools) loadRoster(ctx context.Context, c ledger.Control) error {
	rows, err := t.putRoster(ctx, c.Sale, nil)
	if err != nil {
		return err
	}
	var extra []string
	err = t.Redis.ScanRoster(ctx, c.Sale, func(e admission.RosterEntry) error {
		if !rows[e.Candidate] {
			extra = append(extra, e.Candidate)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: read the roster of sale %s in Redis: %w", c.Sale, err)
	}
	if err := t.Redis.DropRoster(ctx, c.Sale, extra); err != nil {
		return fmt.Errorf("reaper: drop roster rows of sale %s: %w", c.Sale, err)
	}
	return t.Redis.SetRosterVersion(ctx, c.Sale, c.Gen, c.RosterVersion)
}

// errImport: an import that broke off and was never repeated left other rows in
// the ledger than its count says. Redis has the rows; loading them again, and
// again, would change nothing.
var errImport = errors.New("an import of the roster broke off: repeat it")

// roster repairs the roster in Redis. A difference that is the ledger's own stays
// a finding, which alarms until an operator has repeated the import.
func (d *diff) roster(ctx context.Context, c ledger.Control) error {
	if d.status.RosterVersion != c.RosterVersion {
		return d.loadRoster(ctx, c)
	}
	rows := 0
	err := d.store.Scan(ctx, c.Sale, ledger.Visitor{Roster: func(ledger.RosterRow) error { rows++; return nil }})
	if err != nil {
		return fmt.Errorf("reaper: count the roster of sale %s: %w", c.Sale, err)
	}
	if rows == d.status.RosterSize {
		return fmt.Errorf("reaper: the ledger has %d rows and counts %d: %w", rows, c.RosterSize, errImport)
	}
	return d.loadRoster(ctx, c)
}

// putRoster copies the ledger's rows into Redis and returns whose they are.
// page, if set, hears of each page and may stop the walk.
func (t *tools) putRoster(ctx context.Context, saleID string, page func(rows int) error) (map[string]bool, error) {
	all := map[string]bool{}
	var batch []admission.RosterEntry
	flush := func() error {
		if err := t.Redis.PutRoster(ctx, saleID, batch); err != nil {
			return err
		}
		batch = batch[:0]
		if page != nil {
			return page(len(all))
		}
		return nil
	}
	err := t.store.Scan(ctx, saleID, ledger.Visitor{Roster: func(r ledger.RosterRow) error {
		all[r.Candidate] = true
		if batch = append(batch, admission.RosterEntry(r)); len(batch) < rosterPage {
			return nil
		}
		return flush()
	}})
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	if err != nil {
		return nil, fmt.Errorf("reaper: load the roster of sale %s: %w", saleID, err)
	}
	return all, nil
}

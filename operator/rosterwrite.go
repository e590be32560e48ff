package operator

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// settled reports whether ledger and Redis have all of it already.
func (im *rosterImport) settled(ctx context.Context) bool {
	for _, k := range im.known {
		if k.ledger != k.file || k.redis != k.file {
			return false
		}
	}
	c := im.control
	live, err := im.desk.Redis.Status(ctx, c.Sale, nil)
	return err == nil && c.RosterVersion == im.result.Version && c.RosterSize == im.result.Size && live.RosterVersion == im.result.Version
}

// write reads the file again and writes the rows that ledger or Redis lack.
func (im *rosterImport) write(ctx context.Context, rows Rows) error {
	var batch []ledger.RosterRow
	done := 0
	err := im.each(ctx, rows, func(r ledger.RosterRow) error {
		k := im.known[r.Candidate]
		if k == nil || k.file != sumOf(r) {
			return errFileChanged
		}
		if done++; done%tick == 0 {
			im.progress(Progress{PhaseWrite, done, im.named})
		}
		if k.ledger == k.file && k.redis == k.file {
			return nil
		}
		if batch = append(batch, r); len(batch) < im.desk.rosterBatch() {
			return nil
		}
		err := im.put(ctx, batch)
		batch = batch[:0]
		return err
	})
	if err == nil && done != im.named {
		err = errFileChanged
	}
	if err != nil {
		return err
	}
	if err := im.put(ctx, batch); err != nil {
		return err
	}
	im.progress(Progress{PhaseWrite, done, im.named})
	if im.options.Add {
		return im.mendRedis(ctx)
	}
	return nil
}

// put writes rows to the ledger, then to Redis.
func (im *rosterImport) put(ctx context.Context, rows []ledger.RosterRow) error {
	if len(rows) == 0 {
		return nil
	}
	id := im.control.Sale
	if err := im.desk.Store.PutRoster(ctx, id, rows); err != nil {
		return fmt.Errorf("operator: write the roster of sale %s to the ledger (import the file again): %w", id, err)
	}
	entries := make([]admission.RosterEntry, len(rows))
	for i, r := range rows {
		entries[i] = admission.RosterEntry(r)
	}
	if err := im.desk.Redis.PutRoster(ctx, id, entries); err != nil {
		return fmt.Errorf("operator: write the roster of sale %s to Redis (import the file again): %w", id, err)
	}
	im.result.Written += len(rows)
	return nil
}

// mendRedis brings rows that stay and that the file does not name into Redis,
// where a crash of an earlier import left them out.
func (im *rosterImport) mendRedis(ctx context.Context) error {
	for _, k := range im.known {
		if k.file == k.ledger && k.redis != k.file {
			return im.desk.loadRoster(ctx, im.control.Sale)
		}
	}
	return nil
}

// remove takes out who is not on the roster any more, the ledger first.
func (im *rosterImport) remove(ctx context.Context) error {
	var none rowSum
	var gone []string
	for candidate, k := range im.known {
		if k.file == none {
			gone = append(gone, candidate)
		}
	}
	id, done := im.control.Sale, 0
	for batch := range slices.Chunk(gone, im.desk.rosterBatch()) {
		if err := im.desk.Store.DropRoster(ctx, id, batch); err != nil {
			return fmt.Errorf("operator: cut the roster of sale %s in the ledger (import the file again): %w", id, err)
		}
		if err := im.desk.Redis.DropRoster(ctx, id, batch); err != nil {
			return fmt.Errorf("operator: cut the roster of sale %s in Redis (import the file again): %w", id, err)
		}
		done += len(batch)
		im.progress(Progress{PhaseRemove, done, len(gone)})
	}
	return nil
}

// publish raises the version, in the ledger and then in Redis: from here on
// every process trusts the new roster.
func (im *rosterImport) publish(ctx context.Context) error {
	c, r := im.control, im.result
	_, err := im.desk.updateControl(ctx, c.Sale, func(now *ledger.Control) error {
		if now.RosterVersion != c.RosterVersion && now.RosterVersion != r.Version {
			return refuse(CodeTooManyChanges, nil, "another import of the roster of sale %s ended meanwhile: import the file again", c.Sale)
		}
		now.RosterVersion, now.RosterSize = r.Version, r.Size
		return nil
	})
	if err != nil {
		return err
	}
	err = acknowledged(ctx, func() error { return im.desk.Redis.SetRosterVersion(ctx, c.Sale, c.Gen, r.Version) })
	if err != nil {
		return fmt.Errorf("operator: raise the roster version of sale %s in Redis (import the file again): %w", c.Sale, err)
	}
	return nil
}

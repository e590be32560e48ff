package reaper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// Differ compares Redis with the ledger by id and repairs what it can prove
// (protocol.md 3.8, sweep 5). No proof needs a clock or a snapshot.
type Differ struct{ *tools }

// diff is one run.
type diff struct {
	*tools
	apply    bool
	control  ledger.Control
	status   admission.Status
	before   []string // suspects of the last run
	findings *findings
	pool     *pool
}

// held is what the diff keeps of a record while it compares.
type held struct {
	candidate, level string
	stage            admission.Stage
	pending          bool
	seats            int
	until            time.Time
}

// Diff runs one comparison, repairs, and leaves a note of it. What it can't
// explain is a suspect, and an alarm only if the same id was a suspect of the
// last run. It gives up, with nothing concluded and no note, on any read that
// stays partial. Safe to run any number at once.
func (d *Differ) Diff(ctx context.Context, saleID string) (DiffResult, error) {
	r, err := d.diff(ctx, saleID, true)
	d.Metrics.Diffed(r, err)
	return r, err
}

func (d *Differ) diff(ctx context.Context, saleID string, apply bool) (DiffResult, error) {
	r := DiffResult{Sale: saleID, At: d.now(), DryRun: !apply, Replication: ReplicationSame}
	w, err := d.see(ctx, saleID, apply)
	if err != nil {
		return r, err
	}
	r.Frozen, r.Replication = w.control.Frozen, w.finding
	if r.Frozen || w.status.Gen == 0 {
		return r, nil // being rebuilt, or applied for the first time
	}
	run := &diff{tools: d.tools, apply: apply, control: w.control, status: w.status, findings: newFindings(), pool: d.pool()}
	if run.before, err = d.suspects(ctx, saleID); err != nil {
		return r, err
	}
	if err := run.compare(ctx, &r); err != nil {
		return r, err
	}
	run.findings.into(&r, run.before)
	r.Took = d.now().Sub(r.At)
	if !apply {
		return r, nil
	}
	for _, s := range r.Alarmed {
		d.alarm(AlarmDrift, saleID, idOf(s), "in two runs of the diff: "+s)
	}
	if err := d.store.NoteSweep(ctx, saleID, r.note()); err != nil {
		return r, fmt.Errorf("reaper: leave a note of the diff of sale %s: %w", saleID, err)
	}
	return r, nil
}

// see watches the replication id; a dry run only reads.
func (d *Differ) see(ctx context.Context, saleID string, apply bool) (w watched, err error) {
	if apply {
		return d.watch(ctx, saleID)
	}
	w.finding = ReplicationSame
	if w.control, err = d.store.Control(ctx, saleID); err != nil {
		return w, fmt.Errorf("reaper: read the control item of sale %s: %w", saleID, err)
	}
	w.status, err = d.Redis.Status(ctx, saleID, w.control.Plan.LevelNames())
	if errors.Is(err, admission.ErrNotFound) {
		return w, nil
	}
	return w, err
}

// suspects are those of the last run.
func (d *Differ) suspects(ctx context.Context, saleID string) ([]string, error) {
	n, err := d.store.LastSweep(ctx, saleID, NoteDiff)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reaper: read the note of the last diff of sale %s: %w", saleID, err)
	}
	return n.Suspects, nil
}

// compare reads Redis first and the ledger second. So a record that is not
// pending was in the ledger before the scan of the ledger began (INV4), and the
// scan must show it; and what the scan shows as live but Redis did not is only
// a candidate for the sandwich.
func (d *diff) compare(ctx context.Context, r *DiffResult) error {
	records, err := d.records(ctx)
	if err != nil {
		return err
	}
	r.Records = len(records)
	if err := d.paid(ctx, records); err != nil {
		return err
	}
	missing, err := d.ledger(ctx, records, r)
	if err != nil {
		return err
	}
	d.config(ctx)
	unexplained := make([]string, 0, len(records))
	for id, h := range records {
		if !h.pending || h.stage == admission.StageSoft {
			unexplained = append(unexplained, id)
		}
	}
	left := each(ctx, d.pool, unexplained, func(ctx context.Context, id string) { d.explain(ctx, id, records[id]) })
	left += d.restoreAll(ctx, missing)
	if left > 0 {
		return fmt.Errorf("reaper: the diff of sale %s was cut short with %d bookings left: %w", d.control.Sale, left, ctx.Err())
	}
	return nil
}

// records is every booking in Redis. A repeat of the scan is the same booking.
func (d *diff) records(ctx context.Context) (map[string]held, error) {
	records := map[string]held{}
	err := d.Redis.ScanRecords(ctx, d.control.Sale, func(r admission.Record, pending bool) error {
		// The strings are cut out of whole pages; keeping them would keep the pages.
		records[strings.Clone(r.BookingID)] = held{strings.Clone(r.Candidate), strings.Clone(r.Level), r.Stage, pending, len(r.Tokens), r.HoldUntil}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reaper: the diff of sale %s read Redis only in part: %w", d.control.Sale, err)
	}
	return records, nil
}

// ledger walks the bookings, crosses off the records that are live, and returns
// the live ones that had none.
func (d *diff) ledger(ctx context.Context, records map[string]held, r *DiffResult) (missing []string, err error) {
	err = d.store.Scan(ctx, d.control.Sale, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if !b.State.Live() {
			return nil
		}
		r.Live++
		if _, ok := records[b.ID]; ok {
			delete(records, b.ID)
			return nil
		}
		missing = append(missing, b.ID)
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("reaper: the diff of sale %s read the ledger only in part: %w", d.control.Sale, err)
	}
	if len(missing) == 0 {
		return nil, nil
	}
	// The second slice of the sandwich: Redis, after the ledger said live.
	missing, err = d.Redis.Missing(ctx, d.control.Sale, slices.Compact(slices.Sorted(slices.Values(missing))))
	if err != nil {
		return nil, fmt.Errorf("reaper: the diff of sale %s read Redis only in part: %w", d.control.Sale, err)
	}
	return missing, nil
}

func (d *diff) failed(ctx context.Context, what, id string, err error) {
	if d.findings.fail() > maxLogged {
		return
	}
	d.log.WarnContext(ctx, "diff: "+what+" failed, the next diff tries again", "sale", d.control.Sale, "id", id, "err", err)
}

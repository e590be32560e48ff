package reaper

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// restoreAll puts back what Redis lost; one after the other where they meet in
// a level costs nothing, and conflicts among them are then understood.
func (d *diff) restoreAll(ctx context.Context, missing []string) (left int) {
	return each(ctx, d.pool, missing, d.restore)
}

// restore is the last slice of the sandwich (protocol.md 3.8.5b): the ledger
// said live, Redis said missing, and the ledger still says live. RELEASED is
// terminal, so it was live in between, and by R1 Redis must have held it: real
// loss.
func (d *diff) restore(ctx context.Context, id string) {
	b, err := d.store.Booking(ctx, id)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		d.failed(ctx, "read a lost booking", id, err)
		return
	}
	if err != nil || !b.State.Live() {
		return // released since: nothing was lost
	}
	if !d.apply {
		d.findings.found(KindLost, id, false)
		return
	}
	kind, repaired, err := d.reseed(ctx, b)
	if err != nil {
		d.failed(ctx, "reseed a lost booking", id, err)
	}
	d.findings.found(kind, id, repaired)
}

// reseed is S4. Whoever holds the candidate or a seat is reconciled first, each
// at most once: a booking has at most one candidate and ten seats.
func (d *diff) reseed(ctx context.Context, b ledger.Booking) (Kind, bool, error) {
	reconciled := map[string]bool{}
	for {
		a, err := d.Redis.Reseed(ctx, b.Sale, lifecycle.RecordOf(b))
		if err != nil {
			return KindLost, false, err
		}
		d.Steps.Notify(b.Sale, a.Version)
		switch a.Outcome {
		case admission.Reseeded, admission.ReseedHave:
			return KindLost, true, nil
		case admission.ReseedCandidate, admission.ReseedSeat:
			if reconciled[a.Other] {
				return KindConflict, false, nil
			}
			reconciled[a.Other] = true
			ended, err := d.reconcile(ctx, b.Sale, a.Other)
			if err != nil || !ended {
				return KindConflict, false, err
			}
		case admission.ReseedNoFree, admission.ReseedDead:
			return KindNoSeat, false, nil
		case admission.ReseedCorrupt:
			return KindCounts, false, nil
		default:
			return KindLost, false, fmt.Errorf("reaper: unexpected reseed outcome %d", a.Outcome)
		}
	}
}

// reconcile ends the booking x that stands where a live booking of the ledger
// belongs: it was admitted by a Redis that had lost that one. The ledger decides
// (T4): if it does not have x, x can never become live, because C or S belong
// to the other. What was paid for x ends as a seat or a refund (3.7).
func (d *diff) reconcile(ctx context.Context, saleID, x string) (ended bool, err error) {
	found, err := d.store.Booking(ctx, x)
	switch {
	case err == nil && found.State.Live():
		d.alarm(lifecycle.AlarmConflict, saleID, x, "live in the ledger, and holds in Redis what another live booking owns there: run the audit")
		return false, nil
	case err == nil:
		return true, d.Steps.GiveBack(ctx, found)
	case !errors.Is(err, ledger.ErrNotFound):
		return false, err
	}
	r, err := d.Redis.Record(ctx, saleID, x)
	if errors.Is(err, admission.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	b := lifecycle.BookingFromRecord(saleID, r)
	out, err := d.Steps.Withdraw(ctx, b, ledger.ReasonConflict, Actor, admission.UndoRelease)
	if err != nil || out == lifecycle.WithdrawLive {
		return false, err
	}
	// The page of x must not take money any more; money it has taken is queued.
	// That this fails changes nothing here: whoever pays late meets the tombstone.
	if _, err := d.Steps.ReportCapture(ctx, b); err != nil {
		d.log.WarnContext(ctx, "payment of a withdrawn booking not resolved, a late payment would be", "sale", saleID, "booking_id", x, "err", err)
	}
	return true, nil
}

package reaper

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// softGrace is for how long a soft hold past its deadline is left to those who
// free it on their way (section 4).
const softGrace = time.Minute

// explain looks into a booking that Redis holds, that has no pending entry and
// that the scan did not show as live (protocol.md 3.8.5a).
func (d *diff) explain(ctx context.Context, id string, h held) {
	if h.stage == admission.StageSoft {
		d.soft(ctx, id, h)
		return
	}
	b, err := d.store.Booking(ctx, id)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		d.unknown(ctx, id)
	case err != nil:
		d.failed(ctx, "read a booking", id, err)
	case b.State == ledger.Released:
		d.released(ctx, b)
	}
}

// released repeats an undo that a failover lost. That the ledger had the booking
// as RELEASED before Redis still showed it is all the proof it takes: RELEASED
// is terminal, and S2 takes only what is this booking's.
func (d *diff) released(ctx context.Context, b ledger.Booking) {
	if there, err := d.there(ctx, b.ID); err != nil || !there {
		if err != nil {
			d.failed(ctx, "look for a released booking", b.ID, err)
		}
		return
	}
	if b.UndoOwed { // the sweep's; no drift
		return
	}
	if !d.apply {
		d.findings.found(KindUndoLost, b.ID, false)
		return
	}
	err := d.Steps.GiveBack(ctx, b)
	d.findings.found(KindUndoLost, b.ID, err == nil)
	if err != nil {
		d.failed(ctx, "give seats back", b.ID, err)
	}
}

// unknown: the record was there without a pending entry, and the ledger has
// never seen it. A look at Redis after the ledger drops those that are gone.
func (d *diff) unknown(ctx context.Context, id string) {
	there, err := d.there(ctx, id)
	if err != nil {
		d.failed(ctx, "look for an unknown booking", id, err)
	} else if there {
		d.findings.found(KindUnknown, id, false)
	}
}

func (d *diff) there(ctx context.Context, id string) (bool, error) {
	_, err := d.Redis.Record(ctx, d.control.Sale, id)
	if errors.Is(err, admission.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// soft gives back a soft hold that nobody freed on the way. A quick undo with no
// driver takes it only while it is still soft: one that was promoted meanwhile
// answers SUPERSEDED or ARMED.
func (d *diff) soft(ctx context.Context, id string, h held) {
	if d.status.Now.Sub(h.until) <= softGrace {
		return
	}
	if !d.apply {
		d.findings.found(KindSoft, id, false)
		return
	}
	a, err := d.Redis.Undo(ctx, admission.Undo{Sale: d.control.Sale, BookingID: id, Candidate: h.candidate, Level: h.level, Mode: admission.UndoQuick})
	if err != nil {
		d.failed(ctx, "give a soft hold back", id, err)
		return
	}
	d.Steps.Notify(d.control.Sale, a.Version)
	if a.Outcome == admission.Undone {
		d.findings.found(KindSoft, id, true)
	}
}

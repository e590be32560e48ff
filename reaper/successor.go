package reaper

import (
	"context"
	"errors"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// shorter reports whether the primary took up a history that ends before what
// every replica was seen to have.
func (p past) shorter(h admission.Health) bool {
	return p.offset > 0 && h.PreviousOffset <= p.offset
}

// successor reports whether the primary took up the history of another one at
// all. One that was started from an append-only file, or empty, did not: its id
// of a predecessor is empty or all zeros.
func successor(h admission.Health) bool { return strings.Trim(h.PreviousReplication, "0") != "" }

// moveMark moves the mark of the primary that is known. If it has none that fits,
// others were faster, or the ledger is not what it was (restored from a backup):
// then no mark is noted any more, and the next failover freezes the sale.
func (t *tools) moveMark(ctx context.Context, c ledger.Control, known past, h admission.Health) error {
	a, err := t.mark(ctx, c, known)
	if err != nil || a.Mark != "" {
		return errors.Join(err, t.noteMark(ctx, c.Sale, a, h))
	}
	if now, err := t.past(ctx, c); err != nil || now.mark != known.mark {
		return err
	}
	t.log.WarnContext(ctx, "Redis has not the mark that the ledger knows: rebuild the sale when it suits, or the next failover freezes it", "sale", c.Sale)
	return nil
}

// changed takes a primary in that is not the one last seen, if it has what the
// ledger knows of its past: the last mark, or one that follows it. The ledger is
// read again behind the answer, so that neither a mark that others have moved on
// nor a reaper that slept decides: what was the last mark before and after was
// the last one when Redis answered.
func (t *tools) changed(ctx context.Context, w watched, known past, h admission.Health) (watched, error) {
	a, err := t.mark(ctx, w.control, known)
	if err != nil {
		return w, err
	}
	now, err := t.past(ctx, w.control)
	switch {
	case err != nil:
		return w, err
	case now.mark != known.mark && now.mark != a.Mark:
		return w, errMoved
	case a.Mark == "" && w.finding == ReplicationFailover:
		return t.lost(ctx, w, h, "the primary lacks the last mark that every replica had: what was acknowledged is lost")
	}
	// The id first: whatever is noted of this primary, its id is known by then, so
	// that nobody measures it by its own offsets.
	if w, err = t.remember(ctx, w, h); err != nil {
		return w, err
	}
	return w, t.noteMark(ctx, w.control.Sale, a, h)
}

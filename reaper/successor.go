package reaper

import (
	"context"
	"errors"
	"fmt"
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

// errDeposed keeps whoever looked from working on with such a primary.
var errDeposed = errors.New("reaper: Redis answers as a primary without what the ledger knows of, and its replicas do not acknowledge: one that was deposed, if the next pass finds another")

// missing judges a primary that does not have the sale with its generation: it
// has lost what was acknowledged, and the sale is frozen, if its replicas
// acknowledge. Else it is most likely one that was deposed, or came back empty
// beside its successor (see changed). The mark asks both of one primary, on one
// connection: of several behind an address, no other one's replicas answer for it.
func (t *tools) missing(ctx context.Context, w watched, h admission.Health) (watched, error) {
	known, err := t.past(ctx, w.control)
	if err != nil {
		return w, err
	}
	a, err := t.Redis.SetMark(ctx, known.move(w.control, t.now()))
	switch {
	case err == nil:
		return w, errMoved // another primary answers by now
	case !errors.Is(err, admission.ErrStaleGen):
		return w, fmt.Errorf("reaper: ask whether anybody follows a Redis without sale %s: %w", w.control.Sale, err)
	case !a.Acknowledged:
		w.finding = ReplicationDeposed
		return w, errDeposed
	}
	return t.lost(ctx, w, h, "the sale is not in Redis with its generation")
}

// changed takes a primary in that is not the one last seen, if it is a successor.
// Ledger and primary are read again behind the mark, so that neither a mark that
// others have moved on nor a reaper that slept decides: what was the last mark
// before and after was the last one when Redis answered.
//
// One that is no successor has lost what was acknowledged, and the sale is frozen:
// unless its replicas do not acknowledge. Then it is most likely a primary that was
// deposed, and woke up beside its successor; and whatever it is, it can promise
// nothing (R4), so there is time for another look.
func (t *tools) changed(ctx context.Context, w watched, known past, h admission.Health) (watched, error) {
	a, err := t.mark(ctx, w.control, known)
	if err != nil {
		return w, err
	}
	again, err := t.Health.Health(ctx, w.control.Sale)
	if err != nil {
		return w, fmt.Errorf("reaper: ask Redis for its replication id: %w", err)
	}
	now, err := t.past(ctx, w.control)
	why := known.broken(w.control.ReplicationID, h, a)
	switch {
	case err != nil:
		return w, err
	case now.mark != known.mark && now.mark != a.Mark, again.ReplicationID != h.ReplicationID:
		return w, errMoved
	case why != "" && !a.Acknowledged:
		w.finding = ReplicationDeposed
		return w, errDeposed
	case why != "":
		return t.lost(ctx, w, h, why)
	}
	// The id first: whatever is noted of this primary, its id is known by then, so
	// that nobody measures it by its own offsets.
	if w, err = t.remember(ctx, w, h); err != nil {
		return w, err
	}
	return w, t.noteMark(ctx, w.control.Sale, a, h)
}

// broken says why a primary is no successor of the one last seen; "" if it is, or
// if none was seen.
func (p past) broken(last string, h admission.Health, a admission.MarkAnswer) string {
	switch {
	case last == "":
		return ""
	case p.shorter(h):
		return "the primary knows less than its replicas had acknowledged: it comes from an old snapshot"
	case last != h.PreviousReplication && (p.mark == "" || !successor(h)):
		return "the primary is neither the one last seen nor a replica of it"
	case a.Mark == "":
		return "the primary lacks the last mark that every replica had: what was acknowledged is lost"
	}
	return ""
}

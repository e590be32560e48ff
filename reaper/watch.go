package reaper

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// Replication is what the primary's replication id says of the data it holds
// (protocol.md 3.9, Redis lost).
type Replication string

// The findings of the watch.
const (
	ReplicationSame     Replication = "same"
	ReplicationFirst    Replication = "first"     // seen for the first time, and remembered
	ReplicationFailover Replication = "failover"  // a replica of what it was: diff at once
	ReplicationLost     Replication = "data_loss" // not what it was: frozen until rebuilt
	ReplicationDeposed  Replication = "deposed"   // not what it was, and no replica follows it: it can promise nothing
)

// NoteFailover is the kind of the sweep note that asks for a diff at once: it
// outlives the process that saw the failover. A diff younger than it has been done.
const NoteFailover = "failover"

// watched is one look at the sale in Redis.
type watched struct {
	control ledger.Control   // as it is after the watch
	status  admission.Status // zero if Redis does not know the sale
	finding Replication
}

// errMoved says that others went on while somebody looked.
var errMoved = errors.New("reaper: the sale moved on while it was looked at")

// watchTries bounds the looks of one watch.
const watchTries = 3

// watch compares the primary with what the ledger remembers, again if others went
// on meanwhile.
func (t *tools) watch(ctx context.Context, saleID string) (w watched, err error) {
	for range watchTries {
		if w, err = t.look(ctx, saleID); !errors.Is(err, errMoved) {
			break
		}
	}
	return w, err
}

// look compares the primary with what the control item remembers. A failover
// raises the epoch of status versions; lost data freezes the sale with gen + 1
// before anything else is done. The control item is read before Redis: a
// rebuild writes Redis first and unfreezes after, so what is not frozen must be
// in Redis with its generation, unless data was lost.
func (t *tools) look(ctx context.Context, saleID string) (w watched, err error) {
	if w.control, err = t.store.Control(ctx, saleID); err != nil {
		return w, fmt.Errorf("reaper: read the control item of sale %s: %w", saleID, err)
	}
	w.finding = ReplicationSame
	if w.control.Frozen {
		return w, nil
	}
	h, err := t.Health.Health(ctx, saleID)
	if err != nil {
		return w, fmt.Errorf("reaper: ask Redis for its replication id: %w", err)
	}
	w.status, err = t.Redis.Status(ctx, saleID, w.control.Plan.LevelNames())
	installed := err == nil
	if err != nil && !errors.Is(err, admission.ErrNotFound) {
		return w, fmt.Errorf("reaper: read the state of sale %s: %w", saleID, err)
	}
	last := w.control.ReplicationID
	switch {
	case last == "" && !installed:
		return w, nil // being applied for the first time
	case !installed || w.status.Gen < w.control.Gen:
		return t.missing(ctx, w, h)
	}
	known, err := t.past(ctx, w.control)
	if err != nil {
		return w, err
	}
	switch last {
	case "":
		w.finding = ReplicationFirst
	case h.ReplicationID:
		return w, t.moveMark(ctx, w.control, known, h)
	default:
		w.finding = ReplicationFailover
	}
	return t.changed(ctx, w, known, h)
}

// remember takes the new replication id down, unless somebody did so before.
func (t *tools) remember(ctx context.Context, w watched, h admission.Health) (watched, error) {
	saleID, last := w.control.Sale, w.control.ReplicationID
	first := false // of the reapers that see it
	c, err := t.store.UpdateControl(ctx, saleID, func(c *ledger.Control) error {
		if first = c.ReplicationID == last; first {
			c.ReplicationID = h.ReplicationID
			c.Epoch++
		}
		return nil
	})
	if err != nil {
		return w, fmt.Errorf("reaper: remember the replication id of sale %s: %w", saleID, err)
	}
	w.control = c
	if w.finding == ReplicationFailover {
		t.log.WarnContext(ctx, "failover of Redis", "sale", saleID, "epoch", c.Epoch)
		if first {
			t.incident(ctx, saleID, IncidentFailover, "a replica has become the primary of Redis", "", fmt.Sprintf("epoch %d", c.Epoch))
		}
		return w, t.askDiff(ctx, saleID)
	}
	return w, nil
}

// askDiff asks whoever keeps the schedule for a diff at once.
func (t *tools) askDiff(ctx context.Context, saleID string) error {
	if err := t.store.NoteSweep(ctx, saleID, ledger.SweepNote{Kind: NoteFailover, At: t.now()}); err != nil {
		return fmt.Errorf("reaper: ask for a diff of sale %s: %w", saleID, err)
	}
	return nil
}

// lost freezes the sale, unless somebody did so before, or has taken another
// primary in since this one was looked at: then there is something else to look at.
func (t *tools) lost(ctx context.Context, w watched, h admission.Health, why string) (watched, error) {
	before := w.control
	w.finding = ReplicationLost
	first := false // of the reapers that see it
	c, err := t.store.UpdateControl(ctx, before.Sale, func(c *ledger.Control) error {
		if first = !c.Frozen && c.Gen == before.Gen && c.ReplicationID == before.ReplicationID; !first {
			return nil
		}
		c.Gen++
		c.Epoch++
		c.Frozen, c.Rebuilder, c.ReplicationID = true, "", h.ReplicationID
		return nil
	})
	if err != nil {
		return w, fmt.Errorf("reaper: freeze sale %s, whose data Redis has lost: %w", before.Sale, err)
	}
	if w.control = c; !c.Frozen {
		return w, errMoved
	}
	t.alarm(AlarmDataLoss, before.Sale, "", why+": the sale is frozen, rebuild it")
	if first {
		t.incident(ctx, before.Sale, IncidentFrozen, why, fmt.Sprintf("generation %d", before.Gen), fmt.Sprintf("generation %d", c.Gen))
	}
	return w, nil
}

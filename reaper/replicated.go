package reaper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// NoteMark is the kind of the note that says what the ledger knows of the past of
// Redis: the last mark that every replica had, and how far they were then.
const NoteMark = "mark"

const countOffset = "offset"

// past is what the ledger knows of the history that Redis must have (protocol.md
// 3.9). A replica that was promoted has all of it, however many others were
// promoted in between; a primary that was started again from an old snapshot has
// an older mark, or none.
type past struct {
	mark   string    // "": none of this generation is known
	at     time.Time // its place in the order of marks
	offset int64     // that every replica had; 0: not known
}

// past reads what the ledger knows. Marks of older generations are of a Redis
// that is no more.
func (t *tools) past(ctx context.Context, c ledger.Control) (past, error) {
	n, err := t.store.LastSweep(ctx, c.Sale, NoteMark)
	if errors.Is(err, ledger.ErrNotFound) {
		return past{}, nil
	}
	if err != nil {
		return past{}, fmt.Errorf("reaper: read the last mark of sale %s: %w", c.Sale, err)
	}
	if gen, _, ok := splitMark(n.Mark); !ok || gen != c.Gen {
		return past{at: n.At}, nil
	}
	return past{n.Mark, n.At, int64(n.Counts[countOffset])}, nil
}

// next is a mark that follows. Its place in the order of marks is its own: one
// millisecond after the last one, whatever the clocks say, so that a reaper that
// slept can't put its note over those of others. The first one of a generation
// leaves room for a mark of the generation before, which may still be on its way
// to the ledger.
func (p past) next(gen int64, now time.Time) string {
	at := p.at.Add(time.Millisecond)
	if p.mark == "" {
		if at = at.Add(time.Millisecond); now.After(at) {
			at = now
		}
	}
	return fmt.Sprintf("%d-%d-%s", gen, at.UnixMilli(), rand.Text())
}

// move asks a primary to put the next mark in the place of this one.
func (p past) move(c ledger.Control, now time.Time) admission.Mark {
	return admission.Mark{Sale: c.Sale, Gen: c.Gen, Known: p.mark, Next: p.next(c.Gen, now)}
}

// splitMark reads a mark's generation and its place in the order.
func splitMark(mark string) (gen int64, at time.Time, ok bool) {
	parts := strings.SplitN(mark, "-", 3)
	if len(parts) != 3 {
		return 0, time.Time{}, false
	}
	gen, err := strconv.ParseInt(parts[0], 10, 64)
	ms, bad := strconv.ParseInt(parts[1], 10, 64)
	return gen, time.UnixMilli(ms).UTC(), err == nil && bad == nil
}

// mark moves the mark of Redis on. An answer without a mark says that the primary
// has neither the one that the ledger knows nor one that follows it.
func (t *tools) mark(ctx context.Context, c ledger.Control, p past) (admission.MarkAnswer, error) {
	a, err := t.Redis.SetMark(ctx, p.move(c, t.now()))
	switch {
	case errors.Is(err, admission.ErrStaleGen):
		return a, errMoved
	case err != nil:
		return a, fmt.Errorf("reaper: mark the history of sale %s in Redis: %w", c.Sale, err)
	}
	return a, nil
}

// noteMark takes down a mark that every replica has, and how far they are.
// Without an acknowledgement there is nothing to say and the last note stays.
func (t *tools) noteMark(ctx context.Context, saleID string, a admission.MarkAnswer, h admission.Health) error {
	if a.Mark == "" || !a.Acknowledged {
		return nil
	}
	_, at, ok := splitMark(a.Mark)
	if !ok {
		return fmt.Errorf("reaper: sale %s has the mark %q in Redis, which is none of ours", saleID, a.Mark)
	}
	n := ledger.SweepNote{Kind: NoteMark, At: at, Mark: a.Mark}
	if acked := h.Offset - h.ReplicaLagBytes; h.ConnectedReplicas > 0 && acked > 0 {
		n.Counts = map[string]int{countOffset: int(acked)}
	}
	if err := t.store.NoteSweep(ctx, saleID, n); err != nil {
		return fmt.Errorf("reaper: note the mark of sale %s: %w", saleID, err)
	}
	return nil
}

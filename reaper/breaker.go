package reaper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// breakerLimit is how many attached orphans at once are believed to be orphans
// (protocol.md 3.8).
func breakerLimit(totalCap int) int { return min(50, max(5, totalCap*2/100)) }

// breaker says why attached orphans may not be reaped now, or "". orphans are
// the entries that are over age and that the ledger does not have: those it has
// are merely settled, breaker or not.
func (t *tools) breaker(ctx context.Context, c ledger.Control, orphans int, messageMax time.Duration) (string, error) {
	if limit := breakerLimit(c.Plan.TotalCap); orphans > limit {
		return fmt.Sprintf("%d bookings with a payment are over age and not in the ledger, more than %d: their events may only be late", orphans, limit), nil
	}
	age, known, err := t.Ages.OldestMessage(ctx, c.Sale)
	if err != nil {
		return "", err
	}
	if known && age > messageMax {
		return fmt.Sprintf("messages in the queue are %v old, more than %v: bookings may only wait for their events", age.Round(time.Second), messageMax), nil
	}
	return "", nil
}

// NoteBreaker is the kind of the note that says when the last alarm of an open
// breaker was raised, by whichever reaper.
const NoteBreaker = "breaker"

// breakerAlarmEvery is how often an open breaker alarms again: sweeps come every
// few seconds, and whoever was called once is at it.
const breakerAlarmEvery = 5 * time.Minute

// showBreaker keeps the breaker where status and operators see it. It closes by
// itself: the next sweep that finds no reason clears it. The reason is that of
// the sweep which opened it. Opening it alarms, closing it is a line in the trail.
func (t *tools) showBreaker(ctx context.Context, c ledger.Control, why string) error {
	if (c.Breaker == "") == (why == "") {
		return t.remindOfBreaker(ctx, c.Sale, why)
	}
	first := false // of the reapers that see it
	_, err := t.store.UpdateControl(ctx, c.Sale, func(c *ledger.Control) error {
		first = (c.Breaker == "") != (why == "")
		c.Breaker = why
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: show the breaker of sale %s: %w", c.Sale, err)
	}
	if !first {
		return nil
	}
	t.log.WarnContext(ctx, "breaker of the reaper", "sale", c.Sale, "open", why != "", "why", why)
	if why == "" {
		t.incident(ctx, c.Sale, IncidentBreakerClosed, "bookings over age are reaped again", c.Breaker, "")
		return nil
	}
	t.incident(ctx, c.Sale, IncidentBreakerOpened, why, "", "")
	return t.alarmBreaker(ctx, c.Sale, why)
}

// remindOfBreaker alarms again while the breaker is open, at a slow pace; also if
// whoever opened it died before its alarm.
func (t *tools) remindOfBreaker(ctx context.Context, saleID, why string) error {
	if why == "" {
		return nil
	}
	last, err := t.store.LastSweep(ctx, saleID, NoteBreaker)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("reaper: read when the breaker of sale %s alarmed: %w", saleID, err)
	}
	if err == nil && t.now().Sub(last.At) < breakerAlarmEvery {
		return nil
	}
	return t.alarmBreaker(ctx, saleID, why)
}

func (t *tools) alarmBreaker(ctx context.Context, saleID, why string) error {
	t.alarm(AlarmBreaker, saleID, "", why)
	if err := t.store.NoteSweep(ctx, saleID, ledger.SweepNote{Kind: NoteBreaker, At: t.now()}); err != nil {
		return fmt.Errorf("reaper: note the alarm of the breaker of sale %s: %w", saleID, err)
	}
	return nil
}

package reaper

import (
	"context"
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

// showBreaker keeps the breaker where status and operators see it. It closes by
// itself: the next sweep that finds no reason clears it. The reason is that of
// the sweep which opened it, so that a standing breaker costs no writes.
func (t *tools) showBreaker(ctx context.Context, c ledger.Control, why string) error {
	if why != "" {
		t.alarm(AlarmBreaker, c.Sale, "", why)
	}
	if (c.Breaker == "") == (why == "") {
		return nil
	}
	_, err := t.store.UpdateControl(ctx, c.Sale, func(c *ledger.Control) error {
		c.Breaker = why
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: show the breaker of sale %s: %w", c.Sale, err)
	}
	t.log.WarnContext(ctx, "breaker of the reaper", "sale", c.Sale, "open", why != "", "why", why)
	return nil
}

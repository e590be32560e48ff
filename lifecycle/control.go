package lifecycle

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// ControlMaxAge is how old a cached control item may be. A rebuild waits at
// least so long after it has frozen a sale before it touches Redis (protocol.md
// 3.9 step 2).
const ControlMaxAge = 5 * time.Second

// ControlCache reads control items consistently and keeps each for at most
// ControlMaxAge, so that the hot paths do not read one item 800 times a second.
// Errors are not kept. Make one with NewControlCache; safe for many goroutines.
type ControlCache struct {
	from ControlReader
	now  func() time.Time

	mu   sync.Mutex
	kept map[string]keptControl
}

type keptControl struct {
	control ledger.Control
	at      time.Time
}

// NewControlCache caches what from reads.
func NewControlCache(from ControlReader, now func() time.Time) *ControlCache {
	return &ControlCache{from: from, now: now, kept: make(map[string]keptControl)}
}

// Control returns the control item, read at most ControlMaxAge ago. The age
// counts from before the read, so a slow read is not taken for a fresh one.
func (c *ControlCache) Control(ctx context.Context, saleID string) (ledger.Control, error) {
	asked := c.now()
	c.mu.Lock()
	k, ok := c.kept[saleID]
	c.mu.Unlock()
	if age := asked.Sub(k.at); ok && age >= 0 && age < ControlMaxAge {
		return k.control, nil
	}
	control, err := c.from.Control(ctx, saleID)
	if err != nil {
		return ledger.Control{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.kept[saleID]; !ok || old.at.Before(asked) {
		c.kept[saleID] = keptControl{control, asked}
	}
	return control, nil
}

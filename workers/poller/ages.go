package poller

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/events"
)

// The window over which ages are remembered: longer than the longest back-off,
// so that a message which fails again and again is never out of sight.
const (
	ageSlots = 12
	ageSlot  = 10 * time.Second
)

// ages remembers how old the oldest message was that came in each slot of time.
// The zero value is ready.
type ages struct {
	mu    sync.Mutex
	slots [ageSlots]struct {
		number int64 // of the slot since 1970; tells an old round from this one
		age    time.Duration
	}
}

func (a *ages) note(messages []events.Message, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	number := now.UnixNano() / int64(ageSlot)
	slot := &a.slots[number%ageSlots]
	if slot.number != number {
		slot.number, slot.age = number, 0
	}
	for _, m := range messages {
		slot.age = max(slot.age, m.Age(now))
	}
}

func (a *ages) oldest(now time.Time) (oldest time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	number := now.UnixNano() / int64(ageSlot)
	for _, s := range a.slots {
		if number-s.number < ageSlots {
			oldest = max(oldest, s.age)
		}
	}
	return oldest
}

package poller

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/events"
)

// holds are the messages that the poller has taken, and until when each is
// hidden from others, by our clock.
type holds struct {
	visibility time.Duration

	mu   sync.Mutex
	byID map[string]hold // by handle
}

type hold struct {
	sentAt, until time.Time
}

func (h *holds) add(messages []events.Message, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID == nil {
		h.byID = map[string]hold{}
	}
	for _, m := range messages {
		h.byID[m.Handle] = hold{sentAt: m.Meta.SentAt, until: now.Add(h.visibility)}
	}
}

func (h *holds) drop(handles ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, handle := range handles {
		delete(h.byID, handle)
	}
}

// held says whether a message is still hidden from others.
func (h *holds) held(handle string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	x, ok := h.byID[handle]
	return ok && now.Before(x.until)
}

// due are the messages that have less than seven eighths of their visibility
// left: with a pass every quarter of it, none that was there at the last pass
// is missed, and few that have just come are extended for nothing.
func (h *holds) due(now time.Time) (handles []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for handle, x := range h.byID {
		if x.until.Sub(now) < h.visibility*7/8 {
			handles = append(handles, handle)
		}
	}
	return handles
}

func (h *holds) extended(handle string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x, ok := h.byID[handle]; ok {
		x.until = now.Add(h.visibility)
		h.byID[handle] = x
	}
}

func (h *holds) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.byID)
}

func (h *holds) oldestAge(now time.Time) (oldest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.byID {
		if !x.sentAt.IsZero() {
			oldest = max(oldest, now.Sub(x.sentAt))
		}
	}
	return oldest
}

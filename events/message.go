package events

import "time"

// Message is an event as it lies in a queue, not yet decoded.
type Message struct {
	// Body is the encoded event, or whatever else somebody sent.
	Body string
	// Handle is this delivery's receipt: it deletes the message or changes its
	// visibility. A later delivery of the same message has another one.
	Handle string
	// Meta is what the queue says about the delivery.
	Meta Meta
}

// Age is how long ago the queue accepted the message; never negative, since the
// queue's clock and ours differ. Zero if the queue did not say.
func (m Message) Age(now time.Time) time.Duration {
	if m.Meta.SentAt.IsZero() {
		return 0
	}
	return max(0, now.Sub(m.Meta.SentAt))
}

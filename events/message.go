package events

import (
	"strconv"
	"time"
)

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

// ParseMeta reads the system attributes of a delivery, under the names that SQS
// gives them in a receive and in a Lambda event alike. What is missing or no
// number leaves its field zero.
func ParseMeta(messageID string, attributes map[string]string) Meta {
	meta := Meta{
		MessageID: messageID,
		Group:     attributes["MessageGroupId"],
		DedupID:   attributes["MessageDeduplicationId"],
	}
	if n, err := strconv.Atoi(attributes["ApproximateReceiveCount"]); err == nil {
		meta.ReceiveCount = n
	}
	if ms, err := strconv.ParseInt(attributes["SentTimestamp"], 10, 64); err == nil {
		meta.SentAt = time.UnixMilli(ms).UTC()
	}
	return meta
}

package fifo

import (
	"fmt"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// bury moves a message that was received too often to the dead-letter queue. It keeps its id, its group, its shown deduplication id and its receive count, and starts its retention anew; the target does not deduplicate it (AWS: it goes by the message id there), so two letters never swallow each other.
func (q *queue) bury(m *message, now time.Time) bool {
	p := q.cfg.Redrive
	if p.MaxReceives == 0 || m.tries < p.MaxReceives {
		return false
	}
	target := q.cloud.queues[p.Target]
	if target == nil {
		return false // nowhere to go: delivering again loses nothing
	}
	q.remove(m)
	target.catchUp(now)
	target.add(&message{
		id: m.id, body: m.body, dedupID: m.dedupID, attrs: m.attrs, source: q.name,
		sent: m.sent, firstReceived: m.firstReceived, receives: m.receives,
	}, m.group.id, now)
	return true
}

// Redrive moves the deliverable messages of a dead-letter queue back to the queues that they came from, or all to one destination if that is not empty, oldest first, and returns how many (SQS: StartMessageMoveTask, here done at once). Messages in flight, and those behind them, stay; so do, without a destination, messages that were sent here directly. In a FIFO queue a redriven message is new: new id, behind whatever was sent meanwhile, receive count 0, not deduplicated.
func (c *Cloud) Redrive(source, destination string) (int, error) {
	moved := 0
	err := c.call("StartMessageMoveTask", source, func(q *queue, now time.Time, _ fault.Verdict) error {
		if len(c.sources(source)) == 0 {
			return fmt.Errorf("%w: source queue must be configured as a dead-letter queue", ErrInvalid)
		}
		if destination != "" && c.queues[destination] == nil {
			return ErrNoQueue
		}
		for m := q.oldest; m != nil; {
			next := m.newer
			to := destination
			if to == "" {
				to = m.source
			}
			if target := c.queues[to]; target != nil && target != q && m == m.group.first && m.state == visible {
				q.remove(m)
				target.catchUp(now)
				target.store(SendInput{Group: m.group.id, DedupID: m.dedupID, Body: m.body, Attributes: m.attrs}, now)
				moved++
			}
			m = next
		}
		return nil
	})
	return moved, err
}

// DeadLetterSources returns the names of the queues whose redrive policy points to this queue, sorted.
func (c *Cloud) DeadLetterSources(name string) ([]string, error) {
	var out []string
	err := c.call("ListDeadLetterSourceQueues", name, func(*queue, time.Time, fault.Verdict) error {
		out = c.sources(name)
		return nil
	})
	return out, err
}

func (c *Cloud) sources(target string) (out []string) {
	for _, name := range c.names() {
		if c.queues[name].cfg.Redrive.Target == target {
			out = append(out, name)
		}
	}
	return out
}

package fifo

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// VisibilityChange is one entry of ChangeVisibilityBatch.
type VisibilityChange struct {
	Receipt string
	Timeout time.Duration // from now on; 0 makes the message visible at once
}

// Delete removes a received message. Deleting twice is no error; a handle whose time ran out is one (ErrReceiptExpired), because the message may be with somebody else.
func (c *Cloud) Delete(name, receipt string) error {
	return c.call("DeleteMessage", name, func(q *queue, _ time.Time, _ fault.Verdict) error {
		return q.delete(receipt)
	})
}

// DeleteBatch deletes up to ten messages, each by itself: the errors have the order of the receipts.
func (c *Cloud) DeleteBatch(name string, receipts []string) ([]error, error) {
	return c.each("DeleteMessageBatch", name, len(receipts), func(q *queue, i int, _ time.Time) error {
		return q.delete(receipts[i])
	})
}

// ChangeVisibility lets a received message reappear after d (0 to 12 h) from now.
func (c *Cloud) ChangeVisibility(name, receipt string, d time.Duration) error {
	return c.call("ChangeMessageVisibility", name, func(q *queue, now time.Time, _ fault.Verdict) error {
		return q.changeVisibility(VisibilityChange{receipt, d}, now)
	})
}

// ChangeVisibilityBatch changes up to ten messages, each by itself: the errors have the order of the changes.
func (c *Cloud) ChangeVisibilityBatch(name string, changes []VisibilityChange) ([]error, error) {
	return c.each("ChangeMessageVisibilityBatch", name, len(changes), func(q *queue, i int, now time.Time) error {
		return q.changeVisibility(changes[i], now)
	})
}

// each runs f for every entry of a batch within one call, except for the entries that the fault plan fails.
func (c *Cloud) each(op, name string, n int, f func(q *queue, i int, now time.Time) error) ([]error, error) {
	var out []error
	err := c.call(op, name, func(q *queue, now time.Time, v fault.Verdict) error {
		if err := checkBatchSize(n); err != nil {
			return err
		}
		out = make([]error, n)
		for i := range n {
			if v.Fails(i) {
				out[i] = fault.ErrFailed
				continue
			}
			out[i] = f(q, i, now)
		}
		return nil
	})
	return out, err
}

func (q *queue) delete(receipt string) error {
	l, err := q.parse(receipt)
	if err != nil {
		return err
	}
	if m := q.held(l); m != nil {
		q.remove(m)
		return nil
	}
	if q.bySeq[l.seq] != nil {
		return ErrReceiptExpired
	}
	return nil // deleted before, or gone with a purge or its age
}

func (q *queue) changeVisibility(ch VisibilityChange, now time.Time) error {
	if ch.Timeout < 0 || ch.Timeout > 12*time.Hour {
		return fmt.Errorf("%w: VisibilityTimeout must be between 0 and 43200 seconds", ErrInvalid)
	}
	l, err := q.parse(ch.Receipt)
	if err != nil {
		return err
	}
	m := q.held(l)
	if m == nil {
		return ErrNotInFlight
	}
	if ch.Timeout == 0 {
		q.show(m)
		q.settle(m.group)
		return nil
	}
	q.extend(m, now.Add(ch.Timeout))
	return nil
}

// extend moves the end of an in-flight message's hiding.
func (q *queue) extend(m *message, until time.Time) {
	m.at = until
	heap.Fix(&q.timers, m.timer)
	q.cloud.expect(until)
}

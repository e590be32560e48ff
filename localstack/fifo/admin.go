package fifo

import (
	"container/heap"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// Stats is what is known of a queue at an instant.
type Stats struct {
	Config                     Config
	Created, Modified          time.Time
	Visible, Delayed, InFlight int       // messages by state; those that wait for an earlier one of their group are visible
	Oldest                     time.Time // arrival of the oldest message, zero without any
}

// CreateQueue creates a queue; change sets what differs from DefaultConfig (nil: nothing). Creating it again with the same settings is no error, with others ErrQueueExists.
func (c *Cloud) CreateQueue(name string, change func(*Config)) error {
	v, err := c.ask("CreateQueue", name)
	if err != nil {
		return err
	}
	err = c.locked(func(now time.Time) error { return c.create(name, change, now) })
	if v.Kind == fault.LoseAnswer {
		return fault.ErrAnswerLost
	}
	return err
}

func (c *Cloud) create(name string, change func(*Config), now time.Time) error {
	if err := checkName(name); err != nil {
		return err
	}
	cfg := DefaultConfig()
	q := c.queues[name]
	if q != nil {
		cfg = q.cfg
	}
	if change != nil {
		change(&cfg)
	}
	if q != nil && cfg != q.cfg {
		return ErrQueueExists
	}
	if err := c.checkConfig(name, cfg); err != nil {
		return err
	}
	if q == nil {
		c.queues[name] = newQueue(c, name, cfg, now)
	}
	return nil
}

func (c *Cloud) checkConfig(name string, cfg Config) error {
	if err := cfg.check(); err != nil {
		return err
	}
	if t := cfg.Redrive.Target; t != "" && (c.queues[t] == nil || t == name) {
		return fmt.Errorf("%w: RedrivePolicy names %q, which is not another existing FIFO queue; create the dead-letter queue first", ErrInvalid, t)
	}
	return nil
}

// Configure changes a queue's settings. A new Delay also counts for messages that are delayed now.
func (c *Cloud) Configure(name string, change func(*Config)) error {
	return c.call("SetQueueAttributes", name, func(q *queue, now time.Time, _ fault.Verdict) error {
		cfg := q.cfg
		change(&cfg)
		if err := c.checkConfig(name, cfg); err != nil {
			return err
		}
		for _, m := range q.timers {
			if m.state == delayed {
				m.at = m.enqueued.Add(cfg.Delay)
			}
		}
		heap.Init(&q.timers)
		q.cfg, q.modified = cfg, now
		q.catchUp(now)
		c.signal() // any event may have moved
		return nil
	})
}

// DeleteQueue removes a queue with its messages; its polls end with ErrNoQueue.
func (c *Cloud) DeleteQueue(name string) error {
	return c.call("DeleteQueue", name, func(q *queue, _ time.Time, _ fault.Verdict) error {
		for e := q.polls.Front(); e != nil; e = q.polls.Front() {
			e.Value.(*Poll).finish(nil, ErrNoQueue)
		}
		q.reset()
		delete(c.queues, name)
		return nil
	})
}

// Purge removes every message of a queue and forgets its deduplication ids.
func (c *Cloud) Purge(name string) error {
	return c.call("PurgeQueue", name, func(q *queue, _ time.Time, _ fault.Verdict) error {
		q.reset()
		return nil
	})
}

// Find returns nil if the queue exists, else ErrNoQueue.
func (c *Cloud) Find(name string) error {
	return c.call("GetQueueUrl", name, func(*queue, time.Time, fault.Verdict) error { return nil })
}

// Queues returns the names with this prefix, sorted.
func (c *Cloud) Queues(prefix string) ([]string, error) {
	v, err := c.ask("ListQueues", "")
	if err != nil {
		return nil, err
	}
	var out []string
	_ = c.locked(func(time.Time) error {
		for _, name := range c.names() {
			if strings.HasPrefix(name, prefix) {
				out = append(out, name)
			}
		}
		return nil
	})
	if v.Kind == fault.LoseAnswer {
		return nil, fault.ErrAnswerLost
	}
	return out, nil
}

// Stats returns a queue's settings and counts.
func (c *Cloud) Stats(name string) (Stats, error) {
	var out Stats
	err := c.call("GetQueueAttributes", name, func(q *queue, _ time.Time, _ fault.Verdict) error {
		out = Stats{Config: q.cfg, Created: q.created, Modified: q.modified, Visible: q.counts[visible], Delayed: q.counts[delayed], InFlight: q.counts[inFlight]}
		if q.oldest != nil {
			out.Oldest = q.oldest.enqueued
		}
		return nil
	})
	return out, err
}

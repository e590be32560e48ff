package fifo

import (
	"container/list"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// Poll is one receive that may wait. The queue answers its polls in the order of their arrival, at the instant at which a message can be delivered: no poll is woken in vain and none misses a message.
type Poll struct {
	cloud    *Cloud
	queue    *queue
	in       ReceiveInput
	verdict  fault.Verdict
	deadline time.Time
	waiting  *list.Element // in queue.polls, nil once answered

	done     chan struct{}
	messages []Message
	err      error
}

// Receive starts a receive. If it need not wait, the poll it returns is done already; else it is done when a message comes, at its deadline (with no messages), or when it is cancelled. A poll that is neither awaited nor cancelled still takes messages.
func (c *Cloud) Receive(name string, in ReceiveInput) *Poll {
	p := &Poll{cloud: c, in: in, done: make(chan struct{})}
	err := c.call("ReceiveMessage", name, func(q *queue, now time.Time, v fault.Verdict) error {
		if err := in.check(); err != nil {
			return err
		}
		wait := q.cfg.ReceiveWait
		if in.Wait != nil {
			wait = *in.Wait
		}
		p.queue, p.verdict, p.deadline = q, v, now.Add(wait)
		p.waiting = q.polls.PushBack(p)
		q.touch() // serves it before the lock is given back; polls that came earlier find nothing ready, or they would not wait
		c.expect(p.deadline)
		return nil
	})
	if p.queue == nil { // refused
		p.err = err
		close(p.done)
	}
	return p
}

// Done is closed when Answer has the answer.
func (p *Poll) Done() <-chan struct{} { return p.done }

// Answer returns the messages, possibly none, or why there is no answer: ErrWaiting before Done is closed.
func (p *Poll) Answer() ([]Message, error) {
	select {
	case <-p.done:
		return p.messages, p.err
	default:
		return nil, ErrWaiting
	}
}

// Cancel ends a poll that still waits with ErrCancelled; one that is done keeps its answer, whose messages stay in flight. Safe to call twice.
func (p *Poll) Cancel() {
	p.cloud.mu.Lock()
	defer p.cloud.mu.Unlock()
	if p.waiting != nil {
		p.finish(nil, ErrCancelled)
	}
}

func (p *Poll) finish(messages []Message, err error) {
	p.queue.polls.Remove(p.waiting)
	p.waiting = nil
	if err == nil && p.verdict.Kind == fault.LoseAnswer {
		messages, err = nil, fault.ErrAnswerLost
	}
	p.messages, p.err = messages, err
	close(p.done)
}

// servePolls answers every poll that has messages or has waited long enough.
func (q *queue) servePolls(now time.Time) {
	for e := q.polls.Front(); e != nil; {
		p := e.Value.(*Poll)
		e = e.Next()
		var got []Message
		if q.ready.Len() > 0 || p.in.AttemptID != "" { // most looks find nothing: keep them cheap
			got = q.receive(p.in, p.verdict, now)
		}
		if len(got) > 0 {
			p.finish(got, nil)
		} else if !p.deadline.After(now) {
			p.finish(nil, nil)
		}
	}
}

// Waiting returns how many polls wait on a queue; 0 for a queue that does not exist.
func (c *Cloud) Waiting(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.queues[name]; q != nil {
		return q.polls.Len()
	}
	return 0
}

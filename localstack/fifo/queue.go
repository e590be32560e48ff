package fifo

import (
	"container/heap"
	"container/list"
	"time"
)

// windowLength is how long SQS remembers deduplication ids and receive attempts.
const windowLength = 5 * time.Minute

// maxInFlight is AWS's limit for FIFO queues.
const maxInFlight = 120_000

// queue is one FIFO queue. Every method runs under the cloud's lock.
type queue struct {
	cloud             *Cloud
	id                uint64
	name              string
	cfg               Config
	created, modified time.Time

	seq            uint64
	bySeq          map[uint64]*message
	groups         map[string]*group
	ready          *list.List // of *group, those whose first message is visible, longest ready first
	timers         timers
	oldest, newest *message
	counts         [inFlight + 1]int // by state

	dedup    window[Sent]
	attempts window[[]lease]
	polls    *list.List // of *Poll, longest waiting first
	touched  bool       // in cloud.touched
}

func newQueue(c *Cloud, name string, cfg Config, now time.Time) *queue {
	c.created++
	q := &queue{cloud: c, id: c.created, name: name, cfg: cfg, created: now, modified: now, polls: list.New()}
	q.reset()
	return q
}

// reset drops every message and what is remembered of earlier ones; numbers go on, so old handles stay recognisable.
func (q *queue) reset() {
	q.bySeq, q.groups, q.ready, q.timers = map[uint64]*message{}, map[string]*group{}, list.New(), nil
	q.oldest, q.newest, q.counts = nil, nil, [inFlight + 1]int{}
	q.dedup, q.attempts = window[Sent]{}, window[[]lease]{}
}

// touch makes sure that the queue's polls are looked at before the current call ends.
func (q *queue) touch() {
	if !q.touched {
		q.touched = true
		q.cloud.touched = append(q.cloud.touched, q)
	}
}

// add stores m as the newest message of the queue and of the group.
func (q *queue) add(m *message, groupID string, now time.Time) {
	q.seq++
	m.seq, m.enqueued, m.timer = q.seq, now, -1
	g := q.groups[groupID]
	if g == nil {
		g = &group{id: groupID}
		q.groups[groupID] = g
	}
	g.append(m)
	m.older = q.newest
	if q.newest == nil {
		q.oldest = m
		q.cloud.expect(q.expiry(m))
	} else {
		q.newest.newer = m
	}
	q.newest = m
	q.bySeq[m.seq] = m
	q.counts[visible]++
	if q.cfg.Delay > 0 {
		q.hide(m, delayed, now.Add(q.cfg.Delay))
	}
	q.settle(g)
}

// hide takes a visible message out of sight until at.
func (q *queue) hide(m *message, s state, at time.Time) {
	q.counts[m.state]--
	q.counts[s]++
	m.state, m.at = s, at
	heap.Push(&q.timers, m)
	q.cloud.expect(at)
}

// show makes a hidden message visible; the caller settles its group.
func (q *queue) show(m *message) {
	heap.Remove(&q.timers, m.timer)
	q.counts[m.state]--
	q.counts[visible]++
	m.state = visible
}

// remove forgets a message.
func (q *queue) remove(m *message) {
	if m.timer >= 0 {
		heap.Remove(&q.timers, m.timer)
	}
	q.counts[m.state]--
	delete(q.bySeq, m.seq)
	if m.older == nil {
		q.oldest = m.newer
	} else {
		m.older.newer = m.newer
	}
	if m.newer == nil {
		q.newest = m.older
	} else {
		m.newer.older = m.older
	}
	m.older, m.newer = nil, nil
	m.group.remove(m)
	q.settle(m.group)
}

// settle puts a group on the ready list or takes it off. Only the first message counts: later ones wait for it, and it waits for nobody.
func (q *queue) settle(g *group) {
	ready := g.first != nil && g.first.state == visible
	switch {
	case ready && g.ready == nil:
		g.ready = q.ready.PushBack(g)
	case !ready && g.ready != nil:
		q.ready.Remove(g.ready)
		g.ready = nil
	}
	if g.first == nil {
		delete(q.groups, g.id)
	}
}

// catchUp lets happen what is due at now, in the order of its instants: so a jump of the clock ends where many small steps would. It comes before anything else that a call does to a queue, and makes sure that the polls get their share of it.
func (q *queue) catchUp(now time.Time) {
	for {
		shows := len(q.timers) > 0 && !q.timers[0].at.After(now)
		drops := q.oldest != nil && !q.expiry(q.oldest).After(now)
		switch {
		case shows && (!drops || !q.expiry(q.oldest).Before(q.timers[0].at)):
			m := q.timers[0]
			q.show(m)
			q.settle(m.group)
		case drops:
			q.remove(q.oldest)
		default:
			q.dedup.forget(now)
			q.attempts.forget(now)
			q.touch()
			return
		}
	}
}

// expiry is when retention drops a message, wherever it is.
func (q *queue) expiry(m *message) time.Time { return m.enqueued.Add(q.cfg.Retention) }

func (q *queue) nextEvent() (next time.Time, ok bool) {
	consider := func(at time.Time) {
		if !ok || at.Before(next) {
			next, ok = at, true
		}
	}
	if len(q.timers) > 0 {
		consider(q.timers[0].at)
	}
	if q.oldest != nil {
		consider(q.expiry(q.oldest))
	}
	for e := q.polls.Front(); e != nil; e = e.Next() {
		consider(e.Value.(*Poll).deadline)
	}
	return next, ok
}

package fifo

import (
	"container/list"
	"time"
)

type state uint8

const (
	visible  state = iota // can be received, unless an earlier message of its group is not
	delayed               // not yet, because of the queue's Delay
	inFlight              // with a receiver until `at`
)

// message is one stored message. It is in three orders at once: its group's, its queue's (both by arrival) and, unless it is visible, the timers'.
type message struct {
	id, body, dedupID string
	attrs             map[string]Attribute
	source            string // queue that moved it here as a dead letter
	seq               uint64 // arrival in this queue
	sent              time.Time
	enqueued          time.Time // in this queue: retention counts from here
	firstReceived     time.Time
	receives          int // as shown, over all queues
	tries             int // receives in this queue: numbers the handles, and the redrive policy counts it

	state state
	at    time.Time // end of delayed or inFlight
	timer int       // index in the timers, -1 if visible

	group        *group
	prev, next   *message // in the group
	older, newer *message // in the queue
}

// group is the live messages of one message group in order.
type group struct {
	id          string
	first, last *message
	ready       *list.Element // in queue.ready while the first message is visible
}

func (g *group) append(m *message) {
	m.group, m.prev = g, g.last
	if g.last == nil {
		g.first = m
	} else {
		g.last.next = m
	}
	g.last = m
}

func (g *group) remove(m *message) {
	if m.prev == nil {
		g.first = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		g.last = m.prev
	} else {
		m.next.prev = m.prev
	}
	m.prev, m.next = nil, nil
}

// timers is a heap (container/heap) of messages by the end of their state; arrival decides between equal instants, so that a run repeats exactly.
type timers []*message

func (h timers) Len() int { return len(h) }

func (h timers) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}

func (h timers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].timer, h[j].timer = i, j
}

// Push is for container/heap only.
func (h *timers) Push(x any) {
	m := x.(*message)
	m.timer = len(*h)
	*h = append(*h, m)
}

// Pop is for container/heap only.
func (h *timers) Pop() any {
	old := *h
	n := len(old) - 1
	m := old[n]
	old[n], m.timer = nil, -1
	*h = old[:n]
	return m
}

package fifo_test

import (
	"slices"
	"sort"
	"time"
)

// naive is the queue's contract written down without regard to cost: plain lists, searched from the front each time.
type naive struct {
	visibility, retention time.Duration
	maxReceives           int
	dead                  *naive
	groupScope            bool

	seq      int
	messages []*naiveMessage // by arrival
	ready    []string        // groups whose first message is visible, in the order in which they became so
	dedup    []naiveDedup
	attempts map[string]naiveAttempt
}

type naiveMessage struct {
	body, group     string
	seq             int
	hidden          bool
	until, arrived  time.Time
	tries, receives int
}

type naiveDedup struct {
	key     string
	seq     int
	expires time.Time
}

type naiveAttempt struct {
	leases  []naiveLease
	expires time.Time
}

type naiveLease struct{ seq, tries int }

// settle compares the ready list with what is so; callers change one group at a time, so at most one is new.
func (n *naive) settle() {
	first := map[string]*naiveMessage{}
	for _, m := range n.messages {
		if first[m.group] == nil {
			first[m.group] = m
		}
	}
	n.ready = slices.DeleteFunc(n.ready, func(g string) bool { return first[g] == nil || first[g].hidden })
	for g, m := range first {
		if !m.hidden && !slices.Contains(n.ready, g) {
			n.ready = append(n.ready, g)
		}
	}
}

// catchUp finds the earliest thing that is due, lets it happen, and looks again.
func (n *naive) catchUp(now time.Time) {
	for {
		type event struct {
			at   time.Time
			drop bool
			m    *naiveMessage
		}
		var due []event
		for _, m := range n.messages {
			if m.hidden && !m.until.After(now) {
				due = append(due, event{m.until, false, m})
			}
			if end := m.arrived.Add(n.retention); !end.After(now) {
				due = append(due, event{end, true, m})
			}
		}
		if len(due) == 0 {
			return
		}
		sort.SliceStable(due, func(i, j int) bool {
			if !due[i].at.Equal(due[j].at) {
				return due[i].at.Before(due[j].at)
			}
			if due[i].drop != due[j].drop {
				return due[j].drop
			}
			return due[i].m.seq < due[j].m.seq
		})
		if due[0].drop {
			n.remove(due[0].m)
		} else {
			due[0].m.hidden = false
			n.settle()
		}
	}
}

func (n *naive) remove(m *naiveMessage) {
	n.messages = slices.DeleteFunc(n.messages, func(x *naiveMessage) bool { return x == m })
	n.settle()
}

func (n *naive) store(m *naiveMessage, now time.Time) {
	n.seq++
	m.seq, m.arrived = n.seq, now
	n.messages = append(n.messages, m)
	n.settle()
}

// send returns the sequence number of the message or of the one that it repeats.
func (n *naive) send(group, dedup, body string, now time.Time) int {
	n.catchUp(now)
	key := dedup
	if n.groupScope {
		key = group + " " + dedup
	}
	for _, d := range n.dedup {
		if d.key == key && d.expires.After(now) {
			return d.seq
		}
	}
	n.store(&naiveMessage{body: body, group: group}, now)
	n.dedup = append(n.dedup, naiveDedup{key, n.seq, now.Add(5 * time.Minute)})
	return n.seq
}

func (n *naive) find(l naiveLease) *naiveMessage {
	for _, m := range n.messages {
		if m.seq == l.seq {
			return m
		}
	}
	return nil
}

// held returns the message if this very delivery of it is in flight.
func (n *naive) held(l naiveLease) *naiveMessage {
	if m := n.find(l); m != nil && m.hidden && m.tries == l.tries {
		return m
	}
	return nil
}

func (n *naive) receive(max int, hide time.Duration, attempt string, now time.Time) (out []*naiveMessage) {
	n.catchUp(now)
	if a, ok := n.attempts[attempt]; ok && a.expires.After(now) {
		for _, l := range a.leases {
			if m := n.held(l); m != nil {
				m.until = now.Add(hide)
				out = append(out, m)
			}
		}
	}
	if len(out) == 0 {
		out = n.take(max, hide, now)
		if attempt != "" && len(out) > 0 {
			a := naiveAttempt{expires: now.Add(5 * time.Minute)}
			for _, m := range out {
				a.leases = append(a.leases, naiveLease{m.seq, m.tries})
			}
			n.attempts[attempt] = a
		}
	}
	return out
}

func (n *naive) take(max int, hide time.Duration, now time.Time) (out []*naiveMessage) {
	for len(out) < max && len(n.ready) > 0 {
		g := n.ready[0]
		for _, m := range slices.Clone(n.messages) {
			if m.group != g || len(out) == max {
				continue
			}
			if m.hidden {
				break
			}
			if n.dead != nil && m.tries >= n.maxReceives {
				n.remove(m)
				n.dead.catchUp(now)
				n.dead.store(&naiveMessage{body: m.body, group: m.group, receives: m.receives}, now)
				continue
			}
			m.tries++
			m.receives++
			m.hidden, m.until = true, now.Add(hide)
			out = append(out, m)
		}
		n.settle()
	}
	return out
}

func (n *naive) nextEvent() (next time.Time, ok bool) {
	for _, m := range n.messages {
		for _, at := range []time.Time{m.until, m.arrived.Add(n.retention)} {
			if (m.hidden || at != m.until) && (!ok || at.Before(next)) {
				next, ok = at, true
			}
		}
	}
	return next, ok
}

func (n *naive) counts() (shown, hidden int) {
	for _, m := range n.messages {
		if m.hidden {
			hidden++
		} else {
			shown++
		}
	}
	return shown, hidden
}

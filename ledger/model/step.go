package model

import "github.com/holdfast/holdfast/ledger"

// step is a state that may come next, and how it is reached.
type step struct {
	world
	name   string
	proc   int    // who did it, or nobody
	broken string // a promise that the step itself breaks
}

const nobody = -1

// steps collects what may come next. Of the steps of one process the first is
// the one in which nothing goes wrong; healing takes no other.
type steps []step

// add appends a copy of w, to be changed before the next add.
func (s *steps) add(w *world, p int, name string) *step {
	*s = append(*s, step{world: *w, name: name, proc: p})
	return &(*s)[len(*s)-1]
}

// at moves the process that takes the step.
func (n *step) at(c pc) *step {
	n.procs[n.proc].pc = c
	return n
}

// rest makes the process idle, or a driver over: it has ended, or it died.
func (n *step) rest() {
	n.procs[n.proc] = proc{}
	if n.proc < firstWorker {
		n.procs[n.proc].pc = over
	}
}

// all appends everything that can happen next in w. A driver that dies is one
// that takes no step any more, so only those that are restarted die by a step.
func (m *Model) all(w *world, s *steps) {
	for p := range w.procs {
		m.run(w, p, s)
		if p >= firstWorker && w.procs[p].pc != idle {
			s.add(w, p, "dies").rest()
		}
	}
	m.surroundings(w, s)
}

// run appends what process p may do next.
func (m *Model) run(w *world, p int, s *steps) {
	switch c := w.procs[p].pc; {
	case c == over:
	case c == undo || c == undoWait:
		m.giveBack(w, p, s)
	case p < firstResumer:
		m.drive(w, p, s)
	case p < firstWorker:
		m.takeOver(w, p, s)
	case p < firstReaper:
		m.work(w, p, s)
	default:
		m.reap(w, p, s)
	}
}

// acknowledged appends a WAIT that the replica answers; nil if the connection is
// gone, so that no answer can come.
func (m *Model) acknowledged(w *world, p int, name string, s *steps) *step {
	if w.procs[p].pos == lost && !m.rules.FreshConnection {
		return nil
	}
	n := s.add(w, p, name)
	m.acknowledge(&n.world, p)
	return n
}

// wait appends a WAIT that ends well and one that ends short. The latter may be
// wrong: it says nothing about what the replica has.
func (m *Model) wait(w *world, p int, s *steps, then, short pc) {
	if n := m.acknowledged(w, p, "WAIT is acknowledged", s); n != nil {
		n.at(then)
	}
	n := s.add(w, p, "WAIT is short").at(short)
	n.procs[p].pos = 0
	if short == over {
		n.rest()
	}
}

// giveBack is the end of every release, by whomever: S2, WAIT, T5. Without the
// acknowledgement T5 is left to a sweep (protocol.md 3.3 T5). T5 comes at once
// with the acknowledgement: to die between them is as good as a short WAIT.
func (m *Model) giveBack(w *world, p int, s *steps) {
	b := w.procs[p].b
	if w.procs[p].pc == undo {
		m.undoing(w, p, b, "S2", s)
		return
	}
	if n := m.acknowledged(w, p, "WAIT is acknowledged, T5", s); n != nil {
		m.ledger(n, opUndoDone, b)
		m.released(n, b)
	}
	n := s.add(w, p, "WAIT is short: the undo stays owed")
	n.procs[p].pos = 0
	m.released(n, b)
}

// undoing is S2 of a released booking.
func (m *Model) undoing(w *world, p int, b bid, name string, s *steps) {
	next, _ := m.undo(w.redis, b, false, 0)
	n := s.add(w, p, name)
	m.script(&n.world, next)
	n.procs[p].b = b
	if n.awaits(p, undoWait); m.rules.UndoneAtOnce {
		n.procs[p].pos = 0
		m.ledger(n, opUndoDone, b)
		m.released(n, b)
	}
}

// released is what follows a release.
func (m *Model) released(n *step, b bid) {
	q := &n.procs[n.proc]
	switch worker := n.proc >= firstWorker && n.proc < firstReaper; {
	case !worker:
		n.rest()
	case q.msg < attempts:
		n.at(finish)
	case b.isLate(): // the late booking is given up: the payment goes back, unless it was resolved
		q.b = b.attempt()
		n.at(refundLate)
	default: // the payment meets a released booking now
		n.at(pay)
	}
}

// ledger writes to the ledger of n.
func (m *Model) ledger(n *step, o op, b bid) ledger.Verdict {
	w := m.write(n.world.ledger, o, b)
	n.world.ledger, n.broken = w.next, w.broken
	if m.rules.NoOwed && w.verdict == 0 {
		for x := range bid(bookings) {
			n.world.ledger = n.world.ledger.set(4*uint(x)+2, 1, 0)
		}
	}
	return w.verdict
}

// buried reports whether a tombstone stands after T4 has said v.
func buried(v ledger.Verdict) bool { return v == 0 || v == ledger.VerdictReleased }

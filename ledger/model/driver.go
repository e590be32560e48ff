package model

// drive is POST /bookings for one attempt (protocol.md 3.5).
func (m *Model) drive(w *world, p int, s *steps) {
	switch w.procs[p].pc {
	case idle:
		switch {
		case p >= m.cfg.Drivers:
		case m.cfg.Holds:
			m.firstChoice(w, p, s)
		default:
			m.book(w, p, s)
		}
	case holding:
		m.decide(w, p, s)
	case admitWait:
		m.wait(w, p, s, attach, quickUndo)
		m.refused(w, p, s)
	case quickUndo:
		m.undoQuick(w, p, s)
	default:
		m.pursue(w, p, s)
	}
}

// undoQuick ends step 2 when nothing is known for sure.
func (m *Model) undoQuick(w *world, p int, s *steps) {
	q := w.procs[p]
	next, _ := m.undo(w.redis, q.b, true, q.driver)
	if m.cfg.Holds && p < firstResumer {
		next, _ = m.demote(w.redis, q.b, q.driver)
	}
	n := s.add(w, p, "S2 quick, and 503")
	m.script(&n.world, next)
	n.rest()
	if m.cfg.Zombies && p < firstResumer {
		n = s.add(w, p, "S2 quick is delayed, and 503")
		n.zombies |= 4 << q.b
		n.rest()
	}
}

// book is step 2: S1 under a new booking id.
func (m *Model) book(w *world, p int, s *steps) {
	b := bid(p)
	next, a := m.admit(w.redis, b)
	if a != ok {
		s.add(w, p, "S1 refuses").rest()
		return
	}
	n := s.add(w, p, "S1 OK")
	m.script(&n.world, next)
	n.procs[p].b, n.procs[p].driver = b, 1
	n.awaits(p, admitWait)
	if m.rules.NoWait {
		n.procs[p].pos = 0
		n.at(attach)
	}
	n = s.add(w, p, "S1 OK, but its answer is lost")
	m.script(&n.world, next)
	n.procs[p].b, n.procs[p].driver = b, 1
	n.at(quickUndo)
	if m.cfg.Zombies {
		n = s.add(w, p, "S1 is delayed, the driver gives it up")
		n.zombies |= 1 << b
		n.procs[p].b, n.procs[p].driver = b, 1
		n.at(quickUndo)
	}
}

// takeOver is a repeat with the key of attempt 0, whose driver is silent: S10
// (protocol.md 3.5, Resume). Silence is only time, so it may come at any moment.
func (m *Model) takeOver(w *world, p int, s *steps) {
	switch w.procs[p].pc {
	case idle:
		if p-firstResumer >= m.cfg.Resumers {
			return
		}
		next, a, d := m.resume(w.redis, 0)
		if a != ok {
			return
		}
		n := s.add(w, p, "S10 OK")
		m.script(&n.world, next)
		n.procs[p].driver = d
		n.awaits(p, resumeWait)
		if m.rules.NoResumeWait {
			n.procs[p].pos = 0
			n.at(attach)
		}
	case resumeWait:
		short := over
		if m.rules.UndoResumed {
			short = quickUndo
		}
		m.wait(w, p, s, attach, short)
		m.refused(w, p, s)
	case quickUndo:
		m.undoQuick(w, p, s)
	default:
		m.pursue(w, p, s)
	}
}

// refused is step 3 going wrong: the gateway refuses, or does not answer. That
// it creates the payment is seen by nobody before the attach, and is no step.
func (m *Model) refused(w *world, p int, s *steps) {
	n := m.acknowledged(w, p, "WAIT is acknowledged, the gateway refuses", s)
	switch {
	case n == nil:
	case m.meek() && p >= firstResumer:
		n.rest()
	case m.meek():
		n.at(quickUndo)
	default:
		n.at(withdraw)
	}
}

// pursue are steps 4 to 6: attach, event, answer; or T4 and undo.
func (m *Model) pursue(w *world, p int, s *steps) {
	b := w.procs[p].b
	switch w.procs[p].pc {
	case attach:
		m.bind(w, p, s)
	case attachWait:
		short := withdraw
		if m.meek() {
			short = over
		}
		m.wait(w, p, s, send, short)
	case send:
		m.publish(w, p, s)
	case withdraw: // a mutant's: no driver ends what somebody may have been told of
		n := s.add(w, p, "T4")
		if v := m.ledger(n, opTombstone, b); buried(v) {
			if v == 0 && m.cfg.Promise && w.acked&(1<<b) != 0 {
				n.broken = "Promise: " + bidNames[b] + ": a client was told that it has the booking, and a driver withdraws it"
			}
			n.at(undo)
			return
		}
		n.name = "T4 says live: 201"
		n.acked |= 1 << b
		n.rest()
	}
}

// bind is step 4: S5.
func (m *Model) bind(w *world, p int, s *steps) {
	q := w.procs[p]
	next, a := m.attach(w.redis, q.b, q.driver)
	if a != ok && a != have {
		s.add(w, p, "S5 says gone or superseded: 503").rest()
		return
	}
	n := s.add(w, p, "S5 OK")
	m.script(&n.world, next)
	n.offer(q.b)
	if p >= firstResumer && !m.rules.NoAttachWait {
		n.awaits(p, attachWait)
	} else {
		n.at(send)
	}
	n = s.add(w, p, "S5 OK, but its answer is lost").at(withdraw)
	m.script(&n.world, next)
	n.offer(q.b)
	switch {
	case m.rules.UndoUnsure && p < firstResumer:
		n.at(quickUndo)
	case m.meek():
		n.rest()
	}
}

// meek: no driver writes a tombstone. Before its attach the first one undoes
// quickly; what it can't finish after that is left to a repeat, or to the reaper.
func (m *Model) meek() bool { return !m.rules.BoldDriver }

// publish is step 5: booking.held.
func (m *Model) publish(w *world, p int, s *steps) {
	b := w.procs[p].b
	n := s.add(w, p, "booking.held is sent: 201")
	n.queue[heldMessage(b)] = queued
	n.acked |= 1 << b
	if m.rules.ClearAtEnqueue {
		m.script(&n.world, m.settle(n.redis, b, false))
	}
	n.rest()
	n = s.add(w, p, "booking.held is sent, but the answer is lost")
	n.queue[heldMessage(b)] = queued
	m.unsent(n, b)
	m.unsent(s.add(w, p, "booking.held can't be sent"), b)
}

// unsent leaves the booking to its client's repeat, or to the reaper: 503.
func (m *Model) unsent(n *step, b bid) {
	switch {
	case m.rules.UndoUnasked:
		n.at(undo)
	case m.rules.BoldDriver, m.rules.BoldOnceSent && !m.attachedByOther(n, b):
		n.at(withdraw)
	default:
		n.rest()
	}
}

func (m *Model) attachedByOther(n *step, b bid) bool {
	return n.redis.stage(b) != absent && n.redis.driver(b) != n.procs[n.proc].driver
}

// offer: the payment's URL can be had from now on.
func (n *step) offer(b bid) { n.session[b] = max(n.session[b], public) }

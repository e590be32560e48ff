package model

import "github.com/holdfast/holdfast/ledger"

// reap is a sweep or a diff on one booking (protocol.md 3.8). It may come at any
// time: no age is a safety assumption. The release gate and the write after it
// are one step; a payment that comes between them is one that comes after both.
func (m *Model) reap(w *world, p int, s *steps) {
	b := w.procs[p].b
	switch w.procs[p].pc {
	case idle:
		if p-firstReaper < m.cfg.Reapers {
			for x := range bid(bookings) {
				m.pick(w, p, x, s)
			}
		}
	case orphan:
		m.orphanStep(w, p, s)
	case expireLedger:
		n := s.add(w, p, "T3")
		m.ledger(n, opExpire, b)
		n.rest()
	case confirmLive:
		if n := s.add(w, p, "the ledger still says live").at(reseed); !w.ledger.live(b) {
			n.name = "the ledger says live no more"
			n.rest()
		}
	case reseed:
		m.reseedStep(w, p, s)
	}
}

// pick begins with booking x if a sweep would find it. What it finds by a state
// that never goes away, or what is judged again by the write, is done at once.
func (m *Model) pick(w *world, p int, x bid, s *steps) {
	inRedis, waiting := w.redis.stage(x) != absent, w.redis.pending(m.candidate(x)) == x
	if waiting {
		s.add(w, p, "finds a pending booking").at(orphan).procs[p].b = x
	}
	if w.ledger.state(x) == ledger.Held {
		m.expireStep(w, p, x, s)
	}
	if w.ledger.undoOwed(x) {
		m.undoing(w, p, x, "finds an owed undo: S2", s)
	} else if inRedis && !waiting && w.ledger.released(x) {
		m.undoing(w, p, x, "finds a released booking in Redis: S2", s)
	}
	if m.cfg.Stale && !inRedis && w.ledger.live(x) {
		s.add(w, p, "finds a live booking that Redis lacks").at(confirmLive).procs[p].b = x
	}
}

// gate is the release gate: a captured payment is reported under the attempt's
// id, and nothing is released, unless the payment goes back: then no booking
// gets it any more, and one that waits for it would keep its seat for ever.
func (m *Model) gate(w *world, p int, b bid, s *steps) bool {
	goesBack := w.ledger.payment(b.payment()) >= refundDue
	if w.session[b.attempt()] != captured || goesBack && !m.rules.GateBlind {
		return false
	}
	n := s.add(w, p, "the gateway says captured: payment.captured")
	n.queue[moneyMessage(b)] = queued // also if a copy lies in the DLQ
	n.rest()
	return true
}

// orphanStep is sweep 1.
func (m *Model) orphanStep(w *world, p int, s *steps) {
	b := w.procs[p].b
	if w.redis.stage(b) == attached && m.gate(w, p, b, s) {
		return
	}
	if m.rules.ReapUnasked && !w.ledger.known(b) {
		s.add(w, p, "reads: the ledger has no such booking").at(undo)
		return
	}
	if m.rules.ReapByCandidate && m.anyOf(w.ledger, m.candidate(b)) {
		m.settleLive(s.add(w, p, "reads: the ledger has the candidate; S3"), b)
		return
	}
	n := s.add(w, p, "T4")
	if buried(m.ledger(n, opTombstone, b)) {
		n.at(undo)
		return
	}
	n.name = "T4 says live; S3"
	m.settleLive(n, b)
}

func (m *Model) settleLive(n *step, b bid) {
	m.script(&n.world, m.settle(n.redis, b, false))
	n.rest()
}

func (m *Model) anyOf(l packed, c uint8) bool {
	for b := range bid(bookings) {
		if l.known(b) && m.candidate(b) == c {
			return true
		}
	}
	return false
}

// expireStep is sweep 2.
func (m *Model) expireStep(w *world, p int, b bid, s *steps) {
	if m.gate(w, p, b, s) {
		return
	}
	if m.rules.RedisFirst {
		next, _ := m.undo(w.redis, b, false, 0)
		n := s.add(w, p, "S2, before the ledger").at(expireLedger)
		m.script(&n.world, next)
		n.procs[p].b = b
		return
	}
	n := s.add(w, p, "T3").at(undo)
	m.ledger(n, opExpire, b)
	n.procs[p].b = b
}

// reseedStep is S4 at the end of the sandwich (protocol.md 3.8.5b). Whoever
// stands in the way and has no ledger record is withdrawn first.
func (m *Model) reseedStep(w *world, p int, s *steps) {
	b := w.procs[p].b
	as := attached
	if w.ledger.state(b) == ledger.Paid {
		as = settled
	}
	next, a := m.reseed(w.redis, b, as)
	n := s.add(w, p, "S4")
	other := noBid
	switch a {
	case ok:
		m.script(&n.world, next)
	case candidateTaken:
		other = w.redis.seen(m.candidate(b))
	case seatTaken:
		other = m.ownerOf(w.redis, b)
	}
	switch {
	case other == noBid:
		n.rest()
	case w.ledger.released(other):
		n.name, n.procs[p].b = "S4 meets a released booking", other
		n.at(undo)
	case !w.ledger.known(other):
		n.name, n.procs[p].b = "S4 meets a booking that the ledger lacks", other
		n.at(orphan)
	default:
		n.rest()
	}
}

package model

import "github.com/holdfast/holdfast/ledger"

// readmission are the steps of a worker that admits without a request: T2' of a
// booking that Redis lost (protocol.md 3.6), and the late payment (3.7), whose
// booking is the attempt until step 0 and its late booking from then on.
func (m *Model) readmission(w *world, p int, s *steps) {
	b := w.procs[p].b
	switch w.procs[p].pc {
	case late:
		m.lateStep(w, p, s)
	case readmit:
		m.readmitStep(w, p, s)
	case freeOld:
		n := s.add(w, p, "S2 of the candidate's released booking").at(readmit)
		if old := w.redis.seen(m.candidate(b)); old != noBid && w.ledger.released(old) {
			next, _ := m.undo(w.redis, old, false, 0)
			m.script(&n.world, next)
		}
	case readmitWait:
		short := readmitUndo
		if m.rules.NoReadmitUndo {
			short = over
		}
		m.wait(w, p, s, m.toPin(b), short)
	case readmitUndo:
		next, _ := m.undo(w.redis, b, true, w.procs[p].driver)
		n := s.add(w, p, "S2 quick, and again later")
		m.script(&n.world, next)
		n.rest()
	case pin:
		m.pinStep(w, p, s)
	case pinWait:
		m.wait(w, p, s, ledgerStep(b), over)
	case applyLate:
		m.applyStep(w, p, s)
	case refundLate: // 3.7 step 4; whoever resolved the payment first was right
		n := s.add(w, p, "the payment is to be refunded").at(finish)
		if m.ledger(n, opRefundLate, b.attempt()) != 0 {
			n.name = "the payment was resolved"
		}
	}
}

// lateStep is 3.7 steps 1 and 0: what P says, and S2 of the released booking.
func (m *Model) lateStep(w *world, p int, s *steps) {
	b := w.procs[p].b
	switch w.ledger.payment(b.payment()) {
	case paymentAbsent, paymentOpen:
		next, _ := m.undo(w.redis, b, false, 0)
		n := s.add(w, p, "the late payment is open; S2 of its released booking").at(readmit)
		m.script(&n.world, next)
		n.procs[p].b = b.late()
	case paymentApplied:
		n := s.add(w, p, "the late payment is applied").at(finish)
		if w.ledger.paymentLate(b.payment()) {
			n.procs[p].b = b.late()
			n.at(settlePaid)
		}
	default:
		s.add(w, p, "the late payment is refunded").at(finish)
	}
}

// readmitStep is S1 without a request: 3.7 step 2, or 3.6.
func (m *Model) readmitStep(w *world, p int, s *steps) {
	b := w.procs[p].b
	next, a := m.admit(w.redis, b)
	n := s.add(w, p, "S1 refuses").at(tombstone)
	if b.isLate() {
		n.at(refundLate)
	}
	switch a {
	case ok, replayed:
		n.name, n.procs[p].driver = "S1 OK", next.driver(b)
		m.script(&n.world, next)
		n.awaits(p, readmitWait)
		if m.rules.NoWait {
			n.procs[p].pos = 0
			n.at(m.toPin(b))
		}
	case duplicate:
		if old := w.redis.seen(m.candidate(b)); w.ledger.released(old) {
			n.name = "S1 meets the candidate's released booking"
			n.at(freeOld)
		}
	case dead:
		if b.isLate() {
			m.lateDead(n, b)
		}
	}
}

// lateDead: the late booking was undone. If the ledger never had it, a short
// WAIT did that, and it is no refusal.
func (m *Model) lateDead(n *step, b bid) {
	switch {
	case n.world.ledger.live(b):
		n.name = "S1 says dead, the ledger live"
		n.at(settlePaid)
	case !n.world.ledger.known(b):
		n.name = "S1 says dead: again later"
		n.rest()
	}
}

// toPin is the attach that keeps another worker's quick undo off, before the
// ledger is written.
func (m *Model) toPin(b bid) pc {
	if m.rules.NoPin {
		return ledgerStep(b)
	}
	return pin
}

// ledgerStep is the write of an admission that no request drives.
func ledgerStep(b bid) pc {
	if b.isLate() {
		return applyLate
	}
	return payUnheld
}

func (m *Model) pinStep(w *world, p int, s *steps) {
	b := w.procs[p].b
	next, a := m.attach(w.redis, b, w.procs[p].driver)
	if a != ok && a != have {
		s.add(w, p, "S5 says gone or superseded: again later").rest()
		return
	}
	n := s.add(w, p, "S5 OK")
	m.script(&n.world, next)
	n.procs[p].driver = 0 // nothing after this compares it
	n.awaits(p, pinWait)
	if m.rules.NoWait {
		n.procs[p].pos = 0
		n.at(ledgerStep(b))
	}
}

// applyStep is 3.7 step 3 and the reading of its failure.
func (m *Model) applyStep(w *world, p int, s *steps) {
	n := s.add(w, p, "the late payment gets its booking")
	switch m.ledger(n, opApplyLate, w.procs[p].b) {
	case 0, ledger.VerdictDone:
		n.at(settlePaid)
	case ledger.VerdictReleased:
		n.name = "the late booking is RELEASED"
		n.at(undo)
	case ledger.VerdictResolved, ledger.VerdictConflict:
		n.name = "the late booking meets another or a resolved payment"
		n.at(tombstone)
	default:
		n.name = "the late booking met a change: again later"
		n.rest()
	}
}

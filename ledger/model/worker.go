package model

import "github.com/holdfast/holdfast/ledger"

// work is a worker on one message. Dying anywhere leaves the message where it
// is, and so does a step that must be tried again later (protocol.md 3.6).
func (m *Model) work(w *world, p int, s *steps) {
	b := w.procs[p].b
	switch w.procs[p].pc {
	case idle:
		if p-firstWorker < m.cfg.Workers {
			m.receive(w, p, s)
		}
	case hold:
		m.holdStep(w, p, s)
	case pay:
		m.payStep(w, p, s)
	case look:
		if w.redis.stage(b) == absent {
			s.add(w, p, "Redis does not know the booking").at(readmit)
		} else {
			s.add(w, p, "Redis knows the booking").at(m.toPin(b)).procs[p].driver = w.redis.driver(b)
		}
	case payUnheld:
		m.payUnheldStep(w, p, s)
	case tombstone:
		n := s.add(w, p, "T4")
		if buried(m.ledger(n, opTombstone, b)) {
			n.at(undo)
		} else {
			n.name = "T4 says live: again later"
			n.rest()
		}
	case settle, settlePaid:
		n := s.add(w, p, "S3")
		m.script(&n.world, m.settle(w.redis, b, w.procs[p].pc == settlePaid))
		n.at(finish)
	case finish:
		n := s.add(w, p, "deletes the message")
		n.queue[w.procs[p].msg] = nowhere
		n.rest()
	default:
		m.readmission(w, p, s)
	}
}

// receive takes any message. A group keeps booking.held before the payment,
// unless the former went to the DLQ; two workers may have the same message.
func (m *Model) receive(w *world, p int, s *steps) {
	for i := range uint8(messages) {
		b := bid(i % attempts)
		if w.queue[i] != queued || i >= attempts && !m.cfg.DeadLetter && w.queue[heldMessage(b)] == queued {
			continue
		}
		n := s.add(w, p, "receives")
		n.procs[p] = proc{pc: hold, b: b, msg: i}
		if i >= attempts {
			n.at(pay)
		}
	}
}

// holdStep is T1 and the reading of its failure (protocol.md 3.3).
func (m *Model) holdStep(w *world, p int, s *steps) {
	o := opHold
	if m.rules.ReleasedRevives && w.ledger.released(w.procs[p].b) {
		o = opRevive
	}
	n := s.add(w, p, "T1")
	switch m.ledger(n, o, w.procs[p].b) {
	case 0, ledger.VerdictDone:
		n.at(settle)
	case ledger.VerdictReleased:
		n.name = "T1 meets RELEASED"
		n.at(undo)
	case ledger.VerdictResolved, ledger.VerdictForeign, ledger.VerdictConflict:
		n.name = "T1 meets another booking or a resolved payment"
		n.at(tombstone)
	}
}

// payStep is T2 and the reading of its failure.
func (m *Model) payStep(w *world, p int, s *steps) {
	b := w.procs[p].b
	n := s.add(w, p, "T2")
	switch m.ledger(n, opPay, b) {
	case 0, ledger.VerdictDone:
		n.at(settlePaid)
	case ledger.VerdictUnheld:
		n.name = "T2 meets no booking"
		n.at(look)
	case ledger.VerdictReleased:
		n.name = "T2 meets RELEASED"
		n.at(late)
		if m.rules.LateRevives {
			n.name = "T2 makes RELEASED live"
			if m.ledger(n, opReviveLate, b) == 0 {
				n.at(settlePaid)
			}
		}
	case ledger.VerdictResolved, ledger.VerdictForeign: // the refund sweep, or an operator
		n.name = "T2 meets a resolved payment"
		n.at(finish)
	}
}

// payUnheldStep is T2' and the reading of its failure.
func (m *Model) payUnheldStep(w *world, p int, s *steps) {
	n := s.add(w, p, "T2'")
	switch m.ledger(n, opPayUnheld, w.procs[p].b) {
	case 0, ledger.VerdictDone:
		n.at(settlePaid)
	case ledger.VerdictHeld, ledger.VerdictReleased, ledger.VerdictAgain:
		n.name = "T2' meets the booking"
		n.at(pay)
	default:
		n.name = "T2' meets another booking or a resolved payment"
		n.at(tombstone)
	}
}

package model

import "github.com/holdfast/holdfast/ledger"

// surroundings appends what happens by itself: customers and operators,
// failovers, delayed commands, the DLQ and the refund sweep.
func (m *Model) surroundings(w *world, s *steps) {
	for b := range bid(attempts) {
		m.customer(w, b, s)
		m.delayed(w, b, s)
	}
	if m.cfg.Holds {
		m.clock(w, s)
	}
	if m.cfg.Cancel {
		for b := range bid(bookings) {
			if w.ledger.state(b) == ledger.Paid {
				m.ledger(s.add(w, nobody, "an operator cancels "+bidNames[b]), opCancel, b)
			}
		}
	}
	if int(w.failovers) < m.cfg.Failovers {
		for i := range w.lags {
			s.add(w, nobody, "failover loses "+losses[w.lags-i]).promote(i)
		}
	}
	if m.cfg.DeadLetter {
		m.deadLetters(w, s)
	}
}

var losses = [...]string{"", "the last write", "the last 2 writes", "the last 3 writes", "the last 4 writes", "the last 5 writes"}

func (m *Model) customer(w *world, b bid, s *steps) {
	if int(b) < m.cfg.Payers && w.session[b] == public {
		n := s.add(w, nobody, "the customer pays "+paymentNames[b])
		n.session[b] = captured
		n.queue[moneyMessage(b)] = queued
	}
	if m.cfg.Resend && w.redis.stage(b) == attached && w.queue[heldMessage(b)] == nowhere {
		n := s.add(w, nobody, "a repeat of "+bidNames[b]+" sends booking.held again: 200")
		n.queue[heldMessage(b)] = queued
		n.acked |= 1 << b
	}
	if p := w.ledger.payment(uint8(b)); m.cfg.Refunds && (p == refundDue || p == refundSent) {
		m.ledger(s.add(w, nobody, "T6 of "+paymentNames[b]), opRefundNext, b)
	}
}

// delayed runs a command whose sender gave up long ago.
func (m *Model) delayed(w *world, b bid, s *steps) {
	if w.zombies&(1<<b) != 0 {
		n := s.add(w, nobody, "the delayed S1 of "+bidNames[b]+" arrives")
		n.zombies &^= 1 << b
		if next, a := m.admit(w.redis, b); a == ok {
			m.script(&n.world, next)
		}
	}
	if w.zombies&(4<<b) != 0 {
		n := s.add(w, nobody, "the delayed S2 quick of "+bidNames[b]+" arrives")
		n.zombies &^= 4 << b
		next, _ := m.undo(w.redis, b, true, 1)
		m.script(&n.world, next)
	}
}

func (m *Model) deadLetters(w *world, s *steps) {
	for i, at := range w.queue {
		switch at {
		case queued:
			s.add(w, nobody, "a message goes to the DLQ: "+messageNames[i]).queue[i] = parked
		case parked:
			s.add(w, nobody, "a message is redriven: "+messageNames[i]).queue[i] = queued
		}
	}
}

var messageNames = [messages]string{"booking.held b0", "booking.held b1", "payment.notified p0", "payment.notified p1"}

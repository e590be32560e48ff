package model

import "github.com/holdfast/holdfast/ledger"

// heal kills every process and lets redelivery and sweeps alone work until
// nothing is left to do. It returns what is wrong then.
//
// Everything redelivered succeeds, holds run out, and nothing else happens. What
// lies in the DLQ stays there for the first audit and is redriven for the
// second.
func (m *Model) heal(from *world) []string {
	q := rest{from.redis, from.ledger, from.session, from.queue, from.acked}
	if found, ok := m.healed[q]; ok {
		return found
	}
	w := world{redis: q.redis, ledger: q.ledger, session: q.session, queue: q.queue, acked: q.acked, failovers: uint8(m.cfg.Failovers)}
	for h := holdOf(0); h.isHold(); h++ { // time passes, and sweeps free what is over
		if w.redis = w.redis.late(h); w.redis.hold(h) != noHold {
			w.redis = w.redis.free(h)
		}
	}
	found := m.quiet(&w)
	if len(found) == 0 {
		for i, at := range w.queue {
			if at == parked {
				w.queue[i] = queued
			}
		}
		found = m.quiet(&w)
	}
	m.healed[q] = found
	return found
}

// rest is all of a world that outlives its processes. Which writes a replica
// lacks does not matter: nothing fails over while it heals.
type rest struct {
	redis   redis
	ledger  packed
	session [attempts]session
	queue   [messages]place
	acked   uint8
}

// healRounds is far more than any healing takes.
const healRounds = 32

// quiet sweeps until a whole round changes nothing, then audits. A message or a
// lost booking that waits for a dead mark gets its ten minutes (protocol.md 3.8,
// lifetimes), and is counted.
func (m *Model) quiet(w *world) []string {
	for range healRounds {
		before := *w
		for i := range uint8(messages) {
			m.deliver(w, i)
		}
		for b := range bid(bookings) {
			m.sweep(w, b)
		}
		switch stuck := w.queues() || w.lacks(); {
		case *w != before:
		case !stuck:
			return m.auditQuiet(w)
		case w.redis.undead() == w.redis:
			return append(m.auditQuiet(w), "healing: a message is redelivered for ever, or a booking never comes back")
		default:
			m.slow++
			w.redis = w.redis.undead()
		}
	}
	return []string{"healing: it does not end"}
}

// lacks reports whether a live booking is not in Redis.
func (w *world) lacks() bool {
	for b := range bid(bookings) {
		if w.ledger.live(b) && w.redis.stage(b) == absent {
			return true
		}
	}
	return false
}

func (w *world) queues() bool {
	for _, at := range w.queue {
		if at == queued {
			return true
		}
	}
	return false
}

// deliver lets one worker handle message i.
func (m *Model) deliver(w *world, i uint8) {
	if w.queue[i] != queued {
		return
	}
	start := proc{pc: hold, b: bid(i % attempts), msg: i}
	if i >= attempts {
		start.pc = pay
	}
	m.walk(w, firstWorker, start)
}

// sweep lets one reaper do all it would for booking b, and drives its refund.
func (m *Model) sweep(w *world, b bid) {
	if w.redis.pending(m.candidate(b)) == b {
		m.walk(w, firstReaper, proc{pc: orphan, b: b})
	}
	if w.ledger.state(b) == ledger.Held {
		m.calm = m.calm[:0]
		m.expireStep(w, firstReaper, b, &m.calm)
		*w = m.calm[0].world
		m.walk(w, firstReaper, w.procs[firstReaper])
	}
	if w.ledger.undoOwed(b) || w.ledger.released(b) && w.redis.stage(b) != absent {
		m.walk(w, firstReaper, proc{pc: undo, b: b})
	}
	if w.ledger.live(b) && w.redis.stage(b) == absent {
		m.walk(w, firstReaper, proc{pc: confirmLive, b: b})
	}
	for b < attempts && (w.ledger.payment(uint8(b)) == refundDue || w.ledger.payment(uint8(b)) == refundSent) {
		w.ledger = m.write(w.ledger, opRefundNext, b).next
	}
}

// healSteps is far more than any walk takes.
const healSteps = 100

// walk runs one process on the path on which nothing goes wrong, to its end. One
// that has none leaves a world that is never quiet.
func (m *Model) walk(w *world, p int, start proc) {
	w.procs[p] = start
	for range healSteps {
		if w.procs[p].pc == idle {
			return
		}
		m.calm = m.calm[:0]
		m.run(w, p, &m.calm)
		*w = m.calm[0].world
	}
	panic("model: a walk does not end: " + m.calm[0].name)
}

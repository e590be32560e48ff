package model

import "hash/maphash"

// maxLag bounds Config.Lag.
const maxLag = 5

// Processes by index: drivers, resumers, workers, reapers.
const (
	firstResumer = attempts
	firstWorker  = firstResumer + 2
	firstReaper  = firstWorker + 2
	maxProcs     = firstReaper + 2
)

// proc is a process: where it is, the booking and the message it is about, its
// driver number, and how many of the writes in lag its WAIT waits for.
type proc struct {
	pc     pc
	b      bid
	msg    uint8
	driver uint8
	pos    uint8
}

// lost is the pos of a process whose connection a failover has cut.
const lost = 99

// world is one state of the whole system. It has no pointers: to copy it is to
// fork the system.
type world struct {
	redis  redis
	lag    [maxLag]redis // states a promotion may go back to, oldest first: one before each unacknowledged write
	ledger packed

	lags      uint8
	failovers uint8
	session   [attempts]session // at the gateway
	queue     [messages]place
	acked     uint8 // attempts that a client was told of, a bit each
	zombies   uint8 // delayed S1 (bit a) and S2 quick (bit 2+a), and a late release of hold a (bit 4+a)
	procs     [maxProcs]proc
}

// session is a payment at the gateway.
type session uint8

const (
	noSession session = iota
	public            // its URL is out
	captured
)

// Messages by index: booking.held and payment.notified of each attempt.
const messages = 2 * attempts

func heldMessage(b bid) uint8  { return uint8(b) }
func moneyMessage(b bid) uint8 { return attempts + uint8(b.attempt()) }

// place is where a message is.
type place uint8

const (
	nowhere place = iota
	queued
	parked // in the DLQ
)

var seed = maphash.MakeSeed()

// hash stands for the world in the visited set. Two worlds with one hash would
// be taken for one: among ten million the odds are one to 300,000.
func (w *world) hash() uint64 { return maphash.Comparable(seed, *w) }

// script makes next the state of Redis; the replica is one write further behind.
func (m *Model) script(w *world, next redis) {
	if next != w.redis && int(w.failovers) < m.cfg.Failovers {
		if int(w.lags) == m.cfg.Lag {
			w.caughtUp(1)
		}
		w.lag[w.lags] = w.redis
		w.lags++
	}
	w.redis = next
}

// awaits makes p wait for all that is written now.
func (w *world) awaits(p int, at pc) {
	w.procs[p].pc, w.procs[p].pos = at, w.lags
}

// caughtUp: the replica has the n oldest writes that it lacked.
func (w *world) caughtUp(n uint8) {
	copy(w.lag[:], w.lag[n:w.lags])
	for i := w.lags - n; i < w.lags; i++ {
		w.lag[i] = 0
	}
	w.lags -= n
	for i := range w.procs {
		if p := &w.procs[i]; p.pos != lost {
			p.pos -= min(p.pos, n)
		}
	}
}

// acknowledge: the replica has all that p waits for. A stale one is another
// than the one that answers, and may lack it all the same.
func (m *Model) acknowledge(w *world, p int) {
	pos := w.procs[p].pos
	w.procs[p].pos = 0
	if pos != lost && !m.cfg.Stale {
		w.caughtUp(pos)
	}
}

// promote is a failover to the replica as it was before the i-th write that it
// lacks. Whoever waits for the old primary loses the connection.
func (w *world) promote(i uint8) {
	w.redis = w.lag[i]
	w.lag, w.lags = [maxLag]redis{}, 0
	w.failovers++
	for j := range w.procs {
		if p := &w.procs[j]; p.pc.waits() {
			p.pos = lost
		}
	}
}

package model

// The model's sale has at most two attempts to book, and for each of them the
// booking that a late payment may get. Both want the one seat that there is, or
// with two seats each one of its own.
const (
	attempts = 2
	bookings = 2 * attempts
	maxSeats = attempts
)

// bid is a booking: 0 and 1 are the attempts, 2 and 3 their late re-admissions.
type bid uint8

const noBid bid = 7

func (b bid) late() bid      { return b | attempts }
func (b bid) isLate() bool   { return b >= attempts }
func (b bid) attempt() bid   { return b &^ attempts }
func (b bid) payment() uint8 { return uint8(b.attempt()) } // one payment for each attempt

// stage is how far an admission has come.
type stage uint8

const (
	absent stage = iota
	admitted
	attached
	settled
)

// redis is the admission state of the sale (protocol.md 3.2) in 42 bits: for
// each booking stage and driver number, for each candidate the booking in seen
// and in pending, for each booking the dead mark, for each seat its owner and
// whether it is in free, and the published counter. Owners are kept plus one, so that the
// zero value is empty.
type redis uint64

const (
	seenAt  = 4 * bookings
	pendAt  = seenAt + 3*2
	deadAt  = pendAt + 3*2
	seatAt  = deadAt + bookings
	freeAt  = seatAt + 3*maxSeats
	countAt = freeAt + maxSeats
)

// seats is how many seats the sale has.
func (m *Model) seats() uint8 {
	if m.cfg.TwoSeats {
		return 2
	}
	return 1
}

// seatOf is the seat that booking b wants.
func (m *Model) seatOf(b bid) uint {
	if m.cfg.TwoSeats {
		return uint(b.attempt())
	}
	return 0
}

// unsold is the sale before the first booking.
func (m *Model) unsold() redis {
	return redis(0).set(freeAt, maxSeats, 1<<m.seats()-1)
}

func (r redis) get(at, width uint) uint8 { return uint8(r>>at) & (1<<width - 1) }

func (r redis) set(at, width uint, v uint8) redis {
	mask := redis(1)<<width - 1
	return r&^(mask<<at) | redis(v)&mask<<at
}

func (r redis) owner(at uint) bid {
	if v := r.get(at, 3); v > 0 {
		return bid(v - 1)
	}
	return noBid
}

func (r redis) own(at uint, b bid) redis {
	if b == noBid {
		return r.set(at, 3, 0)
	}
	return r.set(at, 3, uint8(b)+1)
}

func (r redis) stage(b bid) stage   { return stage(r.get(4*uint(b), 2)) }
func (r redis) driver(b bid) uint8  { return r.get(4*uint(b)+2, 2) }
func (r redis) seen(c uint8) bid    { return r.owner(seenAt + 3*uint(c)) }
func (r redis) pending(c uint8) bid { return r.owner(pendAt + 3*uint(c)) }
func (r redis) dead(b bid) bool     { return r.get(deadAt+uint(b), 1) == 1 }
func (r redis) seat(i uint) bid     { return r.owner(seatAt + 3*i) }
func (r redis) isFree(i uint) bool  { return r.get(freeAt+i, 1) == 1 }
func (r redis) free() uint8         { return r.get(freeAt, 1) + r.get(freeAt+1, 1) }
func (r redis) count() uint8        { return r.get(countAt, 2) }

func (r redis) withRecord(b bid, s stage, driver uint8) redis {
	return r.set(4*uint(b), 2, uint8(s)).set(4*uint(b)+2, 2, driver)
}
func (r redis) withSeen(c uint8, b bid) redis    { return r.own(seenAt+3*uint(c), b) }
func (r redis) withPending(c uint8, b bid) redis { return r.own(pendAt+3*uint(c), b) }

// undead is r when all dead marks have run out.
func (r redis) undead() redis {
	return r &^ ((1<<bookings - 1) << deadAt)
}

// answer is what a script says; which of them it can say is at each script.
type answer uint8

const (
	ok answer = iota + 1
	replayed
	duplicate
	full
	dead
	corrupt
	undone
	gone
	armed
	superseded
	have
	candidateTaken
	seatTaken
	noFree
)

// admit is S1: ok, replayed, duplicate, full, dead or corrupt.
func (m *Model) admit(r redis, b bid) (redis, answer) {
	c := m.candidate(b)
	if r.dead(b) {
		return r, dead
	}
	if cur := r.seen(c); cur != noBid {
		switch {
		case r.stage(cur) == absent:
			return r, corrupt
		case cur == b:
			return r, replayed
		}
		return r, duplicate
	}
	if r.count()+r.free() != m.seats() {
		return r, corrupt
	}
	if !r.isFree(m.seatOf(b)) {
		return r, full
	}
	return m.take(r, b, admitted).withPending(c, b), ok
}

// take gives b its seat.
func (m *Model) take(r redis, b bid, s stage) redis {
	i := m.seatOf(b)
	r = r.set(freeAt+i, 1, 0).set(countAt, 2, r.count()+1).own(seatAt+3*i, b)
	return r.withSeen(m.candidate(b), b).withRecord(b, s, 1)
}

// undo is S2: undone, gone, armed or superseded.
func (m *Model) undo(r redis, b bid, quick bool, driver uint8) (redis, answer) {
	has := r.stage(b) != absent
	if has && quick {
		if r.stage(b) != admitted && !m.rules.UndoAttached {
			return r, armed
		}
		if r.driver(b) != driver && !m.rules.NoDriverNumbers {
			return r, superseded
		}
	}
	if !m.rules.NoDeadMark {
		r = r.set(deadAt+uint(b), 1, 1)
	}
	if m.rules.UndoByCandidate {
		if cur := r.seen(m.candidate(b)); cur != noBid {
			b, has = cur, true
		}
	}
	if !has {
		return r, gone
	}
	c := m.candidate(b)
	r = r.withRecord(b, absent, 0)
	if r.seen(c) == b {
		r = r.withSeen(c, noBid)
	}
	if r.pending(c) == b {
		r = r.withPending(c, noBid)
	}
	if i := m.seatOf(b); r.seat(i) == b {
		r = r.own(seatAt+3*i, noBid).set(freeAt+i, 1, 1).set(countAt, 2, r.count()-1)
	}
	return r, undone
}

// settle is S3.
func (m *Model) settle(r redis, b bid, paid bool) redis {
	if c := m.candidate(b); r.pending(c) == b || m.rules.SettleByCandidate {
		r = r.withPending(c, noBid)
	}
	if paid && r.stage(b) != absent {
		r = r.withRecord(b, settled, r.driver(b))
	}
	return r
}

// reseed is S4: ok, have, dead, candidateTaken, seatTaken, noFree or corrupt.
func (m *Model) reseed(r redis, b bid, s stage) (redis, answer) {
	switch {
	case r.dead(b):
		return r, dead
	case r.stage(b) != absent:
		return r, have
	case r.seen(m.candidate(b)) != noBid:
		return r, candidateTaken
	case r.count()+r.free() != m.seats():
		return r, corrupt
	case r.seat(m.seatOf(b)) != noBid:
		return r, seatTaken
	case r.free() == 0:
		return r, noFree
	}
	return m.take(r, b, s), ok
}

// attach is S5: ok, have, gone or superseded.
func (m *Model) attach(r redis, b bid, driver uint8) (redis, answer) {
	switch s := r.stage(b); {
	case s == absent:
		return r, gone
	case s != admitted:
		return r, have
	case r.driver(b) != driver && !m.rules.NoDriverNumbers:
		return r, superseded
	}
	return r.withRecord(b, attached, r.driver(b)), ok
}

// maxDrivers bounds the driver numbers; a record has two bits for them.
const maxDrivers = 3

// resume is S10 of a driver that has been silent long enough: ok, have or gone.
func (m *Model) resume(r redis, b bid) (redis, answer, uint8) {
	switch s := r.stage(b); {
	case s == absent || r.driver(b) == maxDrivers:
		return r, gone, 0
	case s != admitted:
		return r, have, 0
	}
	d := r.driver(b) + 1
	return r.withRecord(b, admitted, d), ok, d
}

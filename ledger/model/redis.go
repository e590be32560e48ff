package model

// The model's sale has at most two attempts to book, and for each of them the
// booking that a late payment may get. Both want the one seat that there is, or
// with two seats each one of its own.
const (
	attempts = 2
	bookings = 2 * attempts
	maxSeats = attempts
)

// bid is a booking: 0 and 1 are the attempts, 2 and 3 their late re-admissions;
// or, in Redis alone, a soft hold: 4 and 5.
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

// redis is the admission state of the sale (protocol.md 3.2) in 52 bits: for
// each booking stage and driver number, for each candidate the booking in seen
// and in pending, for each booking the dead mark, for each seat its owner and
// whether it is in free, the published counter, and what holds.go says. Owners are
// kept plus one, so that the zero value is empty.
type redis uint64

const (
	seenAt  = 4 * bookings
	pendAt  = seenAt + 3*2
	deadAt  = pendAt + 3*2
	seatAt  = deadAt + bookings
	freeAt  = seatAt + 3*maxSeats
	countAt = freeAt + maxSeats
	holdAt  = countAt + 2      // for each soft hold: none, live or over
	endedAt = holdAt + 2*holds // its dead mark
	wasAt   = endedAt + holds  // for each attempt the hold that it was made of, while that has time
)

// seats is how many seats the sale has.
func (m *Model) seats() uint8 {
	if m.cfg.TwoSeats || m.cfg.Groups {
		return 2
	}
	return 1
}

// group are the seats that booking b wants, a bit each: the only one, one of its
// own, or of groups that overlap the second alone and both.
func (m *Model) group(b bid) uint8 {
	switch {
	case m.cfg.Groups && b.attempt() == 0:
		return 3
	case m.cfg.Groups:
		return 2
	case m.cfg.TwoSeats:
		return 1 << b.attempt()
	}
	return 1
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
func (r redis) unsold() uint8       { return r.get(freeAt, 1) + r.get(freeAt+1, 1) }
func (r redis) count() uint8        { return r.get(countAt, 2) }

func (r redis) withRecord(b bid, s stage, driver uint8) redis {
	return r.set(4*uint(b), 2, uint8(s)).set(4*uint(b)+2, 2, driver)
}
func (r redis) withSeen(c uint8, b bid) redis    { return r.own(seenAt+3*uint(c), b) }
func (r redis) withPending(c uint8, b bid) redis { return r.own(pendAt+3*uint(c), b) }

// undead is r when all dead marks have run out.
func (r redis) undead() redis {
	return r &^ ((1<<bookings - 1) << deadAt) &^ ((1<<holds - 1) << endedAt)
}

// give makes b the owner of the seats.
func (r redis) give(mask uint8, b bid) redis {
	for i := range uint(maxSeats) {
		if mask&(1<<i) != 0 {
			r = r.set(countAt, 2, r.count()+r.get(freeAt+i, 1)).set(freeAt+i, 1, 0).own(seatAt+3*i, b)
		}
	}
	return r
}

// putBack frees the seats that are b's.
func (r redis) putBack(b bid) redis {
	for i := range uint(maxSeats) {
		if r.seat(i) == b {
			r = r.own(seatAt+3*i, noBid).set(freeAt+i, 1, 1).set(countAt, 2, r.count()-1)
		}
	}
	return r
}

// owned are the seats that are b's, freeOf those of the mask that are free.
func (r redis) owned(b bid) (mask uint8) {
	for i := range uint(maxSeats) {
		if r.seat(i) == b {
			mask |= 1 << i
		}
	}
	return mask
}

func (r redis) freeOf(mask uint8) uint8 { return mask & r.get(freeAt, maxSeats) }

// ownerOf is somebody who has a seat that b wants, or nobody.
func (m *Model) ownerOf(r redis, b bid) bid {
	for i := range uint(maxSeats) {
		if owner := r.seat(i); m.group(b)&(1<<i) != 0 && owner != noBid {
			return owner
		}
	}
	return noBid
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
	if cur := r.seen(c); cur.isHold() && r.holdOver(cur) {
		r = r.free(cur)
	}
	if cur := r.seen(c); cur != noBid {
		switch {
		case cur.isHold():
			return r, duplicate
		case r.stage(cur) == absent:
			return r, corrupt
		case cur == b:
			return r, replayed
		}
		return r, duplicate
	}
	r = r.lapsed()
	if r.count()+r.unsold() != m.seats() {
		return r, corrupt
	}
	if r.freeOf(m.group(b)) != m.group(b) {
		return r, full
	}
	return m.take(r, b, admitted).withPending(c, b), ok
}

// take gives b its seats.
func (m *Model) take(r redis, b bid, s stage) redis {
	r = r.give(m.group(b), b)
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
	if b.isHold() { // a mutant's
		return r.free(b), undone
	}
	return r.putBack(b).set(wasAt+2*uint(b.attempt()), 2, 0), undone
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
	case r.count()+r.unsold() != m.seats():
		return r, corrupt
	case m.ownerOf(r, b) != noBid:
		return r, seatTaken
	case r.unsold() == 0:
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

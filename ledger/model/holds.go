package model

// A soft hold is an attempt's: what its customer has chosen before it books
// (protocol.md 4). It lives in Redis alone, under an id of its own.
const holds = attempts

func holdOf(a bid) bid       { return bookings + a }
func (b bid) isHold() bool   { return b >= bookings && b < bookings+holds }
func (b bid) number() uint   { return uint(b - bookings) }
func (b bid) promotion() bid { return b - bookings } // the attempt that books a hold

// holdState is a hold's: its deadline may pass at any moment.
type holdState uint8

const (
	noHold holdState = iota
	liveHold
	overHold
)

func (r redis) hold(h bid) holdState { return holdState(r.get(holdAt+2*h.number(), 2)) }
func (r redis) holdOver(h bid) bool  { return r.hold(h) == overHold }
func (r redis) ended(h bid) bool     { return r.get(endedAt+h.number(), 1) == 1 }

func (r redis) withHold(h bid, s holdState) redis { return r.set(holdAt+2*h.number(), 2, uint8(s)) }
func (r redis) withEnd(h bid, ended bool) redis   { return r.set(endedAt+h.number(), 1, bit(ended)) }

// was is the hold that booking b was made of, if it can still be that again.
func (r redis) was(b bid) bid {
	if v := r.get(wasAt+2*uint(b), 2); v > 0 {
		return bookings + bid(v-1)
	}
	return noBid
}

func (r redis) withWas(b, h bid) redis {
	if h == noBid {
		return r.set(wasAt+2*uint(b), 2, 0)
	}
	return r.set(wasAt+2*uint(b), 2, uint8(h.number())+1)
}

// free gives a hold's seats back.
func (r redis) free(h bid) redis {
	for c := range uint8(attempts) {
		if r.seen(c) == h {
			r = r.withSeen(c, noBid)
		}
	}
	return r.putBack(h).withHold(h, noHold)
}

// lapsed frees the holds past their deadline, whosever seats they have: S1 and
// S6 free those of the seats they want and twenty others.
func (r redis) lapsed() redis {
	for h := range bid(holds) {
		if h := bookings + h; r.holdOver(h) {
			r = r.free(h)
		}
	}
	return r
}

// choose is S6 of hold h for these seats: ok, duplicate, dead, corrupt or full. A
// live hold of the candidate's is replaced.
func (m *Model) choose(r redis, h bid, mask uint8) (redis, answer) {
	c := m.candidate(h.promotion())
	if r.ended(h) {
		return r, dead
	}
	cur := r.seen(c)
	if cur.isHold() && r.holdOver(cur) {
		r, cur = r.free(cur), noBid
	}
	if cur != noBid && !cur.isHold() {
		return r, duplicate
	}
	if !m.rules.ExpiredRefuse {
		r = r.lapsed()
	}
	old := uint8(0)
	if cur != noBid {
		if old = r.owned(cur); m.rules.DropFirst {
			r = r.free(cur)
			old, cur = 0, noBid
		}
	}
	if r.count()+r.unsold() != m.seats() {
		return r, corrupt
	}
	if can := r.freeOf(mask) | old&mask; can != mask {
		if !m.rules.HoldFreePart || can == 0 {
			return r, full
		}
		mask = can
	}
	if cur != noBid {
		r = r.free(cur)
		if cur != h {
			r = r.withEnd(cur, true)
		}
	}
	return r.give(mask, h).withHold(h, liveHold).withSeen(c, h), ok
}

// letGo is S2 of a soft hold: undone or gone.
func (m *Model) letGo(r redis, h bid) (redis, answer) {
	if cur := r.seen(m.candidate(h.promotion())); m.rules.ReleaseByCandidate && cur.isHold() {
		return r.free(cur).withEnd(h, true), undone
	}
	if r.hold(h) == noHold {
		return r.withEnd(h, true), gone
	}
	return r.free(h).withEnd(h, true), undone
}

// promote is S8 of hold h as booking b: ok, replayed, duplicate, dead or gone.
func (m *Model) promote(r redis, b, h bid) (redis, answer) {
	c := m.candidate(b)
	if r.dead(b) {
		return r, dead
	}
	cur := r.seen(c)
	if cur == b {
		return r, replayed
	}
	if cur != noBid && !cur.isHold() {
		return r, duplicate
	}
	if cur != h || r.hold(h) != liveHold && !m.rules.PromoteExpired {
		return r, gone
	}
	mask := r.owned(h)
	r = r.free(h).withEnd(h, true).give(mask, b).withSeen(c, b).withPending(c, b).withRecord(b, admitted, 1)
	if !m.rules.DemoteBlind {
		r = r.withWas(b, h)
	}
	return r, ok
}

// demote is the quick undo of a promotion: the seats go back to the hold, if it
// still has time.
func (m *Model) demote(r redis, b bid, driver uint8) (redis, answer) {
	h := r.was(b)
	if m.rules.DemoteBlind {
		h = holdOf(b)
	}
	if r.stage(b) == absent || h == noBid {
		return m.undo(r, b, true, driver)
	}
	if r.stage(b) != admitted && !m.rules.DemoteBlind {
		return r, armed
	}
	if r.driver(b) != driver && !m.rules.DemoteBlind {
		return r, superseded
	}
	mask := r.owned(b)
	next, _ := m.undo(r, b, false, driver)
	return next.give(mask, h).withHold(h, liveHold).withEnd(h, false).withSeen(m.candidate(b), h), undone
}

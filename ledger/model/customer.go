package model

// heldBy is the hold that the request p books.
func (m *Model) heldBy(p int) bid {
	if m.cfg.OneHold {
		return holdOf(0)
	}
	return holdOf(bid(p))
}

// bookedBy is the booking that the request p makes of its hold.
func (m *Model) bookedBy(p int) bid {
	if m.rules.PromoteKeepsID {
		return m.heldBy(p).promotion()
	}
	return bid(p)
}

// firstChoice is a customer's first choice: one seat of the group, S6. Of a double click
// the second request has no choice of its own.
func (m *Model) firstChoice(w *world, p int, s *steps) {
	h := m.heldBy(p)
	if m.cfg.OneHold && p > 0 {
		if w.redis.hold(h) != noHold || w.redis.ended(h) {
			m.click(w, p, s)
		}
		return
	}
	first := m.group(bid(p)) & -m.group(bid(p)) // the lowest seat
	n := m.choosing(w, p, h, first, "S6", s)
	if n.procs[p].pc != over && m.cfg.LateRelease {
		n.zombies |= 16 << h.number()
	}
}

// choosing is S6; a refusal ends a first choice, and changes nothing of an old one.
func (m *Model) choosing(w *world, p int, h bid, mask uint8, name string, s *steps) *step {
	next, a := m.choose(w.redis, h, mask)
	n := s.add(w, p, name+" OK")
	m.script(&n.world, next)
	n.broken = m.robbed(w.redis, next, func(x bid) bool { return m.candidate(x.promotion()) == m.candidate(h.promotion()) && a == ok })
	switch {
	case a == ok:
		if n.redis.owned(h) != mask {
			n.broken = "Group: " + bidNames[h] + ": half of it is held"
		}
		n.at(holding)
	case a == full:
		n.name = name + " says taken"
		if r := w.redis.lapsed(); n.broken == "" && r.freeOf(mask)|r.owned(h)&mask == mask {
			n.broken = "Refused: " + bidNames[h] + ": nobody has its seats but holds that are over"
		}
		if w.procs[p].pc == idle {
			n.rest()
		}
	default:
		n.name = name + " refuses"
		n.rest()
	}
	return n
}

// decide is what a customer does with a hold: change the choice, book it, let it
// go, or go away.
func (m *Model) decide(w *world, p int, s *steps) {
	h := m.heldBy(p)
	if want := m.group(bid(p)); w.redis.hold(h) != liveHold || w.redis.owned(h) == want {
		m.click(w, p, s)
	} else {
		m.choosing(w, p, h, want, "S6, another choice,", s)
	}
	m.lettingGo(s.add(w, p, "S2 of its hold"), w, h)
	(*s)[len(*s)-1].rest()
}

// click is S8: the hold becomes a booking, or is gone.
func (m *Model) click(w *world, p int, s *steps) {
	b, h := m.bookedBy(p), m.heldBy(p)
	next, a := m.promote(w.redis, b, h)
	if a != ok && !(a == replayed && m.rules.PromoteKeepsID) {
		n := s.add(w, p, "S8 refuses")
		m.script(&n.world, next)
		n.rest()
		return
	}
	promoted := func(name string, c pc) *step {
		n := s.add(w, p, name)
		m.script(&n.world, next)
		n.procs[p].b, n.procs[p].driver = b, 1
		n.at(c)
		n.broken = m.robbed(w.redis, next, func(x bid) bool { return x == h })
		if n.redis.owned(b) != m.group(b) {
			n.broken = "Group: " + bidNames[b] + ": it has other seats than its hold"
		}
		if a == ok && w.redis.hold(h) != liveHold {
			n.broken = "Expired: " + bidNames[h] + ": its deadline has passed, and it becomes a booking"
		}
		return n
	}
	n := promoted("S8 OK", admitWait)
	n.awaits(p, admitWait)
	if m.rules.NoWait {
		n.procs[p].pos = 0
		n.at(attach)
	}
	promoted("S8 OK, but its answer is lost", quickUndo)
}

// lettingGo is S2 of a soft hold.
func (m *Model) lettingGo(n *step, w *world, h bid) {
	next, _ := m.letGo(w.redis, h)
	m.script(&n.world, next)
	n.broken = m.robbed(w.redis, next, func(x bid) bool { return x == h })
}

// robbed says which live hold a script took something from that was none of its
// business; "" if none.
func (m *Model) robbed(before, after redis, may func(h bid) bool) string {
	for h := holdOf(0); h.isHold(); h++ {
		if before.hold(h) == liveHold && !may(h) && (after.hold(h) != liveHold || after.owned(h) != before.owned(h)) {
			return "Robbed: " + bidNames[h] + ": it was live, and another's step took from it"
		}
	}
	return ""
}

// clock lets deadlines pass, and second tabs let go.
func (m *Model) clock(w *world, s *steps) {
	for a := range bid(attempts) {
		h := holdOf(a)
		if w.redis.hold(h) == liveHold {
			n := s.add(w, nobody, "the deadline of "+bidNames[h]+" passes")
			n.redis = w.redis.late(h)
			for i := range n.lags { // on the replica too: it is a time, not a write
				n.lag[i] = n.lag[i].late(h)
			}
		}
		if w.redis.was(a) != noBid {
			n := s.add(w, nobody, "the deadline of the hold that "+bidNames[a]+" was passes")
			was := w.redis.was(a)
			n.redis = w.redis.late(was)
			for i := range n.lags {
				n.lag[i] = n.lag[i].late(was)
			}
		}
		if w.zombies&(16<<a) != 0 {
			n := s.add(w, nobody, "a second tab lets go of "+bidNames[h])
			n.zombies &^= 16 << a
			m.lettingGo(n, w, h)
		}
	}
}

// late is r when the deadline of h has passed, whether it is a hold or was one.
func (r redis) late(h bid) redis {
	if r.hold(h) == liveHold {
		r = r.withHold(h, overHold)
	}
	for a := range bid(attempts) {
		if r.was(a) == h {
			r = r.withWas(a, noBid)
		}
	}
	return r
}

package load

import (
	"context"
	"slices"
	"time"
)

// sit is one request for named seats, and what the person does then: hold,
// perhaps change, extend, give back or walk away, then book and pay.
func (r *run) sit(ctx context.Context, s Shot, due time.Time) {
	w := r.wish(&s)
	reply, held := r.ask(ctx, s, w)
	<-r.slots
	r.answered(s, reply, nil, due)
	if s.Person < 0 || (s.Kind != First && s.Kind != Retry) {
		return
	}
	switch reply.Outcome {
	case "201", "200":
		r.hall.note(func(n *SeatsResult) { n.Holds++ })
		r.holding(ctx, s, held)
	case "seat_taken":
		r.hall.note(func(n *SeatsResult) { n.Taken++ })
		r.chooseAgain(ctx, s, w, reply)
	default:
		r.follow(ctx, s, reply)
	}
}

// wish is what the person asks for. A repeated request is the same one. Who comes
// back takes what there is, which is another request under a key of its own.
func (r *run) wish(s *Shot) wish {
	h := r.hall
	switch {
	case s.Kind == Retry:
		s.Key = h.freshKey(s.Key)
		if s.Seats != nil {
			return wish{level: s.Level, seats: s.Seats, life: h.Hold}
		}
		if w, ok := h.any(s.Level); ok {
			return w
		}
		return wish{level: s.Level, best: 1, life: h.Hold}
	case s.Person < 0 || s.Kind != First && s.Kind != SameKey:
		return h.choose(s.Level, h.group())
	}
	w, ok := h.first(s.Person)
	if !ok {
		w = h.choose(s.Level, h.group())
	}
	return h.keepFirst(s.Person, w)
}

// ask sends a request for a hold and notes who has which seats now.
func (r *run) ask(ctx context.Context, s Shot, w wish) (Reply, Hold) {
	ours := s.Person >= 0 && s.Kind != WrongEmail && s.Kind != Honeypot
	if !ours {
		reply, err := r.client.hold(ctx, s, w)
		return reply.orError(err), Hold{}
	}
	return r.hall.changing(s.Person, nil, false, func() (Reply, error) { return r.client.hold(ctx, s, w) })
}

func (r Reply) orError(err error) Reply {
	if err != nil && r.Outcome == "" {
		r.Outcome = "error"
	}
	return r
}

// changing runs a request that may change what a person has.
func (h *hall) changing(person int, keep []string, books bool, send func() (Reply, error)) (Reply, Hold) {
	h.mu.Lock()
	h.owners.begin(person, keep)
	h.mu.Unlock()
	asked := time.Now()
	reply, err := send()
	reply = reply.orError(err)
	answered := time.Now()
	var c *claim
	if reply.Outcome == "201" || reply.Outcome == "200" {
		c = &claim{id: reply.Hold.ID, person: person, seats: reply.Hold.Seats, since: answered, until: asked.Add(reply.Hold.Until.Sub(reply.Hold.Now))}
		if books {
			b := reply.Booking
			c = &claim{id: b.ID, person: person, seats: b.Seats, booked: true, since: answered, until: asked.Add(b.HoldUntil.Sub(b.Now))}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out.Twice = append(h.out.Twice, h.owners.end(person, c, asked)...)
	return reply, reply.Hold
}

// holding is what the holder of seats does next.
func (r *run) holding(ctx context.Context, s Shot, held Hold) {
	h := r.hall
	switch {
	case len(held.Seats) == 0:
		h.note(func(n *SeatsResult) { n.Half = append(n.Half, "hold "+held.ID+" has no seats") })
		return
	case s.Kind != Retry && h.chance(h.Walk):
		h.note(func(n *SeatsResult) { n.Walked++ })
		return
	case s.Kind != Retry && h.chance(h.Release):
		h.note(func(n *SeatsResult) { n.Released++ })
		h.changing(s.Person, nil, false, func() (Reply, error) { return r.client.letGo(ctx, s, held.ID) })
		return
	case h.chance(h.Change):
		held = r.changeMind(ctx, s, held)
	case h.chance(h.Extend):
		h.note(func(n *SeatsResult) { n.Extended++ })
		reply, after := h.changing(s.Person, held.Seats, false, func() (Reply, error) {
			return r.client.change(ctx, s, held.ID, wish{life: h.Hold})
		})
		if reply.Outcome == "200" {
			held = after
		}
	}
	r.book(ctx, s, held)
}

// changeMind keeps one seat if it can and chooses the rest anew; if that is
// refused the old choice stays.
func (r *run) changeMind(ctx context.Context, s Shot, held Hold) Hold {
	h := r.hall
	w := h.choose(held.Level, len(held.Seats))
	w.life = 0
	var keep []string
	if w.seats != nil {
		w.seats = slices.Clone(w.seats)
		w.seats[0] = held.Seats[0]
		keep = held.Seats[:1]
	}
	reply, after := h.changing(s.Person, keep, false, func() (Reply, error) { return r.client.change(ctx, s, held.ID, w) })
	if reply.Outcome != "200" || len(after.Seats) == 0 {
		return held
	}
	h.note(func(n *SeatsResult) { n.Changed++ })
	if keep != nil && !slices.Contains(after.Seats, keep[0]) {
		h.note(func(n *SeatsResult) { n.Half = append(n.Half, after.ID+" lost "+keep[0]+", which it kept") })
	}
	return after
}

// book turns the hold into a booking and goes on as for any other booking.
func (r *run) book(ctx context.Context, s Shot, held Hold) {
	reply, _ := r.hall.changing(s.Person, held.Seats, true, func() (Reply, error) { return r.client.promote(ctx, s, held.Level, held.ID) })
	for try := 0; try < askTries && (reply.Outcome.later() || reply.Outcome == "error" || reply.Outcome == "in_progress"); try++ {
		if !pause(ctx, max(reply.RetryAfter, 500*time.Millisecond)) {
			return
		}
		reply, _ = r.hall.changing(s.Person, held.Seats, true, func() (Reply, error) { return r.client.promote(ctx, s, held.Level, held.ID) })
	}
	switch reply.Outcome {
	case "201", "200":
		r.hall.note(func(n *SeatsResult) {
			n.Promoted++
			if !sameSeats(held.Seats, reply.Booking.Seats) {
				n.Half = append(n.Half, "the hold of "+reply.Booking.ID+" had other seats")
			}
		})
	case "hold_gone":
		r.hall.note(func(n *SeatsResult) { n.Gone++ })
		reply.Outcome, s.Seats = "unavailable", nil // the person chooses anew
	}
	r.follow(ctx, s, reply)
}

// maxChoices is how often somebody chooses again; then they wait until seats come
// back.
const maxChoices = 4

// chooseAgain is what somebody does who was too slow: they take what is offered
// nearby, else any single seat.
func (r *run) chooseAgain(ctx context.Context, s Shot, w wish, reply Reply) {
	if w.best == 1 || !r.mayRetry(s.Person, maxChoices) { // not even one: it is full
		r.become(s.Person, func(p *state) bool { p.waiting, p.busy = !p.booked, false; return false })
		return
	}
	if !pause(ctx, r.jitter(time.Second)) {
		return
	}
	n := max(len(w.seats), w.best)
	s.Kind, s.Seats = Retry, nil
	if len(reply.Nearby) > 0 {
		s.Seats = reply.Nearby[:min(n, len(reply.Nearby))]
	}
	r.send(ctx, s, time.Now())
}

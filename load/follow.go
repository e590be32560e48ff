package load

import (
	"context"
	"time"
)

// state is what the generator knows of a person.
type state struct {
	booked  bool // has been answered with a booking
	waiting bool // was told that it is full, and would still pay
	busy    bool // a retry is under way
	tries   int
}

// follow does what the person does after the answer.
func (r *run) follow(ctx context.Context, s Shot, reply Reply) {
	if s.Person < 0 || (s.Kind != First && s.Kind != Retry && s.Kind != SameKey) {
		return
	}
	switch reply.Outcome {
	case "201", "200":
		if r.become(s.Person, func(p *state) bool {
			first := !p.booked
			p.booked, p.waiting, p.busy = true, false, false
			return first
		}) {
			r.remember(acked{id: reply.Booking.ID, person: s.Person, seats: reply.Booking.Seats})
			r.goAndPay(ctx, s, reply.Booking)
		}
	case "level_full", "sold_out":
		r.become(s.Person, func(p *state) bool { p.waiting, p.busy = !p.booked, false; return false })
	case "unavailable", "payment_unavailable", "in_progress", "rate_limited", "error":
		r.retry(ctx, s, reply.RetryAfter)
	default:
		r.become(s.Person, func(p *state) bool { p.busy = false; return false })
	}
}

// goAndPay lets the person pay when it is their turn at a gateway that shall not
// be asked by too many at once.
func (r *run) goAndPay(ctx context.Context, s Shot, b Booking) {
	r.mu.Lock()
	wait := r.pay.wait(time.Now())
	r.mu.Unlock()
	if wait > 0 && !pause(ctx, wait) {
		return
	}
	r.decide(ctx, s.Kind, b)
}

func (r *run) become(person int, change func(*state) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return change(&r.people[person])
}

// maxTries bounds how often a person who was told to come back does.
const maxTries = 12

// mayRetry counts a try of a person who has no booking; after the last one of
// most it is over.
func (r *run) mayRetry(person, most int) bool {
	return r.become(person, func(p *state) bool {
		p.tries++
		if p.booked || p.tries > most {
			p.busy = false
			return false
		}
		return true
	})
}

// retry sends the same request with the same key after the time that the
// answer named, with jitter.
func (r *run) retry(ctx context.Context, s Shot, after time.Duration) {
	if !r.mayRetry(s.Person, maxTries) {
		return
	}
	wait := max(after, 500*time.Millisecond) + r.jitter(500*time.Millisecond)
	if !pause(ctx, wait) {
		return
	}
	s.Kind = Retry
	r.send(ctx, s, time.Now())
}

func (r *run) jitter(most time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(r.rng.Int64N(int64(most)))
}

// pause waits; false means that ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

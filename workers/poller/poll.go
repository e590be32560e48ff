package poller

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/workers/delivery"
)

const (
	// tidyTimeout bounds a delete, release or extension, each of which must also
	// go through while the poller stops.
	tidyTimeout = 5 * time.Second
	// attemptLife is how long a lost poll is repeated under its id; the queue
	// remembers it for five minutes.
	attemptLife = 4 * time.Minute
)

// poll receives until the intake ends. A poll without an answer is repeated
// under the same id, or its messages would stay hidden from everybody.
func (p *Poller) poll(s stages) {
	for s.intake.Err() == nil {
		attempt, since := rand.Text(), p.cfg.Now()
		for failures := 0; ; failures++ {
			messages, err := p.cfg.Source.Receive(s.intake, attempt, p.cfg.Wait)
			if err != nil && s.intake.Err() != nil {
				p.reclaim(s, attempt)
				return
			}
			p.cfg.Observer.Polled(len(messages), err)
			if err == nil {
				p.dispatch(messages)
				break
			}
			p.cfg.Log.WarnContext(s.intake, "poll failed, trying again", "failures", failures+1, "error", err)
			p.rest(s.intake, failures)
			if p.cfg.Now().Sub(since) > attemptLife {
				break
			}
		}
	}
}

// reclaim gives back what a poll may have taken whose answer the end of the
// intake cut off; else it would stay hidden for a whole visibility time-out.
func (p *Poller) reclaim(s stages, attempt string) {
	ctx, cancel := context.WithTimeout(s.tidy, tidyTimeout)
	defer cancel()
	messages, err := p.cfg.Source.Receive(ctx, attempt, 0)
	if err != nil {
		p.cfg.Observer.TidyFailed("reclaim", 1)
		return
	}
	p.release(s, messages)
}

// rest waits before a poll is repeated, 100 ms doubling to 6.4 s.
func (p *Poller) rest(ctx context.Context, failures int) {
	timer := time.NewTimer(100 * time.Millisecond << min(failures, 6))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// dispatch hands each group to a worker, as soon as one is free. Until then the
// poller waits, which is what limits the intake.
func (p *Poller) dispatch(messages []events.Message) {
	now := p.cfg.Now()
	p.ages.note(messages, now)
	p.holds.add(messages, now)
	for _, group := range delivery.Groups(messages) {
		p.groups <- group
	}
}

// work handles groups until there are no more. It goes from group to group on one
// stack: the calls of an event go deep, and a stack that has to grow anew for each
// of them is a twentieth of the work.
func (p *Poller) work(s stages) {
	for group := range p.groups {
		p.handle(s, group)
	}
}

// handle handles a group in order and stops at its first failure
// (protocol.md 3.6).
func (p *Poller) handle(s stages, group []events.Message) {
	for i, m := range group {
		switch {
		case !p.holds.held(m.Handle, p.cfg.Now()):
			// Its time ran out: somebody else may be at it. Handling it would
			// be safe, but it and what follows will come again in order.
			p.holds.drop(handlesOf(group[i:])...)
			p.cfg.Observer.TidyFailed("extend", len(group)-i)
			return
		case s.work.Err() != nil:
			p.release(s, group[i:])
			return
		case !p.deliverer.Deliver(s.work, m):
			p.retryLater(s, group[i:])
			return
		}
		p.deletes <- m.Handle
	}
}

package poller

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/events"
)

// retryLater gives back a group whose first message failed. The rest goes
// first: while the failed one is hidden the queue delivers none behind it, so
// at no instant could a later one overtake it.
func (p *Poller) retryLater(s stages, group []events.Message) {
	failed := group[0]
	p.release(s, group[1:])
	p.holds.drop(failed.Handle)
	if s.work.Err() != nil { // it was cut off, not refused: the next worker may have it now
		p.setVisibility(s, []string{failed.Handle}, 0)
		return
	}
	p.setVisibility(s, []string{failed.Handle}, p.cfg.Backoff(failed.Meta.ReceiveCount))
}

// release gives messages back at once, in their order.
func (p *Poller) release(s stages, messages []events.Message) {
	if len(messages) == 0 {
		return
	}
	handles := handlesOf(messages)
	p.holds.drop(handles...)
	p.setVisibility(s, handles, 0)
}

// setVisibility is allowed to fail: the message comes again by itself when its
// visibility runs out.
func (p *Poller) setVisibility(s stages, handles []string, d time.Duration) {
	ctx, cancel := context.WithTimeout(s.tidy, tidyTimeout)
	defer cancel()
	if places := failed(p.cfg.Source.SetVisibility(ctx, handles, d)); len(places) > 0 {
		p.cfg.Observer.TidyFailed("release", len(places))
	}
}

// deleteDone deletes what is done, until the channel is closed: at once, and as
// many in a call as have come meanwhile.
func (p *Poller) deleteDone(tidy context.Context) {
	const most = 10 // of one call
	for handle := range p.deletes {
		handles := append(make([]string, 0, most), handle)
		for more := true; more && len(handles) < most; {
			select {
			case h, open := <-p.deletes:
				if more = open; open {
					handles = append(handles, h)
				}
			default:
				more = false
			}
		}
		p.delete(tidy, handles)
	}
}

// delete tries twice: a message that stays holds its group back until its
// visibility runs out. After that it comes again and is handled as done.
func (p *Poller) delete(tidy context.Context, handles []string) {
	defer p.holds.drop(handles...)
	left := handles
	for range 2 {
		ctx, cancel := context.WithTimeout(tidy, tidyTimeout)
		var again []string
		for _, i := range failed(p.cfg.Source.Delete(ctx, left)) {
			again = append(again, left[i])
		}
		cancel()
		if left = again; len(left) == 0 {
			return
		}
	}
	p.cfg.Observer.TidyFailed("delete", len(left))
}

// keepHidden extends the visibility of everything that is held, four times
// within it, so that two lost extensions in a row do no harm.
func (p *Poller) keepHidden(tidy context.Context, finished <-chan struct{}) {
	ticker := time.NewTicker(p.holds.visibility / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.extend(tidy)
		case <-finished:
			return
		}
	}
}

func (p *Poller) extend(tidy context.Context) {
	now := p.cfg.Now()
	handles := p.holds.due(now)
	if len(handles) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(tidy, tidyTimeout)
	defer cancel()
	errs := p.cfg.Source.SetVisibility(ctx, handles, p.holds.visibility)
	for i, err := range errs {
		if err == nil {
			p.holds.extended(handles[i], now)
		}
	}
	if places := failed(errs); len(places) > 0 {
		// Mostly messages that were deleted or released meanwhile.
		p.cfg.Observer.TidyFailed("extend", len(places))
	}
}

// failed are the places of the errors.
func failed(errs []error) (places []int) {
	for i, err := range errs {
		if err != nil {
			places = append(places, i)
		}
	}
	return places
}

func handlesOf(messages []events.Message) []string {
	handles := make([]string, len(messages))
	for i, m := range messages {
		handles[i] = m.Handle
	}
	return handles
}

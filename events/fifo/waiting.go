package fifo

import (
	"container/list"
	"fmt"

	"github.com/holdfast/holdfast/events"
)

// sending is one event on its way. The fields below done belong to the
// publisher's lock.
type sending struct {
	body, group, dedupID string
	done                 chan error // capacity 1; gets the result once

	place   *list.Element // in waiting; nil once a leader has it
	flying  bool          // a call with it is under way
	maybe   bool          // an attempt ended without a certain answer
	left    bool          // its caller has gone with an answer of its own
	lastErr error         // why the last attempt failed
}

// verdict is what is certain about an event that was not acknowledged.
func (s *sending) verdict(cause error) error {
	kind := events.ErrNotQueued
	if s.flying || s.maybe {
		kind = events.ErrAmbiguous
	}
	if s.lastErr != nil {
		return fmt.Errorf("%w: %w (last attempt: %w)", kind, cause, s.lastErr)
	}
	return fmt.Errorf("%w: %w", kind, cause)
}

func (p *Publisher) enqueue(s *sending) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return errClosed
	case p.waiting.Len() >= p.cfg.MaxWaiting:
		return errFull
	}
	s.place = p.waiting.PushBack(s)
	p.recruit()
	return nil
}

// eager is how many calls are under way for whatever comes. Beyond it a call waits
// until it is full: each costs the same, and counts against the queue's limit of
// calls, whether it carries one event or ten.
const eager = 3

// recruit starts another leader if one is allowed. A leader that rests sends
// nothing, so it does not count as one that is eager. Lock held.
func (p *Publisher) recruit() {
	n := p.waiting.Len()
	if p.leaders < p.cfg.InFlight && (n >= maxEntries || n > 0 && p.leaders-p.resting < eager) {
		p.leaders++
		p.flying.Go(p.lead)
	}
}

// leave is a caller's way out before the answer: it takes the event back if it
// still can and says what is certain.
func (p *Publisher) leave(s *sending, cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case err := <-s.done: // the answer came at the same instant
		return err
	default:
	}
	if s.place != nil {
		p.waiting.Remove(s.place)
		s.place = nil
	}
	s.left = true
	return s.verdict(cause)
}

// take fills a leader's batch: what it holds back for another attempt, without
// those whose callers left, and then the oldest waiting events, at most one of
// a group. An empty batch dismisses the leader. Lock not held.
func (p *Publisher) take(again []*sending) []*sending {
	p.mu.Lock()
	defer p.mu.Unlock()
	batch, size := make([]*sending, 0, maxEntries), 0
	for _, s := range again {
		if s.left {
			delete(p.busy, s.group)
			continue
		}
		batch, size = append(batch, s), size+len(s.body)
	}
	for el := p.waiting.Front(); el != nil && len(batch) < maxEntries; {
		s, next := el.Value.(*sending), el.Next()
		if size+len(s.body) > maxBatchBytes {
			break
		}
		if !p.busy[s.group] {
			p.waiting.Remove(el)
			s.place, p.busy[s.group] = nil, true
			batch, size = append(batch, s), size+len(s.body)
		}
		el = next
	}
	for _, s := range batch {
		s.flying = true
	}
	if len(batch) == 0 {
		p.leaders--
	}
	return batch
}

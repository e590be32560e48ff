package fifo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// lead sends batches until nothing waits that it may send. Events that need
// another attempt stay with it, and their groups stay closed, until they are
// sent or their callers leave.
func (p *Publisher) lead() {
	var again []*sending
	for failures := 0; ; {
		if p.work.Err() != nil { // a call would fail, and what never left would look ambiguous
			p.surrender(again)
			return
		}
		batch := p.take(again)
		if len(batch) == 0 {
			return
		}
		again = p.fly(batch)
		if len(again) == 0 {
			failures = 0
			continue
		}
		failures++
		p.rest(failures)
		p.mu.Lock()
		p.resting--
		p.mu.Unlock()
	}
}

// fly makes one call and gives every event its answer but those that it
// returns: they are to be sent again.
func (p *Publisher) fly(batch []*sending) (again []*sending) {
	in := &sqs.SendMessageBatchInput{QueueUrl: &p.cfg.QueueURL, Entries: make([]types.SendMessageBatchRequestEntry, len(batch))}
	for i, s := range batch {
		in.Entries[i] = types.SendMessageBatchRequestEntry{
			Id: entryID(i), MessageBody: aws.String(s.body),
			MessageGroupId: aws.String(s.group), MessageDeduplicationId: aws.String(s.dedupID),
		}
	}
	start := p.cfg.Now()
	ctx, cancel := context.WithTimeout(p.work, p.cfg.AttemptTimeout)
	defer cancel()
	outcomes, reasons := attempt(ctx, p.client, in)
	p.report(outcomes, p.cfg.Now().Sub(start))

	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range batch {
		if p.settle(s, outcomes[i], reasons[i]) {
			delete(p.busy, s.group)
		} else {
			again = append(again, s)
		}
	}
	if len(again) > 0 {
		p.resting++
		p.recruit() // this leader rests, and successors of what it sent may go
	}
	return again
}

// settle records the outcome of an attempt and says whether the event is done
// with. Lock held.
func (p *Publisher) settle(s *sending, o outcome, reason error) (finished bool) {
	s.flying = false
	switch o {
	case enqueued:
		s.done <- nil
		return true
	case refused:
		s.done <- s.verdict(fmt.Errorf("the queue refuses it: %w", reason))
		return true
	case unknown:
		s.maybe = true
	}
	s.lastErr = reason
	return s.left // with an answer that no later attempt changes
}

// rest waits before the next attempt, 25 ms doubling to 400 ms, half of it
// random so that leaders and processes don't return in step; less if the
// publisher is stopped.
func (p *Publisher) rest(failures int) {
	most := 25 * time.Millisecond << min(failures-1, 4)
	timer := time.NewTimer(most/2 + rand.N(most/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.work.Done():
	}
}

// surrender answers everything that a stopped publisher still holds: this
// leader's events and all that wait.
func (p *Publisher) surrender(held []*sending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for el := p.waiting.Front(); el != nil; el = p.waiting.Front() {
		s := p.waiting.Remove(el).(*sending)
		s.place = nil
		s.done <- s.verdict(errCutOff)
	}
	for _, s := range held {
		delete(p.busy, s.group)
		if !s.left {
			s.done <- s.verdict(errCutOff)
		}
	}
	p.leaders--
}

func (p *Publisher) report(outcomes []outcome, took time.Duration) {
	r := BatchReport{Entries: len(outcomes), Took: took}
	for _, o := range outcomes {
		switch o {
		case enqueued:
			r.Enqueued++
		case refused:
			r.Refused++
		case notSent:
			r.NotSent++
		default:
			r.Unknown++
		}
	}
	p.cfg.OnBatch(r)
}

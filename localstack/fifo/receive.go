package fifo

import (
	"fmt"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// ReceiveInput says what to receive.
type ReceiveInput struct {
	Max        int            // 1 to 10
	Visibility *time.Duration // 0 to 12 h; nil: the queue's
	Wait       *time.Duration // 0 to 20 s; nil: the queue's
	// AttemptID makes a repeat within five minutes return the same messages under the same handles, for as long as they are in flight, with a fresh visibility time-out.
	AttemptID string
}

// Message is one delivery.
type Message struct {
	ID, Body, Group, DedupID string
	Receipt                  string               // for Delete and ChangeVisibility
	Attributes               map[string]Attribute // shared with the queue: read only
	Sequence                 uint64
	Sent, FirstReceived      time.Time
	Receives                 int    // this one included
	Source                   string // the queue that gave it up, if this is a dead letter
}

func (in ReceiveInput) check() error {
	between := func(d *time.Duration, most time.Duration) bool { return d == nil || *d >= 0 && *d <= most }
	switch {
	case in.Max < 1 || in.Max > MaxBatch:
		return fmt.Errorf("%w: value %d for parameter MaxNumberOfMessages must be between 1 and %d", ErrInvalid, in.Max, MaxBatch)
	case !between(in.Visibility, 12*time.Hour):
		return fmt.Errorf("%w: VisibilityTimeout must be between 0 and 43200 seconds", ErrInvalid)
	case !between(in.Wait, 20*time.Second):
		return fmt.Errorf("%w: WaitTimeSeconds must be between 0 and 20", ErrInvalid)
	case !idChars(in.AttemptID):
		return fmt.Errorf("%w: ReceiveRequestAttemptId can only include alphanumeric and punctuation characters, 1 to 128 in length", ErrInvalid)
	}
	return nil
}

// receive takes what can be delivered now, nothing included.
func (q *queue) receive(in ReceiveInput, v fault.Verdict, now time.Time) []Message {
	hideFor := q.cfg.VisibilityTimeout
	if in.Visibility != nil {
		hideFor = *in.Visibility
	}
	if v.Kind == fault.Duplicate {
		hideFor = 0 // the next receiver gets the same messages
	}
	until := now.Add(hideFor)
	taken := q.again(in.AttemptID, until)
	if len(taken) == 0 {
		taken = q.take(in.Max, until, now)
		q.remember(in.AttemptID, taken, now)
	}
	out := make([]Message, len(taken))
	for i, m := range taken {
		out[i] = q.deliver(m)
	}
	if hideFor == 0 && len(taken) > 0 {
		q.catchUp(now)
	}
	return out
}

// take lends up to max messages until an instant. It empties one group before the next: AWS returns as many of a group as it can.
func (q *queue) take(max int, until, now time.Time) (out []*message) {
	for len(out) < max && q.counts[inFlight] < q.cloud.limit {
		e := q.ready.Front()
		if e == nil {
			break
		}
		g := e.Value.(*group)
		for m := g.first; m != nil && m.state == visible && len(out) < max && q.counts[inFlight] < q.cloud.limit; {
			next := m.next
			if !q.bury(m, now) {
				q.lend(m, until, now)
				out = append(out, m)
			}
			m = next
		}
		q.settle(g)
	}
	return out
}

func (q *queue) lend(m *message, until, now time.Time) {
	m.receives++
	m.tries++
	if m.firstReceived.IsZero() {
		m.firstReceived = now
	}
	q.hide(m, inFlight, until)
}

// again returns the messages of an earlier attempt that are still with its caller, hidden anew.
func (q *queue) again(attempt string, until time.Time) (out []*message) {
	if attempt == "" {
		return nil
	}
	leases, _ := q.attempts.get(attempt)
	for _, l := range leases {
		if m := q.held(l); m != nil {
			q.extend(m, until)
			out = append(out, m)
		}
	}
	return out
}

func (q *queue) remember(attempt string, taken []*message, now time.Time) {
	if attempt == "" || len(taken) == 0 {
		return
	}
	leases := make([]lease, len(taken))
	for i, m := range taken {
		leases[i] = lease{m.seq, uint64(m.tries)}
	}
	q.attempts.put(attempt, leases, now.Add(windowLength))
}

func (q *queue) deliver(m *message) Message {
	return Message{
		ID: m.id, Body: m.body, Group: m.group.id, DedupID: m.dedupID, Receipt: q.handle(m), Attributes: m.attrs,
		Sequence: m.seq, Sent: m.sent, FirstReceived: m.firstReceived, Receives: m.receives, Source: m.source,
	}
}

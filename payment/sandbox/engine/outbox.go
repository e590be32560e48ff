package engine

import (
	"container/heap"
	"encoding/json"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// How webhooks are tried again: after 1, 2, 4 .. 60 seconds, for about a quarter
// of an hour; then they are given up and counted ("webhook_dead"). A real
// gateway goes on for days; this one is for development.
const (
	RetryFirst  = time.Second
	RetryMost   = time.Minute
	MaxAttempts = 20
	maxWaiting  = 100_000 // webhooks that wait; more are lost and counted
)

// Delivery is one attempt to deliver a webhook. Whoever claims it must settle it.
type Delivery struct {
	ID      int64 // of this copy, not of the event
	Attempt int   // 1 for the first
	URL     string
	Secret  string
	Body    []byte
	Event   api.Event
}

type message struct {
	due     time.Time
	id      int64
	attempt int
	account *account
	event   api.Event
}

// outbox holds the webhooks that wait, by due time, and those being sent.
type outbox struct {
	waiting  messageHeap
	inFlight map[int64]*message
	lastID   int64
}

func newOutbox() outbox { return outbox{inFlight: map[int64]*message{}} }

type messageHeap []*message

func (h messageHeap) Len() int { return len(h) }
func (h messageHeap) Less(i, j int) bool {
	return h[i].due.Before(h[j].due) || (h[i].due.Equal(h[j].due) && h[i].id < h[j].id)
}
func (h messageHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *messageHeap) Push(x any)   { *h = append(*h, x.(*message)) }
func (h *messageHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}

func (o *outbox) next() (time.Time, bool) {
	if len(o.waiting) == 0 {
		return time.Time{}, false
	}
	return o.waiting[0].due, true
}

// emit queues the webhook of something that happened at this instant.
func (e *Engine) emit(p *record, kind string, at time.Time) {
	a := p.account
	if a.WebhookURL == "" {
		return
	}
	if e.take(a, "webhook_drop", func(f *Faults) *Times { return &f.WebhookDrop }) {
		return
	}
	answer := p.answer()
	event := api.Event{
		ID: e.newID("evt"), Type: kind, Account: a.Name, PaymentID: p.id, Status: answer.Status,
		AmountMinor: answer.AmountMinor, Currency: answer.Currency, CreatedAtMS: at.UnixMilli(), Metadata: answer.Metadata,
	}
	due := at.Add(time.Duration(e.number(a, func(f *Faults) int64 { return f.WebhookDelayMS })) * time.Millisecond)
	if e.take(a, "webhook_reorder", func(f *Faults) *Times { return &f.WebhookReorder }) {
		due = due.Add(ReorderBy)
	}
	copies := 1 + int(e.number(a, func(f *Faults) int64 { return int64(f.WebhookDuplicate) }))
	for range copies {
		e.enqueue(&message{due: due, account: a, event: event})
	}
}

func (e *Engine) enqueue(m *message) {
	if len(e.outbox.waiting) >= maxWaiting {
		e.count("webhook_overflow")
		return
	}
	if m.id == 0 {
		e.outbox.lastID++
		m.id = e.outbox.lastID
	}
	heap.Push(&e.outbox.waiting, m)
	e.signal()
}

// Claim takes up to limit webhooks that are due.
func (e *Engine) Claim(limit int) []Delivery {
	now := e.begin()
	defer e.mu.Unlock()
	var claimed []Delivery
	for len(claimed) < limit && len(e.outbox.waiting) > 0 && !e.outbox.waiting[0].due.After(now) {
		claimed = append(claimed, e.claim(heap.Pop(&e.outbox.waiting).(*message)))
	}
	return claimed
}

// ClaimBeforeResponse takes all webhooks that wait for one payment, due or not,
// if its account is to send them before a call is answered.
func (e *Engine) ClaimBeforeResponse(account, paymentID string) []Delivery {
	e.begin()
	defer e.mu.Unlock()
	on := func(f *Faults) *Times { return &f.WebhookBeforeResponse }
	if paymentID == "" || !e.take(e.accounts[account], "webhook_before_response", on) {
		return nil
	}
	var claimed []Delivery
	keep := messageHeap{}
	for _, m := range e.outbox.waiting {
		if m.event.PaymentID == paymentID {
			claimed = append(claimed, e.claim(m))
		} else {
			keep = append(keep, m)
		}
	}
	heap.Init(&keep)
	e.outbox.waiting = keep
	return claimed
}

func (e *Engine) claim(m *message) Delivery {
	m.attempt++
	e.outbox.inFlight[m.id] = m
	body, err := json.Marshal(m.event)
	if err != nil {
		panic("sandbox: an event of strings and integers did not encode: " + err.Error())
	}
	return Delivery{ID: m.id, Attempt: m.attempt, URL: m.account.WebhookURL, Secret: m.account.WebhookSecret, Body: body, Event: m.event}
}

// Settle ends an attempt: delivered, or to be tried again later. Settling twice
// is harmless.
func (e *Engine) Settle(deliveryID int64, delivered bool) {
	now := e.begin()
	defer e.mu.Unlock()
	m := e.outbox.inFlight[deliveryID]
	if m == nil {
		return
	}
	delete(e.outbox.inFlight, deliveryID)
	switch {
	case delivered:
		e.count("webhook_delivered")
	case m.attempt >= MaxAttempts:
		e.count("webhook_dead")
	default:
		m.due = now.Add(min(RetryFirst<<(m.attempt-1), RetryMost))
		e.enqueue(m)
	}
}

// Waiting is how many webhooks are not settled: waiting for their time, or in
// flight. Zero, with no late payment under way, means quiet.
func (e *Engine) Waiting() int {
	e.begin()
	defer e.mu.Unlock()
	return len(e.outbox.waiting) + len(e.outbox.inFlight)
}

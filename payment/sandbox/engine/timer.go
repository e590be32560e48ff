package engine

import (
	"container/heap"
	"time"

	"github.com/holdfast/holdfast/payment"
)

type timerKind uint8

const (
	timerExpire timerKind = iota
	timerLate
	timerSlow
	timerRefund
)

// timer is something that happens to a payment by itself.
type timer struct {
	at   time.Time
	seq  int // by arrival among equals, so that a run can be repeated
	kind timerKind
	p    *record
	key  string // of the refund
}

type timerHeap struct {
	list []timer
	seq  int
}

func (h *timerHeap) Len() int { return len(h.list) }
func (h *timerHeap) Less(i, j int) bool {
	a, b := h.list[i], h.list[j]
	return a.at.Before(b.at) || (a.at.Equal(b.at) && a.seq < b.seq)
}
func (h *timerHeap) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *timerHeap) Push(x any)    { h.list = append(h.list, x.(timer)) }
func (h *timerHeap) Pop() any {
	last := h.list[len(h.list)-1]
	h.list[len(h.list)-1] = timer{}
	h.list = h.list[:len(h.list)-1]
	return last
}

func (e *Engine) at(at time.Time, kind timerKind, p *record, key string) {
	e.timers.seq++
	heap.Push(&e.timers, timer{at: at, seq: e.timers.seq, kind: kind, p: p, key: key})
	e.signal()
}

// runTimers lets happen what is due. Each thing happens at its own instant, not
// at that of the call that noticed it.
func (e *Engine) runTimers(now time.Time) {
	for len(e.timers.list) > 0 && !e.timers.list[0].at.After(now) {
		t := heap.Pop(&e.timers).(timer)
		switch t.kind {
		case timerExpire:
			if t.p.status == payment.StatusOpen || t.p.status == payment.StatusApproved {
				t.p.status = payment.StatusExpired
				e.emit(t.p, "payment.expired", t.at)
			}
		case timerLate:
			e.arriveLate(t.p, t.at)
		case timerSlow:
			if t.p.status == payment.StatusPending {
				e.agree(t.p, t.at)
			}
		case timerRefund:
			e.finishRefund(t.p, t.key, t.at)
		}
	}
}

func (e *Engine) arriveLate(p *record, at time.Time) {
	p.latePending = false
	onPage := p.account.Moves == payment.MovesOnPage
	if (onPage && p.status != payment.StatusCompleted) || p.status == payment.StatusOpen {
		e.agree(p, at)
	}
}

// NextDue is when the engine has to be looked at again: a timer or a webhook.
func (e *Engine) NextDue() (at time.Time, ok bool) {
	e.begin()
	defer e.mu.Unlock()
	at, ok = e.outbox.next()
	if len(e.timers.list) > 0 {
		if t := e.timers.list[0].at; !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

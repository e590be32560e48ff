package reaper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/sale"
)

// orphans are the attached entries that are over age and that the ledger does
// not have: what the breaker is about.
type orphans struct {
	mu   sync.Mutex
	list []orphan
}

type orphan struct {
	booking ledger.Booking
	age     time.Duration
}

// pending resolves entries over age (3.8.1). Those without a payment never had
// an event, so nothing of theirs can be late. Those with one are first looked
// for in the ledger; only what it does not have is an orphan, and only if the
// breaker stays closed it is reaped.
func (p *sweep) pending(ctx context.Context) error {
	entries, err := list(p.Limit, func(e admission.Pending) string { return e.BookingID }, func(each func(admission.Pending) error) error {
		return p.Redis.ScanPending(ctx, p.control.Sale, func(e admission.Pending) error {
			p.result.OldestPending = max(p.result.OldestPending, e.Age)
			if e.Age <= min(p.ages.UnattachedMax, p.ages.AttachedMax) {
				return nil
			}
			return each(e)
		})
	})
	t := p.tally(&p.result.Pending, 0)
	var attached orphans
	p.leave(t, each(ctx, p.pool, entries, func(ctx context.Context, e admission.Pending) { p.look(ctx, t, e, &attached) }))
	for _, o := range attached.list {
		p.result.OldestAttached = max(p.result.OldestAttached, o.age)
	}
	why, breakerErr := p.breaker(ctx, p.control, len(attached.list), p.ages.MessageMax)
	if err != nil || breakerErr != nil { // how many there are is not known: leave them
		t.add(postponed, len(attached.list))
		return errors.Join(listed("pending entries", err), breakerErr)
	}
	p.result.Breaker = why
	showErr := p.showBreaker(ctx, p.control, why)
	if why != "" {
		t.add(postponed, len(attached.list))
	} else {
		t.add(left, each(ctx, p.pool, attached.list, func(ctx context.Context, o orphan) { p.reap(ctx, t, o) }))
	}
	return showErr
}

func (p *sweep) leave(t *score, n int) {
	t.add(found, n)
	t.add(left, n)
}

// look resolves an entry, or passes it on as an orphan.
func (p *sweep) look(ctx context.Context, t *score, e admission.Pending, attached *orphans) {
	r, err := p.Redis.Record(ctx, p.control.Sale, e.BookingID)
	if errors.Is(err, admission.ErrNotFound) {
		return // undone since the scan
	}
	if err == nil && !p.due(r, e) {
		return
	}
	t.add(found, 1)
	if err != nil {
		p.finish(ctx, t, "read a pending booking", e.BookingID, err)
		return
	}
	b := lifecycle.BookingFromRecord(p.control.Sale, r)
	if r.PaymentID == "" {
		out, err := p.Steps.ReleaseUnheld(ctx, b, ledger.ReasonUnattached, Actor)
		p.count(ctx, t, "withdraw an unattached booking", b.ID, out, err)
		return
	}
	held, err := p.store.Booking(ctx, b.ID)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		attached.mu.Lock()
		attached.list = append(attached.list, orphan{b, e.Age})
		attached.mu.Unlock()
	case err != nil:
		p.finish(ctx, t, "look for a pending booking in the ledger", b.ID, err)
	case held.State.Live():
		if err := p.Steps.Settle(ctx, held); err != nil {
			p.finish(ctx, t, "settle a booking", b.ID, err)
			return
		}
		t.add(settled, 1)
	default:
		p.finish(ctx, t, "give seats back", b.ID, p.Steps.GiveBack(ctx, held))
	}
}

// due reports whether the entry is over its age. A driver that has just taken
// the booking over (S10) gets its time, as long as that can't go on for ever.
func (p *sweep) due(r admission.Record, e admission.Pending) bool {
	if r.PaymentID != "" {
		// Its own hold may be longer than the plan's is now.
		return e.Age > max(p.ages.AttachedMax, r.HoldUntil.Sub(r.AdmittedAt))
	}
	driving := p.now.Sub(r.DriverAt) <= p.ages.RequestMax
	return e.Age > p.ages.UnattachedMax && (!driving || e.Age > p.ages.AttachedMax)
}

// reap ends an orphan: the release gate, then T4, which decides. A gateway that
// does not answer postpones it; there is no hold in the ledger to put off, so
// for how long is judged by its age (protocol.md 2.2.5).
func (p *sweep) reap(ctx context.Context, t *score, o orphan) {
	out, err := p.Steps.ReleaseUnheld(ctx, o.booking, ledger.ReasonOrphan, Actor)
	p.count(ctx, t, "release an orphan", o.booking.ID, out, err)
	if out == lifecycle.Postponed && o.age > p.ages.AttachedMax+sale.GateExtendTimes*p.ages.GateExtend {
		p.alarm(lifecycle.AlarmGateUnknown, p.control.Sale, o.booking.ID,
			fmt.Sprintf("pending for %v, and the gateway can't say what became of its payment", o.age.Round(time.Second)))
	}
}

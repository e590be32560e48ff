package reaper

import (
	"context"

	"github.com/holdfast/holdfast/ledger"
)

// holds releases what is due (3.8.2).
func (p *sweep) holds(ctx context.Context) error {
	cut := p.now.Add(-p.ages.ReleaseGrace)
	ids, err := list(p.Limit, itself[string], func(each func(string) error) error {
		return p.store.DueHolds(ctx, p.control.Sale, cut, each)
	})
	t := p.tally(&p.result.Holds, len(ids))
	t.add(left, each(ctx, p.pool, ids, func(ctx context.Context, id string) {
		out, err := p.Steps.Expire(ctx, id, cut)
		p.count(ctx, t, "expire a hold", id, out, err)
	}))
	return listed("due holds", err)
}

// undos gives back what the ledger owes to Redis (3.8.3). The listing may be
// stale: the booking itself says whether the undo is still owed.
func (p *sweep) undos(ctx context.Context) error {
	ids, err := list(p.Limit, itself[string], func(each func(string) error) error {
		return p.store.OwedUndos(ctx, p.control.Sale, each)
	})
	t := p.tally(&p.result.Undos, len(ids))
	t.add(left, each(ctx, p.pool, ids, func(ctx context.Context, id string) {
		b, err := p.store.Booking(ctx, id)
		if err == nil && !b.UndoOwed {
			t.add(gone, 1)
			return
		}
		if err == nil {
			err = p.Steps.GiveBack(ctx, b)
		}
		p.finish(ctx, t, "give seats back", id, err)
	}))
	return listed("owed undos", err)
}

// refunds drives on what is due or sent (3.8.4).
func (p *sweep) refunds(ctx context.Context) error {
	keys, err := list(p.Limit, itself[ledger.PaymentKey], func(each func(ledger.PaymentKey) error) error {
		return p.store.DueRefunds(ctx, p.control.Sale, each)
	})
	t := p.tally(&p.result.Refunds, len(keys))
	t.add(left, each(ctx, p.pool, keys, func(ctx context.Context, k ledger.PaymentKey) {
		p.finish(ctx, t, "drive a refund", k.String(), p.Steps.DriveRefund(ctx, k))
	}))
	return listed("due refunds", err)
}

// replay handles the events that waited for the end of a rebuild (3.6).
func (p *sweep) replay(ctx context.Context) (err error) {
	if p.Parked != nil {
		p.result.Replayed, err = p.Parked.ReplayParked(ctx, p.control.Sale)
	}
	return err
}

// publish repairs the public status, for a publisher that died (3.13).
func (p *sweep) publish(ctx context.Context) (err error) {
	if p.Status != nil {
		p.result.StatusPublished, err = p.Status.Publish(ctx, p.control.Sale)
	}
	return err
}

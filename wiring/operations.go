package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/operator"
)

// Desk is where operators act on this house.
func (h *House) Desk() *operator.Desk {
	return &operator.Desk{
		Store: h.Store, Redis: h.Redis, Server: h.Redis, Queue: h.Queue, Steps: h.Steps, Status: h.Status,
		Gateways: h.Gateways, Gateway: h.Config.Gateway, Hasher: h.Hasher, Now: h.Now, Log: h.Log,
	}
}

// Operations are the desk's acts as the operators' API asks for them. Doors do
// not know each other, so this is the place where they meet.
func (h *House) Operations() admin.Operations { return operations{h.Desk(), h} }

type operations struct {
	desk  *operator.Desk
	house *House
}

var _ admin.Refusal = (*operator.RefusedError)(nil)

func by(b admin.By) operator.By { return operator.By(b) }

// missing says "there is no such sale" or "booking" in the ledger's word alone,
// for which the API has an answer of its own.
func missing(err error) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return ledger.ErrNotFound
	}
	return err
}

func (o operations) Sales(ctx context.Context) ([]string, error) { return o.desk.Sales(ctx) }

func (o operations) Open(ctx context.Context, saleID string, b admin.By) error {
	return missing(o.desk.Open(ctx, saleID, by(b)))
}

func (o operations) Close(ctx context.Context, saleID string, b admin.By) error {
	return missing(o.desk.Close(ctx, saleID, by(b)))
}

func (o operations) SetCap(ctx context.Context, saleID, level string, n int, b admin.By) (admission.CapAnswer, error) {
	a, err := o.desk.SetCap(ctx, saleID, level, n, by(b))
	return a, missing(err)
}

func (o operations) Holds(ctx context.Context, saleID string, each func(admin.Hold) error) error {
	return missing(o.desk.Holds(ctx, saleID, func(h operator.Hold) error {
		return each(admin.Hold{BookingID: h.BookingID, Owner: h.Owner, Level: h.Level, Seats: h.Seats, State: string(h.State), Age: h.Age, HoldUntil: h.HoldUntil})
	}))
}

func (o operations) ReleaseHold(ctx context.Context, bookingID string, b admin.By) (lifecycle.ReleaseOutcome, error) {
	out, err := o.desk.ReleaseHold(ctx, bookingID, by(b))
	return out, missing(err)
}

func (o operations) Cancel(ctx context.Context, bookingID string, b admin.By) error {
	return missing(o.desk.CancelPaid(ctx, bookingID, by(b)))
}

func (o operations) Inbox(ctx context.Context, saleID string, each func(admin.InboxItem) error) error {
	return missing(o.desk.Inbox(ctx, saleID, func(it ledger.InboxItem) error {
		return each(admin.InboxItem{ID: it.ID, Payment: it.Payment.String(), Reason: it.Reason, Detail: it.Detail, At: it.At, Done: it.Done})
	}))
}

// Redrive is an act on every sale, because the dead letters are those of all.
func (o operations) Redrive(ctx context.Context, most int, b admin.By) (int, error) {
	ids, err := o.desk.Sales(ctx)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		e := ledger.AuditEntry{At: ledger.Instant(o.house.Now()), Actor: b.Actor, Action: "redrive of dead letters", Reason: b.Reason, After: fmt.Sprintf("at most %d", most)}
		if err := o.house.Store.AppendAudit(ctx, id, e); err != nil {
			return 0, fmt.Errorf("nothing was moved, because it could not be written to the trail: %w", err)
		}
	}
	done, err := o.house.Queue.Redrive(ctx, most, nil)
	return done.Moved, err
}

func (o operations) Status(ctx context.Context, saleID string) (any, error) {
	v, err := o.desk.View(ctx, saleID)
	return v, missing(err)
}

// Drift is what the last diff of any process found: one published figure.
func (o operations) Drift(ctx context.Context, saleID string) (any, error) {
	v, err := o.desk.Drift(ctx, saleID)
	return v, missing(err)
}

func (o operations) Audit(ctx context.Context, saleID string) (any, error) {
	healers, err := o.house.Healers()
	if err != nil {
		return nil, err
	}
	r, err := healers.Auditor.Audit(ctx, saleID)
	return r, missing(err)
}

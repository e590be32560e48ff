package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// Inbox calls each for what was parked because nothing could be made of it
// (protocol.md 3.6), open and resolved, in the order of the ids.
func (d *Desk) Inbox(ctx context.Context, saleID string, each func(ledger.InboxItem) error) error {
	if _, err := d.control(ctx, saleID); err != nil {
		return err
	}
	return d.Store.Parked(ctx, saleID, each)
}

// OpenMoney is a payment that does not rest yet: under review, or on its way
// back (case C07).
type OpenMoney struct {
	Payment ledger.PaymentRecord
	Why     string
}

// OpenPayments lists every payment of the sale that is under review or whose
// refund is not done, and every one that is applied to a booking that is not
// paid. An empty list means that all money rests.
func (d *Desk) OpenPayments(ctx context.Context, saleID string) ([]OpenMoney, error) {
	if _, err := d.control(ctx, saleID); err != nil {
		return nil, err
	}
	var list, applied []OpenMoney
	paid := make(map[string]bool)
	err := d.Store.Scan(ctx, saleID, ledger.Visitor{
		Booking: func(b ledger.Booking) error {
			if b.State == ledger.Paid {
				paid[b.ID] = true
			}
			return nil
		},
		Payment: func(p ledger.PaymentRecord) error {
			switch {
			case p.Resolution == ledger.Review:
				list = append(list, OpenMoney{p, "in review: " + p.Reason})
			case p.Resolution == ledger.Refund && p.Refund != ledger.RefundDone:
				list = append(list, OpenMoney{p, "refund under way: " + p.Reason})
			case p.Resolution == ledger.Applied:
				applied = append(applied, OpenMoney{p, "applied to a booking that is not paid: run the audit"})
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("operator: read the payments of sale %s: %w", saleID, err)
	}
	for _, m := range applied {
		if !paid[m.Payment.BookingID] {
			list = append(list, m)
		}
	}
	return list, nil
}

// Resolve closes an item of the inbox. With refund its payment, which must be
// in review, is refunded first: the decision is one conditional write, the
// sweeps drive it to its end. Without, a person has dealt with it elsewhere.
// Safe to repeat.
func (d *Desk) Resolve(ctx context.Context, saleID, id string, refund bool, by By) error {
	item, err := d.parked(ctx, saleID, id)
	if err != nil {
		return err
	}
	action := "inbox resolve " + id
	if refund {
		action = "inbox refund " + id
		if item.Payment.Zero() {
			return refuse(CodeNotInReview, nil, "item %s has no payment that could be refunded: resolve it without --refund", id)
		}
	}
	if !item.Done {
		if err := d.note(ctx, saleID, by, action, item.Reason, "resolved"); err != nil {
			return err
		}
	}
	if refund {
		if err := d.refundReviewed(ctx, item.Payment, by); err != nil {
			return err
		}
	}
	if err := d.Store.ResolveParked(ctx, saleID, id, by.Actor); err != nil {
		return fmt.Errorf("operator: resolve item %s of sale %s: %w", id, saleID, err)
	}
	return nil
}

func (d *Desk) parked(ctx context.Context, saleID, id string) (ledger.InboxItem, error) {
	var item ledger.InboxItem
	err := d.Inbox(ctx, saleID, func(it ledger.InboxItem) error {
		if it.ID != id {
			return nil
		}
		item = it
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return item, nil
	case err != nil:
		return item, err
	}
	return item, refuse(CodeUnknownItem, nil, "the inbox of sale %s has no item %q", saleID, id)
}

// RefundReviewed decides that a payment in review goes back, and starts that.
// Decided before is no error.
func (d *Desk) RefundReviewed(ctx context.Context, saleID string, key ledger.PaymentKey, by By) error {
	p, err := d.payment(ctx, saleID, key)
	if err != nil {
		return err
	}
	if p.Resolution == ledger.Review {
		if err := d.note(ctx, saleID, by, "refund "+key.String(), "in review", "refund due"); err != nil {
			return err
		}
	}
	return d.refundReviewed(ctx, key, by)
}

// payment reads a payment of the sale.
func (d *Desk) payment(ctx context.Context, saleID string, key ledger.PaymentKey) (ledger.PaymentRecord, error) {
	p, err := d.Store.Payment(ctx, key)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && p.Sale != saleID {
		return p, refuse(CodeUnknownItem, nil, "sale %s has no payment %s", saleID, key)
	}
	if err != nil {
		return p, fmt.Errorf("operator: read payment %s: %w", key, err)
	}
	return p, nil
}

// AcceptReviewed decides that a payment in review pays its booking though it
// differs (protocol.md 2.2.6): the booking is paid. One that can pay its booking
// no more is CodeNotAcceptable: the money can only go back. Safe to repeat.
func (d *Desk) AcceptReviewed(ctx context.Context, saleID string, key ledger.PaymentKey, by By) error {
	p, err := d.payment(ctx, saleID, key)
	if err != nil {
		return err
	}
	if p.Resolution == ledger.Review {
		if err := d.note(ctx, saleID, by, "accept "+key.String(), "in review: "+p.Reason, "pays booking "+p.BookingID); err != nil {
			return err
		}
	}
	err = d.Steps.AcceptReviewed(ctx, key, by.Actor, by.Reason)
	if errors.Is(err, lifecycle.ErrNotAcceptable) {
		return refuse(CodeNotAcceptable, nil, "payment %s is %s and can't pay booking %s any more: refund it with holdfast inbox resolve %s %s --refund, if it is in review",
			key, p.Resolution, p.BookingID, saleID, key).because(err)
	}
	return err
}

func (d *Desk) refundReviewed(ctx context.Context, key ledger.PaymentKey, by By) error {
	p, err := d.Store.Payment(ctx, key)
	if err != nil {
		return fmt.Errorf("operator: read payment %s: %w", key, err)
	}
	switch p.Resolution {
	case ledger.Refund:
	case ledger.Review:
		t := ledger.RefundReviewed(p, "refunded by "+string(by.Actor)+": "+by.Reason, d.Now())
		var condition *ledger.ConditionError
		if err := d.Steps.Write(ctx, t); err != nil && !errors.As(err, &condition) {
			return fmt.Errorf("operator: refund payment %s: %w", key, err)
		}
	default:
		return refuse(CodeNotInReview, nil, "payment %s is %s, not in review: cancel its booking instead", key, p.Resolution)
	}
	if err := d.Steps.DriveRefund(ctx, key); err != nil {
		d.log().WarnContext(ctx, "refund stays due", "payment", key.String(), "err", err)
	}
	return nil
}

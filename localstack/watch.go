package main

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	stage "github.com/holdfast/holdfast/rehearsal"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/wiring"
)

// watch looks at a rehearsal from outside the pipeline, and at the gateway,
// which here is in this process.
type watch struct {
	town  *town
	sight *stage.Sight
	house *wiring.House
}

func openWatch(ctx context.Context, t *town, plan sale.Sale) (*watch, error) {
	h, err := t.house(ctx)
	if err != nil {
		return nil, err
	}
	healers, err := h.Healers()
	if err != nil {
		return nil, err
	}
	w := &watch{town: t, house: h}
	w.sight = &stage.Sight{Desk: h.Desk(), Audit: healers.Auditor.AuditWith, Plan: plan, Alone: true, Moving: w.moving}
	return w, nil
}

func (w *watch) close(ctx context.Context) error { return w.house.Close(ctx) }

// moving counts webhooks that the gateway has not delivered, and late money and
// refunds under way there.
func (w *watch) moving() (webhooks, money int) {
	for _, p := range w.town.cloud.Gateway.Payments() {
		if p.LateUnderWay || p.RefundPendingMinor > 0 {
			money++
		}
	}
	return w.town.cloud.Gateway.Waiting(), money
}

// judge adds to what a client and the stores can see what only the gateway can
// say.
func (w *watch) judge(ctx context.Context, r load.Result) ([]load.Check, error) {
	checks, err := w.sight.Judge(ctx, r)
	if err != nil {
		return nil, err
	}
	money, err := w.money(ctx)
	return append(checks, money...), err
}

// money compares each payment at the gateway with the ledger: captured money is
// a paid seat or a refund, exactly one of the two.
func (w *watch) money(ctx context.Context) ([]load.Check, error) {
	paid := map[string]ledger.Booking{} // by the gateway's payment id
	seats := 0
	err := w.house.Store.Scan(ctx, rehearsalSale, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if b.State == ledger.Paid {
			paid[b.Payment.ID] = b
			seats += len(b.Seats)
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	var captured, refunded int
	var wrong []string
	for _, p := range w.town.cloud.Gateway.Payments() {
		if p.CapturedMinor == 0 {
			continue
		}
		captured++
		_, seat := paid[p.PaymentID]
		back := p.RefundedMinor == p.CapturedMinor
		if back {
			refunded++
		}
		if seat == back || p.Captures > 1 {
			wrong = append(wrong, wrongMoney(p, seat))
		}
	}
	money := load.Check{Name: "every captured payment is a seat or a refund", OK: len(wrong) == 0 && captured == len(paid)+refunded,
		Detail: fmt.Sprintf("%d captured = %d paid bookings (%d seats) + %d refunded", captured, len(paid), seats, refunded)}
	if len(wrong) > 0 {
		money.Detail += "; the first that is not: " + wrong[0]
	}
	return []load.Check{money}, nil
}

func wrongMoney(p engine.Entry, seat bool) string {
	return fmt.Sprintf("payment %s: captured %d in %d captures, refunded %d, seat %v", p.PaymentID, p.CapturedMinor, p.Captures, p.RefundedMinor, seat)
}

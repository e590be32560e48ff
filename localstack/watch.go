package main

import (
	"context"

	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/localstack/books"
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
	return w.town.cloud.Gateway.Waiting(), books.UnderWay(w.town.cloud.Gateway.Payments())
}

// judge adds to what a client and the stores can see what only the gateway can
// say.
func (w *watch) judge(ctx context.Context, r load.Result) ([]load.Check, error) {
	checks, err := w.sight.Judge(ctx, r)
	if err != nil {
		return nil, err
	}
	money, err := books.Compare(ctx, w.house.Store, rehearsalSale, w.town.cloud.Gateway.Payments())
	return append(checks, money), err
}

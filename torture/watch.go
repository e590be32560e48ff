package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/localstack/books"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/wiring"
)

// watch looks at the sale from outside the pipeline.
type watch struct {
	town  *town
	house *wiring.House
	sale  *tortured
}

// probe is one consistent reading of the sale, by one script.
func (w *watch) probe(ctx context.Context) (load.Sample, error) {
	s, err := w.house.Redis.Status(ctx, saleID, levels)
	if err != nil {
		return load.Sample{}, err
	}
	out := load.Sample{At: s.Now, Used: map[string]int{}, Caps: map[string]int{}, Free: map[string]int{}, Total: s.Used, TotalCap: w.sale.total, Pending: s.Pending}
	for _, l := range s.Levels {
		// The caps are the sale file's: what Redis says of itself proves nothing.
		out.Used[l.Name], out.Caps[l.Name], out.Free[l.Name] = l.Used, w.sale.caps[l.Name], l.Free
	}
	return out, nil
}

// rest adds what is under way: in the queues, at the gateway, in the ledger.
func (w *watch) rest(ctx context.Context) (load.Sample, error) {
	s, err := w.probe(ctx)
	if err != nil {
		return s, err
	}
	depth, err := w.house.Queue.Depth(ctx)
	if err != nil {
		return s, err
	}
	s.Queued = depth.Visible + depth.InFlight + w.town.cloud.Gateway.Waiting()
	s.Held += books.UnderWay(w.town.cloud.Gateway.Payments())
	if s.Pending+s.Queued+s.Held > 0 {
		return s, nil // a walk through the ledger is not cheap
	}
	err = w.house.Store.Scan(ctx, saleID, ledger.Visitor{
		Booking: func(b ledger.Booking) error {
			if b.State == ledger.Held {
				s.Held++
			}
			if b.UndoOwed {
				s.Undos++
			}
			return nil
		},
		Payment: func(p ledger.PaymentRecord) error {
			if p.Resolution == ledger.Refund && p.Refund != ledger.RefundDone {
				s.Refunds++
			}
			return nil
		},
	})
	return s, err
}

// judge is the verdict: what clients and probes saw, the audit of the product
// itself, and the books of the gateway against the ledger.
func (w *watch) judge(ctx context.Context, r load.Result) ([]load.Check, reaper.AuditResult, error) {
	checks := slices.DeleteFunc(load.Judge(r), func(c load.Check) bool { return c.Name == load.CheckAnswered })
	depth, err := w.house.Queue.Depth(ctx)
	if err != nil {
		return nil, reaper.AuditResult{}, err
	}
	checks = append(checks, load.Check{Name: "nothing parked in the dead letter queue", OK: depth.Dead == 0, Detail: fmt.Sprintf("%d messages", depth.Dead)})
	money, err := books.Compare(ctx, w.house.Store, saleID, w.town.cloud.Gateway.Payments())
	if err != nil {
		return nil, reaper.AuditResult{}, err
	}
	var audit reaper.AuditResult
	out, failed := w.town.holdfast(ctx, "audit", saleID, "--at-rest", "--json")
	if err := json.Unmarshal([]byte(out), &audit); err != nil {
		return nil, audit, fmt.Errorf("the audit's answer: %w, %w", err, failed)
	}
	detail := fmt.Sprintf("%d violations, bookings %v", len(audit.Violations), audit.Bookings)
	if len(audit.Violations) > 0 {
		detail += fmt.Sprintf("; the first: %+v", audit.Violations[0])
	}
	return append(checks, money, load.Check{Name: "audit at rest: every invariant, Redis = ledger by id", OK: failed == nil && audit.OK, Detail: detail}), audit, nil
}

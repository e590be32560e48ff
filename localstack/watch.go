package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/wiring"
)

// watch looks at a rehearsal from outside the pipeline: at Redis for the caps,
// and at queue, ledger and gateway for what has not come to rest.
type watch struct {
	town  *town
	plan  sale.Sale
	house *wiring.House
}

func openWatch(ctx context.Context, t *town, plan sale.Sale) (*watch, error) {
	h, err := t.house(ctx)
	if err != nil {
		return nil, err
	}
	return &watch{town: t, plan: plan, house: h}, nil
}

func (w *watch) close(ctx context.Context) error { return w.house.Close(ctx) }

// probe is one consistent reading of the sale, by one script.
func (w *watch) probe(ctx context.Context) (load.Sample, error) {
	s, err := w.house.Redis.Status(ctx, rehearsalSale, w.plan.LevelNames())
	if err != nil {
		return load.Sample{}, err
	}
	return sampleOf(s), nil
}

func sampleOf(s admission.Status) load.Sample {
	out := load.Sample{At: s.Now, Used: map[string]int{}, Caps: map[string]int{}, Free: map[string]int{}, Total: s.Used, TotalCap: s.TotalCap, Pending: s.Pending}
	for _, l := range s.Levels {
		out.Used[l.Name], out.Caps[l.Name], out.Free[l.Name] = l.Used, l.Cap, l.Free
	}
	return out
}

// rest adds what is under way. The ledger is walked only when the cheap figures
// are at rest, because a walk is not cheap.
func (w *watch) rest(ctx context.Context) (load.Sample, error) {
	s, err := w.probe(ctx)
	if err != nil {
		return s, err
	}
	depth, err := w.house.Queue.Depth(ctx)
	if err != nil {
		return s, err
	}
	s.Queued = depth.Visible + depth.InFlight
	for _, p := range w.town.cloud.Gateway.Payments() {
		if p.LateUnderWay || p.RefundPendingMinor > 0 {
			s.Held++
		}
	}
	s.Queued += w.town.cloud.Gateway.Waiting()
	if s.Pending+s.Queued+s.Held > 0 {
		return s, nil
	}
	err = w.house.Store.Scan(ctx, rehearsalSale, ledger.Visitor{
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

// judge adds to what a client can see what only ledger and gateway can say.
func (w *watch) judge(ctx context.Context, r load.Result) ([]load.Check, error) {
	checks := load.Judge(r)
	depth, err := w.house.Queue.Depth(ctx)
	if err != nil {
		return nil, err
	}
	checks = append(checks, load.Check{Name: "nothing parked in the dead letter queue", OK: depth.Dead == 0, Detail: fmt.Sprintf("%d messages", depth.Dead)})
	money, err := w.money(ctx)
	if err != nil {
		return nil, err
	}
	checks = append(checks, money...)
	var report bytes.Buffer
	err = w.town.holdfast(ctx, &report, "audit", rehearsalSale)
	checks = append(checks, load.Check{Name: "audit: every invariant, Redis = ledger by id", OK: err == nil, Detail: lastLine(report.String())})
	return checks, nil
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

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/seats"
	"github.com/holdfast/holdfast/sale"
)

// Of the crowd that watches.
const (
	viewers = 1_000
	changes = 40
)

// house is the one sale that the hub knows.
type house struct{ plan *booking.Plan }

func (h house) Plan(string) (*booking.Plan, bool) { return h.plan, true }
func (h house) Sales() []string                   { return []string{h.plan.Sale.ID} }

// watch lets 1,000 viewers look at the large hall while seats are held and let go,
// and says how long after a hold's answer they see it.
func (g *ground) watch(ctx context.Context, out io.Writer) error {
	l := sale.Level{Name: hallName, Kind: sale.KindSeated, Cap: hallSize}
	for i := range hallSize {
		l.Seats = append(l.Seats, sale.Seat{Name: seatName(i), Score: i + 1, Run: i / 30})
	}
	s := sale.Sale{ID: g.mapped, Levels: []sale.Level{l}, Price: sale.Money{AmountMinor: 1, Currency: "EUR"}}
	plan := &booking.Plan{Sale: s, Gen: 1, Halls: sale.Halls(s, nil)}
	hub := seats.New(seats.Options{Plans: house{plan}, Redis: g.store, Soft: g.store, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer hub.Close()
	defer cancel()
	wg.Go(func() { hub.Run(ctx) })
	var churned atomic.Int64
	wg.Go(func() { g.churn(ctx, &churned) })
	start := time.Now()

	arrived := make([]chan time.Time, changes)
	marks := make([][]byte, changes)
	for i := range arrived {
		arrived[i] = make(chan time.Time, viewers)
		marks[i] = []byte(`"` + seatName(4*i+1) + `":`)
	}
	for range viewers {
		sub, err := hub.Subscribe(ctx, plan, "")
		if err != nil {
			return err
		}
		wg.Go(func() {
			defer sub.Close()
			next := 0
			for e := range sub.Events() {
				if next < changes && bytes.Contains(e, marks[next]) {
					arrived[next] <- time.Now()
					next++
				}
			}
		})
	}
	var lags []time.Duration
	for i := range changes {
		a, err := g.store.Hold(ctx, g.wish(g.mapped, heldSize+i, seatName(4*i+1)))
		if err != nil || a.Outcome != admission.Admitted {
			return fmt.Errorf("hold: %v, %w", a.Outcome, err)
		}
		held := time.Now()
		for range viewers {
			select {
			case at := <-arrived[i]:
				lags = append(lags, max(0, at.Sub(held)))
			case <-time.After(20 * time.Second):
				return fmt.Errorf("change %d did not reach all viewers", i)
			}
		}
	}
	slices.Sort(lags)
	rate := float64(churned.Load()) / time.Since(start).Seconds()
	// Each hold comes right after a poll, which is the worst moment.
	fmt.Fprintf(out, "\n%d viewers of %d seats, %d held, %.0f other changes a second: a hold right after a poll is seen after %v (median), %v (p95), %v (p99)\n", viewers, hallSize, heldSize, rate,
		lags[len(lags)/2].Round(time.Millisecond), lags[len(lags)*95/100].Round(time.Millisecond), lags[len(lags)*99/100].Round(time.Millisecond))
	return nil
}

// churn holds and lets go seats that nobody waits for.
func (g *ground) churn(ctx context.Context, n *atomic.Int64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		<-tick.C
		q := g.wish(g.mapped, heldSize+changes, seatName(4*(i%5000)+2))
		if a, err := g.store.Hold(ctx, q); err != nil || a.Outcome != admission.Admitted {
			return
		}
		n.Add(1)
	}
}

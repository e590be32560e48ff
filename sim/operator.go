package sim

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
)

// operatorRole is the operators' desk, and whoever is called when Redis is lost.
type operatorRole struct {
	*house
	desk    *operator.Desk
	healers *reaper.Reaper
	busy    atomic.Int32 // rebuilds that are under way or will be

	importing, editing turnstile
}

func (t *town) bootOperator() (*operatorRole, error) {
	h, err := t.open("operator")
	if err != nil {
		return nil, err
	}
	healers, err := t.healers(h)
	if err != nil {
		return nil, err
	}
	return &operatorRole{house: h, healers: healers, importing: make(turnstile, 1), editing: make(turnstile, 1), desk: &operator.Desk{Store: h.store, Redis: h.redis, Server: h.redis, Queue: h.queue,
		Steps: h.steps, Status: h.status, Gateways: h.steps.Gateways, Gateway: t.script.gateway, Hasher: t.hasher, Now: h.p.Now, Log: h.p.log}}, nil
}

// turnstile is a mutex that a synctest bubble can wait on.
type turnstile chan struct{}

// Lock waits until nobody else is inside.
func (t turnstile) Lock() { t <- struct{}{} }

// Unlock lets the next one in.
func (t turnstile) Unlock() { <-t }

// rebuildSoon is an operator who is paged and rebuilds the sale until it works.
func (o *operatorRole) rebuildSoon(after time.Duration) {
	o.busy.Add(1)
	o.p.run(func(ctx context.Context) {
		defer o.busy.Add(-1)
		if o.p.sleep(after) {
			o.rebuild(ctx)
		}
	})
}

func (o *operatorRole) rebuilding() bool { return o.busy.Load() > 0 }

func (o *operatorRole) rebuild(ctx context.Context) {
	for range 20 {
		r, err := o.healers.Rebuilder.Rebuild(ctx, theSale, reaper.RebuildOptions{})
		o.p.town.log.printf("rebuild: opened %t, %v", r.Opened, err != nil)
		if r.Opened || !o.p.sleep(time.Minute) {
			return
		}
	}
}

// operate is one act of an operator, on the town as it is.
func operate(t *town, rng *rand.Rand) string {
	o := t.operator
	by := operator.By{Actor: "operator:ann", Reason: "simulated"}
	acts := 6
	if t.seated() {
		acts = 9
	}
	roll, pick := rng.IntN(acts), rng.IntN(1000)
	level := t.plan.Levels[rng.IntN(len(t.plan.Levels))]
	n := 1 + rng.IntN(level.Cap+2)
	do := func(what string, act func(ctx context.Context) error) string {
		o.p.run(func(ctx context.Context) {
			if o.p.town.sched.stand(o.p, "operator."+what, "").kind != crashed {
				_ = act(ctx) // refused or failed: an operator may try again, or not
			}
		})
		return what
	}
	switch roll {
	case 0, 1:
		if level.Kind == sale.KindSeated {
			return ""
		}
		return do(fmt.Sprintf("cap of %s to %d", level.Name, n), func(ctx context.Context) error {
			_, err := o.desk.SetCap(ctx, theSale, level.Name, n, by)
			return err
		})
	case 2:
		return do("close and open", func(ctx context.Context) error {
			if err := o.desk.Close(ctx, theSale, by); err != nil {
				return err
			}
			o.p.sleep(20 * time.Second)
			return o.desk.Open(ctx, theSale, by)
		})
	case 3:
		id := t.some(ledger.Held, pick)
		if id == "" {
			return ""
		}
		return do("release "+id, func(ctx context.Context) error { _, err := o.desk.ReleaseHold(ctx, id, by); return err })
	case 4:
		id := t.some(ledger.Paid, pick)
		if id == "" {
			return ""
		}
		return do("cancel "+id, func(ctx context.Context) error { return o.desk.CancelPaid(ctx, id, by) })
	case 6, 7, 8:
		seat := []string{extraSeat, "C1", "C2", "C3"}[pick%4]
		return do("edit of seat "+seat, func(ctx context.Context) error { return o.seatEdit(ctx, seat, by) })
	}
	return do("import", func(ctx context.Context) error {
		// An import that broke off is only over when the operator repeats it; one at a
		// time, since two files at once are two rosters.
		o.importing.Lock()
		defer o.importing.Unlock()
		for again := true; again; again = o.p.sleep(20 * time.Second) {
			if _, err := o.desk.ImportRoster(ctx, theSale, t.rosterWithout(pick%len(t.crowd)), operator.ImportOptions{}, nil, by); err == nil {
				return nil
			}
		}
		return ctx.Err()
	})
}

// some is a booking in the state, "" if there is none.
func (t *town) some(state ledger.State, pick int) string {
	s, err := t.audit.look()
	t.must(err)
	var ids []string
	for id, b := range s.Bookings {
		if b.State == state {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	return ids[pick%len(ids)]
}

// rosterWithout is the roster without one candidate.
func (t *town) rosterWithout(n int) operator.Rows {
	return func() (iter.Seq2[sale.Row, error], error) {
		return func(yield func(sale.Row, error) bool) {
			for i, c := range t.crowd {
				code, err := sale.NormaliseCode(c.code)
				if err != nil {
					panic(err) // it was one before
				}
				mail, err := sale.ParseEmail(c.mail)
				if err != nil {
					panic(err)
				}
				if i != n && !yield(sale.Row{Code: code, Email: mail}, nil) {
					return
				}
			}
		}, nil
	}
}

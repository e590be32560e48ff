package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

const (
	callers  = 64
	hallSize = 20_700
	heldSize = 5_000
	hallName = "Hall"
	email    = "aaaaaaaaaaaaaaaa"
)

// ground is the servers that both ways share.
type ground struct {
	pair  *redisproc.Pair
	store *admredis.Store
	plain *goredis.Client
	sales atomic.Int64
	ids   atomic.Int64

	mapped string // the sale with the large map
}

func open(ctx context.Context) (*ground, error) {
	pair, err := redisproc.StartPair(ctx, redisproc.Options{})
	if err != nil {
		return nil, err
	}
	g := &ground{pair: pair, plain: goredis.NewClient(&goredis.Options{Addr: pair.Primary.Addr(), PoolSize: 2 * callers, ReadTimeout: time.Minute})}
	g.store, err = admredis.Open(admredis.Config{Addrs: []string{pair.Primary.Addr()}, Replicas: 1, WaitTimeout: time.Second, PoolSize: 2 * callers,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *ground) close() error {
	errs := []error{g.plain.Close(), g.pair.Stop()}
	if g.store != nil {
		errs = append(errs, g.store.Close())
	}
	return errors.Join(errs...)
}

func seatName(i int) string { return "R-" + strconv.Itoa(i) }

func (g *ground) install(ctx context.Context, seats int) (string, error) {
	id, now := "hall"+strconv.FormatInt(g.sales.Add(1), 10), time.Now()
	tokens := make([]string, seats)
	for i := range tokens {
		tokens[i] = seatName(i)
	}
	err := g.store.Install(ctx, admission.Plan{Sale: id, Gen: 1, OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour), Hold: 10 * time.Minute,
		TotalCap: seats, Open: true, RosterVersion: "v1", Levels: []admission.LevelPlan{{Name: hallName, Kind: "s", Cap: seats, Next: 1, Tokens: tokens}}}, nil)
	if errors.Is(err, admission.ErrUnacknowledged) {
		err = nil // a busy machine; nothing here fails over
	}
	if err != nil {
		return "", err
	}
	rows := make([]admission.RosterEntry, max(callers, heldSize+changes+1))
	for i := range rows {
		rows[i] = admission.RosterEntry{Candidate: "c" + strconv.Itoa(i), EmailHash: email}
	}
	return id, g.store.PutRoster(ctx, id, rows)
}

func (g *ground) wish(sale string, caller int, seats ...string) admission.HoldRequest {
	return admission.HoldRequest{Sale: sale, HoldID: "h" + strconv.FormatInt(g.ids.Add(1), 10), Candidate: "c" + strconv.Itoa(caller), Level: hallName, Gen: 1,
		EmailHash: email, AmountMinor: 1, Currency: "EUR", Seats: seats, For: 10 * time.Minute, Max: 20 * time.Minute}
}

// pair of neighbours in either order.
func group(seats int) []string {
	a := rand.IntN(seats - 1)
	if rand.IntN(2) == 0 {
		return []string{seatName(a), seatName(a + 1)}
	}
	return []string{seatName(a + 1), seatName(a)}
}

// crowd lets every caller work until the time is over; f reports one group that
// was held and let go.
func crowd(ctx context.Context, length time.Duration, f func(ctx context.Context, caller int) (bool, error)) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var held atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, callers)
	start := time.Now()
	for i := range callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				ok, err := f(context.WithoutCancel(ctx), i)
				if err != nil {
					failed <- err
					return
				}
				if ok {
					held.Add(1)
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return float64(held.Load()) / time.Since(start).Seconds(), <-failed
}

// ours holds and releases groups while a probe looks for half groups.
func (g *ground) ours(seats int) measure {
	return func(ctx context.Context, length time.Duration) (float64, faults, error) {
		sale, err := g.install(ctx, seats)
		if err != nil {
			return 0, faults{}, err
		}
		stop := probe(func() (faults, error) {
			m, err := g.store.Seats(ctx, sale, []string{hallName})
			var f faults
			owner := map[string]string{}
			for _, h := range m.Holders {
				if len(h.Seats) != 2 {
					f.half++
				}
				for _, s := range h.Seats {
					if owner[s] != "" {
						f.double++
					}
					owner[s] = h.ID
				}
			}
			return f, err
		})
		rate, err := crowd(ctx, length, func(ctx context.Context, caller int) (bool, error) {
			q := g.wish(sale, caller, group(seats)...)
			a, err := g.store.Hold(ctx, q)
			if err != nil || a.Outcome != admission.Admitted {
				if err == nil && a.Outcome != admission.Taken {
					err = fmt.Errorf("hold: %v", a.Outcome)
				}
				return false, err
			}
			_, err = g.store.Undo(ctx, admission.Undo{Sale: sale, BookingID: q.HoldID, Candidate: q.Candidate, Level: hallName, Mode: admission.UndoQuick, Driver: 1})
			return true, err
		})
		f, perr := stop()
		return rate, f, errors.Join(err, perr)
	}
}

// probe looks again and again until it is stopped.
func probe(look func() (faults, error)) (stop func() (faults, error)) {
	quit := make(chan struct{})
	var sum faults
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(5 * time.Millisecond): // a look must not be the load
			}
			f, err := look()
			if err != nil {
				failed = err
				return
			}
			sum.half += f.half
			sum.double += f.double
		}
	}()
	return func() (faults, error) { close(quit); <-done; return sum, failed }
}

// ourMap reads the map of the large hall.
func (g *ground) ourMap(ctx context.Context, length time.Duration) (float64, faults, error) {
	if g.mapped == "" {
		sale, err := g.install(ctx, hallSize)
		if err != nil {
			return 0, faults{}, err
		}
		for i := range heldSize {
			if _, err := g.store.Hold(ctx, g.wish(sale, i, seatName(4*i))); err != nil {
				return 0, faults{}, err
			}
		}
		g.mapped = sale
	}
	reads, start := 0, time.Now()
	for time.Since(start) < length {
		m, err := g.store.Seats(ctx, g.mapped, []string{hallName})
		if err != nil {
			return 0, faults{}, err
		}
		if len(m.Holders) != heldSize {
			return 0, faults{}, fmt.Errorf("the map has %d holders", len(m.Holders))
		}
		reads++
	}
	return float64(reads) / time.Since(start).Seconds(), faults{}, nil
}

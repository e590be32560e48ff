package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	admredis "github.com/holdfast/holdfast/admission/redis"
)

// second is how long a storm lasts: long enough for thousands of admissions of
// the slowest, short enough for a machine that others use, too.
const second = 800 * time.Millisecond

// groupDefaults are the options of a process as it is wired.
var groupDefaults = admredis.CommitOptions{}

// ours gives f our group commit on a fresh sale.
func (g *ground) ours(ctx context.Context, addr string, seats, total int, opt admredis.CommitOptions, f func(admitter) error) error {
	if err := g.fresh(ctx, seats, total); err != nil {
		return err
	}
	s, err := g.store(addr)
	if err != nil {
		return err
	}
	defer s.Close()
	return f(g.group(s, opt))
}

// rate is admissions per second of our group commit.
func (g *ground) rate(callers int, addr func() string, opt admredis.CommitOptions) func(context.Context) (float64, error) {
	return func(ctx context.Context) (rate float64, err error) {
		err = g.ours(ctx, addr(), stormSeats, stormSeats, opt, func(a admitter) error {
			t, err := storm(ctx, callers, second, a)
			rate = t.rate
			return err
		})
		return rate, err
	}
}

// processes is the rate of n group commits, each with its own connections, that
// share 1,024 callers: what the primary sees of n ingress processes.
func (g *ground) processes(n int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := g.fresh(ctx, stormSeats, stormSeats); err != nil {
			return 0, err
		}
		var all []admitter
		for range n {
			s, err := g.store(g.primary())
			if err != nil {
				return 0, err
			}
			defer s.Close()
			all = append(all, g.group(s, groupDefaults))
		}
		t, err := storm(ctx, 1024, second, func(ctx context.Context, candidate string) (bool, error) {
			return all[len(all)*int(candidate[len(candidate)-1]-'0')/10](ctx, candidate)
		})
		return t.rate, err
	}
}

// rivalRate is admissions per second of another way.
func (g *ground) rivalRate(name string, callers int, addr func() string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (rate float64, err error) {
		err = rivalNamed(name).with(ctx, g, addr(), stormSeats, func(a admitter) error {
			t, err := storm(ctx, callers, 2*second, a) // some are so slow that they need it
			rate = t.rate
			return err
		})
		return rate, err
	}
}

// script is redis-benchmark -P 64 of the single script, acknowledged by nobody.
func (g *ground) script(ctx context.Context) (float64, error) {
	if err := g.fresh(ctx, stormSeats, stormSeats); err != nil {
		return 0, err
	}
	sha, err := g.admin.ScriptLoad(ctx, g.admit).Result()
	if err != nil {
		return 0, err
	}
	const r = "__rand_int__"
	command := append([]string{"EVALSHA", sha, strconv.Itoa(len(g.keys()))}, g.keys()...)
	command = append(command, "B0000000000000"+r, strings.Repeat("0", 31)+r, level, "1", "k000000000"+r, "i000000000"+r,
		"v1", "0000"+r, "2500", "EUR", "1")
	return g.redisBenchmark(ctx, 30_000, command...)
}

// microClock counts microseconds of the primary's work.
type microClock func(context.Context) (float64, error)

// microsPer is what a request costs the primary by the clock.
func microsPer(ctx context.Context, clock microClock, f func() (requests float64, err error)) (float64, error) {
	from, err := clock(ctx)
	if err != nil {
		return 0, err
	}
	n, err := f()
	if err != nil {
		return 0, err
	}
	to, err := clock(ctx)
	if err == nil && n == 0 {
		err = fmt.Errorf("nothing was asked")
	}
	return (to - from) / n, err
}

// admissionCPU is for admissions in batches of 32, each acknowledged.
func (g *ground) admissionCPU(ctx context.Context) (float64, error) {
	return g.admissionMicros(ctx, g.cpuMicros)
}

// scriptTime is for the same, by the server's own clock around the script: without
// reading, parsing, replicating, answering, and the kernel.
func (g *ground) scriptTime(ctx context.Context) (float64, error) {
	return g.admissionMicros(ctx, g.commandMicros("evalsha"))
}

func (g *ground) admissionMicros(ctx context.Context, clock microClock) (each float64, err error) {
	err = g.ours(ctx, g.primary(), stormSeats, stormSeats, admredis.CommitOptions{MaxBatch: 32}, func(a admitter) error {
		each, err = microsPer(ctx, clock, func() (float64, error) {
			t, err := storm(ctx, 1024, second, a)
			return t.all, err
		})
		return err
	})
	return each, err
}

// refusalCPU is for refusals by the script in batches of 32: what the local
// gates leave over.
func (g *ground) refusalCPU(ctx context.Context) (each float64, err error) {
	err = g.ours(ctx, g.primary(), 1000, 0, admredis.CommitOptions{MaxBatch: 32}, func(a admitter) error {
		refused := func(ctx context.Context, c string) (bool, error) {
			ok, err := a(ctx, c)
			return !ok, err
		}
		each, err = microsPer(ctx, g.cpuMicros, func() (float64, error) {
			t, err := storm(ctx, 1024, second, refused)
			return t.all, err
		})
		return err
	})
	return each, err
}

// bareCPU is for HSET of one fresh field, 64 in a write, replicated as ours are.
func (g *ground) bareCPU(ctx context.Context) (float64, error) { return g.bareMicros(ctx, g.cpuMicros) }

func (g *ground) bareTime(ctx context.Context) (float64, error) {
	return g.bareMicros(ctx, g.commandMicros("hset"))
}

func (g *ground) bareMicros(ctx context.Context, clock microClock) (float64, error) {
	if err := g.fresh(ctx, 1, 1); err != nil {
		return 0, err
	}
	const n = 200_000
	return microsPer(ctx, clock, func() (float64, error) {
		_, err := g.redisBenchmark(ctx, n, "HSET", "bare", "00000000000000000000__rand_int__", "B0000000000000000000000001")
		return n, err
	})
}

// idle is one caller's median latency, in microseconds.
func (g *ground) idle(ctx context.Context) (p50 float64, err error) {
	err = g.ours(ctx, g.primary(), 2000, 2000, admredis.CommitOptions{}, func(a admitter) error {
		p50, err = alone(ctx, 500, a)
		return err
	})
	return p50, err
}

func (g *ground) naiveIdle(ctx context.Context) (p50 float64, err error) {
	err = rivalNamed("naive EVALSHA+WAIT").with(ctx, g, g.primary(), 2000, func(a admitter) error {
		p50, err = alone(ctx, 500, a)
		return err
	})
	return p50, err
}

func (g *ground) primary() string { return g.pair.Primary.Addr() }

// redisContests are the goals about admission in Redis.
func (g *ground) redisContests() []contest {
	near, far := g.primary, g.link.addr
	group, patient := groupDefaults, admredis.CommitOptions{InFlight: 4}
	const persec, micros = "admissions/s", "µs"
	return []contest{
		{"group commit, 1,024 callers / redis-benchmark -P 64 of the single script, unacknowledged", persec, 1.2, 3, false, g.rate(1024, near, group), g.script},
		{"group commit / naive EVALSHA+WAIT, 1,024 callers", persec, 6, 15, false, g.rate(1024, near, group), g.rivalRate("naive EVALSHA+WAIT", 1024, near)},
		{"group commit / naive EVALSHA+WAIT, 1,024 callers, 5 ms link", persec, 15, 40, false, g.rate(1024, far, patient), g.rivalRate("naive EVALSHA+WAIT", 1024, far)},
		{"group commit / MULTI+WATCH, 256 callers", persec, 50, 500, false, g.rate(256, near, group), g.rivalRate("MULTI/WATCH", 256, near)},
		{"group commit / Redlock-style lock, 1,024 callers", persec, 300, 2000, false, g.rate(1024, near, group), g.rivalRate("Redlock-style lock", 1024, near)},
		{"group commit / Redlock-style lock, 256 callers", persec, 0, 0, false, g.rate(256, near, group), g.rivalRate("Redlock-style lock", 256, near)},
		{"primary CPU, admission in a batch of 32 / bare HSET", micros, 5, 2.5, true, g.admissionCPU, g.bareCPU},
		{"script time of an admission in a batch of 32 / HSET, by INFO commandstats", micros, 0, 0, true, g.scriptTime, g.bareTime},
		{"primary CPU, refusal when sold out / admission", micros, 0.4, 0.05, true, g.refusalCPU, g.admissionCPU},
		{"four processes / one, 1,024 callers in all", persec, 0, 0, false, g.processes(4), g.processes(1)},
		{"idle p50, one caller, group commit / naive", micros, 1, 0.85, true, g.idle, g.naiveIdle},
	}
}

// redisRaces let few seats meet a crowd, each way.
func (g *ground) redisRaces(ctx context.Context) ([]Race, error) {
	const seats = 50
	var list []Race
	add := func(name string) func(admitter) error {
		return func(a admitter) error {
			r, err := race(ctx, name, seats, a)
			list = append(list, r)
			return err
		}
	}
	if err := g.ours(ctx, g.primary(), seats, seats, admredis.CommitOptions{}, add("group commit")); err != nil {
		return list, err
	}
	for _, r := range rivals {
		if err := r.with(ctx, g, g.primary(), seats, add(r.name)); err != nil {
			return list, err
		}
	}
	return list, nil
}

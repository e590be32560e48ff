package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// sketch is the lock as it is usually drawn: SET NX EX for each seat in turn, the
// seats added to a set; if one is taken, those that were locked are deleted. The
// value names the caller and the group, so that a probe can see what it sees.
func (g *ground) sketch(seats int) measure {
	return func(ctx context.Context, length time.Duration) (float64, faults, error) {
		prefix := "sketch" + strconv.FormatInt(g.sales.Add(1), 10) + ":"
		all := make([]string, seats)
		for i := range all {
			all[i] = prefix + seatName(i)
		}
		stop := probe(func() (faults, error) {
			values, err := g.plain.MGet(ctx, all...).Result()
			return halves(values), err
		})
		rate, err := crowd(ctx, length, func(ctx context.Context, caller int) (bool, error) {
			return lock(ctx, g.plain, prefix, strconv.Itoa(caller)+"/"+strconv.FormatInt(g.ids.Add(1), 10), group(seats))
		})
		f, perr := stop()
		if err == nil {
			err = perr
		}
		if err == nil {
			f.leaked, err = g.leaks(ctx, prefix)
		}
		return rate, f, err
	}
}

// halves counts groups of which one seat is locked and the other is not.
func halves(values []any) (f faults) {
	seats := map[string]int{}
	for _, v := range values {
		if s, ok := v.(string); ok {
			seats[s]++
		}
	}
	for _, n := range seats {
		if n != 2 {
			f.half++
		}
	}
	return f
}

func lock(ctx context.Context, c *goredis.Client, prefix, owner string, seats []string) (bool, error) {
	var locked []string
	for _, s := range seats {
		ok, err := c.SetNX(ctx, prefix+s, owner, 10*time.Minute).Result()
		if err != nil {
			return false, err
		}
		if !ok {
			return false, unlock(ctx, c, prefix, locked)
		}
		locked = append(locked, s)
		if err := c.SAdd(ctx, prefix+"reserved", s).Err(); err != nil {
			return false, err
		}
	}
	return true, unlock(ctx, c, prefix, locked)
}

func unlock(ctx context.Context, c *goredis.Client, prefix string, seats []string) error {
	for _, s := range seats {
		if err := c.Del(ctx, prefix+s).Err(); err != nil {
			return err
		}
		if err := c.SRem(ctx, prefix+"reserved", s).Err(); err != nil {
			return err
		}
	}
	return nil
}

// leaks lets ten locks run out, as those of people who leave do, and counts the
// seats that are reserved all the same and those that are locked but shown free.
func (g *ground) leaks(ctx context.Context, prefix string) (int, error) {
	for i := range 10 {
		s := "gone-" + strconv.Itoa(i)
		if err := g.plain.Set(ctx, prefix+s, "x", time.Millisecond).Err(); err != nil {
			return 0, err
		}
		if err := g.plain.SAdd(ctx, prefix+"reserved", s).Err(); err != nil {
			return 0, err
		}
	}
	for g.plain.Exists(ctx, prefix+"gone-9").Val() == 1 {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	reserved, err := g.plain.SMembers(ctx, prefix+"reserved").Result()
	leaked := 0
	for _, s := range reserved {
		if g.plain.Exists(ctx, prefix+s).Val() == 0 {
			leaked++
		}
	}
	return leaked, err
}

// sketchMap asks TTL and GET of every seat, in one pipeline (one by one it would
// be twenty times slower still).
func (g *ground) sketchMap(ctx context.Context, length time.Duration) (float64, faults, error) {
	const prefix = "sketchmap:"
	if g.plain.Exists(ctx, prefix+"reserved").Val() == 0 {
		p := g.plain.Pipeline()
		for i := range heldSize {
			p.Set(ctx, prefix+seatName(4*i), "owner"+strconv.Itoa(i), 10*time.Minute)
			p.SAdd(ctx, prefix+"reserved", seatName(4*i))
		}
		if _, err := p.Exec(ctx); err != nil {
			return 0, faults{}, err
		}
	}
	reads, start := 0, time.Now()
	for time.Since(start) < length {
		p := g.plain.Pipeline()
		for i := range hallSize {
			p.Get(ctx, prefix+seatName(i))
			p.TTL(ctx, prefix+seatName(i))
		}
		if _, err := p.Exec(ctx); err != nil && !strings.Contains(err.Error(), goredis.Nil.Error()) {
			return 0, faults{}, err
		}
		reads++
	}
	return float64(reads) / time.Since(start).Seconds(), faults{}, nil
}

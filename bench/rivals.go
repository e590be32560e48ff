package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// The other ways to sell seats, as one finds them. Only the naive one waits for
// a replica; the rest promise what a failover may take back.

// naive runs our own single script and WAIT for each request, on a connection of
// go-redis's default pool.
func (g *ground) naive(client *goredis.Client, sha string) admitter {
	return func(ctx context.Context, candidate string) (bool, error) {
		r := g.request(candidate)
		args := []any{"evalsha", sha, 12}
		for _, k := range g.keys() {
			args = append(args, k)
		}
		args = append(args, r.BookingID, r.Candidate, r.Level, r.Gen, r.Key, r.InputHash, r.RosterVersion, r.EmailHash, r.AmountMinor, r.Currency, r.Count)
		conn := client.Conn()
		defer conn.Close()
		reply, err := conn.Do(ctx, args...).Slice()
		if err != nil {
			return false, err
		}
		if reply[0] != "OK" {
			return false, nil
		}
		n, err := conn.Do(ctx, "wait", 1, 1000).Int()
		if err == nil && n < 1 {
			err = errors.New("naive: the replica did not acknowledge in a second")
		}
		return err == nil, err
	}
}

// rivalCap is where the rivals keep how many seats are left to sell.
const (
	rivalTaken = "rival:taken"
	rivalWho   = "rival:who"
)

// optimistic is WATCH, read, MULTI: it starts over whenever somebody else was
// faster.
func optimistic(client *goredis.Client, seats int) admitter {
	return func(ctx context.Context, candidate string) (bool, error) {
		for {
			won := false
			err := client.Watch(ctx, func(tx *goredis.Tx) error {
				taken, err := tx.Get(ctx, rivalTaken).Int()
				if err != nil && !errors.Is(err, goredis.Nil) {
					return err
				}
				has, err := tx.SIsMember(ctx, rivalWho, candidate).Result()
				if err != nil || has || taken >= seats {
					return err
				}
				_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
					p.Incr(ctx, rivalTaken)
					p.SAdd(ctx, rivalWho, candidate)
					return nil
				})
				won = err == nil
				return err
			}, rivalTaken, rivalWho)
			if !errors.Is(err, goredis.TxFailedErr) {
				return won, err
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
		}
	}
}

// release lets a lock go if it is still ours.
var release = goredis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

// locked takes a Redlock-style lock of the level (SET NX PX, try again after a
// random while), then reads, decides and writes. One server, so it is faster
// than the real one with five.
func locked(client *goredis.Client, seats int) admitter {
	return func(ctx context.Context, candidate string) (won bool, err error) {
		token := strconv.FormatUint(rand.Uint64(), 36)
		for {
			ok, err := client.SetNX(ctx, "rival:lock", token, 2*time.Second).Result()
			if err != nil {
				return false, err
			}
			if ok {
				break
			}
			select {
			case <-ctx.Done():
				return false, ctx.Err()
			case <-time.After(time.Millisecond + rand.N(9*time.Millisecond)):
			}
		}
		defer func() { err = errors.Join(err, release.Run(ctx, client, []string{"rival:lock"}, token).Err()) }()
		taken, err := client.Get(ctx, rivalTaken).Int()
		if err != nil && !errors.Is(err, goredis.Nil) {
			return false, err
		}
		has, err := client.SIsMember(ctx, rivalWho, candidate).Result()
		if err != nil || has || taken >= seats {
			return false, err
		}
		if err := client.Incr(ctx, rivalTaken).Err(); err != nil {
			return false, err
		}
		return true, client.SAdd(ctx, rivalWho, candidate).Err()
	}
}

// counter is INCR, check, DECR: has the candidate one? count up; too many? count
// down again. Two tabs pass the first question together.
func counter(client *goredis.Client, seats int) admitter {
	return func(ctx context.Context, candidate string) (bool, error) {
		has, err := client.SIsMember(ctx, rivalWho, candidate).Result()
		if err != nil || has {
			return false, err
		}
		n, err := client.Incr(ctx, rivalTaken).Result()
		if err != nil {
			return false, err
		}
		if int(n) > seats {
			return false, client.Decr(ctx, rivalTaken).Err()
		}
		return true, client.SAdd(ctx, rivalWho, candidate).Err()
	}
}

// rival is one of the above, with a client of its own for each storm.
type rival struct {
	name  string
	pool  int // 0 = go-redis's default
	admit func(g *ground, client *goredis.Client, sha string, seats int) admitter
}

var rivals = []rival{
	{"naive EVALSHA+WAIT", 0, func(g *ground, c *goredis.Client, sha string, _ int) admitter { return g.naive(c, sha) }},
	{"MULTI/WATCH", 300, func(_ *ground, c *goredis.Client, _ string, seats int) admitter { return optimistic(c, seats) }},
	{"Redlock-style lock", 300, func(_ *ground, c *goredis.Client, _ string, seats int) admitter { return locked(c, seats) }},
	{"INCR-check-DECR", 300, func(_ *ground, c *goredis.Client, _ string, seats int) admitter { return counter(c, seats) }},
}

func rivalNamed(name string) rival {
	for _, r := range rivals {
		if r.name == name {
			return r
		}
	}
	panic("bench: no rival " + name) // a slip of this program, not of a run
}

// with gives f the rival on a fresh sale with so many seats.
func (r rival) with(ctx context.Context, g *ground, addr string, seats int, f func(admitter) error) (err error) {
	if err := g.fresh(ctx, seats, seats); err != nil {
		return err
	}
	sha, err := g.admin.ScriptLoad(ctx, g.admit).Result()
	if err != nil {
		return err
	}
	client := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: r.pool, ReadTimeout: 5 * time.Second, PoolTimeout: 20 * time.Second, MaxRetries: -1})
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := f(r.admit(g, client, sha, seats)); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// The other ways to sell seats, as one finds them. Only the naive one waits for
// a replica; the rest promise what a failover may take back.

// naive runs our own single script and WAIT for each request, on a connection of
// go-redis's default pool.
func (g *ground) naive(client *goredis.Client, sha string) admitter {
	return func(ctx context.Context, candidate string) (bool, error) {
		r := g.request(candidate)
		args := []any{"evalsha", sha, len(g.keys())}
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

// locked takes a Redlock of the level: SET NX PX on five servers that know nothing
// of each other, three must say yes, otherwise let go and try again after 50 to
// 250 ms, 32 times, which is what the usual library does unless it is told
// otherwise. Then it reads, decides and writes on the primary.
func locked(client *goredis.Client, lockers []*goredis.Client, seats int) admitter {
	return func(ctx context.Context, candidate string) (won bool, err error) {
		token := strconv.FormatUint(rand.Uint64(), 36)
		for tries := 1; !lock(ctx, lockers, token); tries++ {
			if err := unlock(ctx, lockers, token); err != nil {
				return false, err
			}
			if tries == 32 {
				return false, fmt.Errorf("%w: no lock", admission.ErrUnavailable)
			}
			select {
			case <-ctx.Done():
				return false, ctx.Err()
			case <-time.After(50*time.Millisecond + rand.N(200*time.Millisecond)):
			}
		}
		defer func() { err = errors.Join(err, unlock(ctx, lockers, token)) }()
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

// lock asks all servers at once, and says whether most of them gave the lock.
func lock(ctx context.Context, lockers []*goredis.Client, token string) bool {
	var wg sync.WaitGroup
	var got atomic.Int64
	for _, l := range lockers {
		wg.Go(func() {
			if ok, err := l.SetNX(ctx, "rival:lock", token, 2*time.Second).Result(); err == nil && ok {
				got.Add(1)
			}
		})
	}
	wg.Wait()
	return int(got.Load()) > len(lockers)/2
}

func unlock(ctx context.Context, lockers []*goredis.Client, token string) error {
	var wg sync.WaitGroup
	faults := make([]error, len(lockers))
	for i, l := range lockers {
		wg.Go(func() { faults[i] = release.Run(ctx, l, []string{"rival:lock"}, token).Err() })
	}
	wg.Wait()
	return errors.Join(faults...)
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
	{"Redlock-style lock", 300, func(g *ground, c *goredis.Client, _ string, seats int) admitter { return locked(c, g.lockers, seats) }},
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

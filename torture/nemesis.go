package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/redisproc"
)

// blow is one thing that was done to the town, from its start until the town was
// whole again.
type blow struct {
	Name      string        `json:"name"`
	At        time.Duration `json:"at"`
	Over      time.Duration `json:"over"`
	Failovers int           `json:"failovers"`
	Crash     bool          `json:"crash"`
}

// nemesis breaks one thing after the other and heals each, so that every run
// with the same seed has the same blows in the same order.
type nemesis struct {
	town  *town
	rng   *rand.Rand
	blows []blow

	lostBytes int // of the replication
}

type attack struct {
	name      string
	failovers int
	crash     bool
	strike    func(*nemesis, context.Context) error
}

var attacks = []attack{
	{"kill -9 primary", 1, false, (*nemesis).killPrimary},
	{"kill -9 two primaries", 2, false, (*nemesis).killTwo},
	{"kill -9 process", 0, true, (*nemesis).killProcess},
	{"SCRIPT FLUSH", 0, false, (*nemesis).flushScripts},
	{"replication held, kill -9 primary", 1, false, (*nemesis).killBehindTheLine},
	{"replica gone", 0, false, (*nemesis).killReplica},
	{"hole in the replication", 0, false, (*nemesis).punchHole},
	{"SIGSTOP process", 0, false, (*nemesis).pauseProcess},
	{"memory limit", 0, false, (*nemesis).fillMemory},
	{"SIGSTOP primary", 1, false, (*nemesis).freezePrimary},
	{"AWS storm", 0, false, (*nemesis).stormAWS},
	{"kill -9 all processes", 0, true, (*nemesis).killAll},
}

// run strikes until ctx ends; a blow that has begun is healed all the same.
// Each attack comes once before any comes again.
func (n *nemesis) run(ctx context.Context) error {
	var left []attack
	for n.pause(ctx, time.Second) {
		if len(left) == 0 {
			left = append(left, attacks...)
			n.rng.Shuffle(len(left)-1, func(i, j int) { left[i+1], left[j+1] = left[j+1], left[i+1] })
		}
		a := left[0]
		left = left[1:]
		if err := n.hit(context.WithoutCancel(ctx), a); err != nil {
			return fmt.Errorf("torture: %s: %w", a.name, err)
		}
	}
	return nil
}

func (n *nemesis) hit(ctx context.Context, a attack) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	b := blow{Name: a.name, At: n.town.balancer.since(), Failovers: a.failovers, Crash: a.crash}
	err := a.strike(n, ctx)
	b.Over = n.town.balancer.since()
	n.blows = append(n.blows, b)
	return err
}

// pause lets time pass; false means that ctx ended.
func (n *nemesis) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// servers says who is primary, by Sentinel, and who is not.
func (n *nemesis) servers(ctx context.Context) (primary, other *redisproc.Server, err error) {
	pair := n.town.cloud.Redis
	for _, addr := range n.town.sentinels.Addrs() {
		c := goredis.NewSentinelClient(&goredis.Options{Addr: addr})
		var at []string
		at, err = c.GetMasterAddrByName(ctx, redisproc.SentinelName).Result()
		_ = c.Close()
		if err == nil && net.JoinHostPort(at[0], at[1]) == pair.Primary.Addr() {
			return pair.Primary, pair.Replica, nil
		}
		if err == nil {
			return pair.Replica, pair.Primary, nil
		}
	}
	return nil, nil, err
}

// succeeded waits until Sentinel has made the other one primary.
func (n *nemesis) succeeded(ctx context.Context, old *redisproc.Server) (now *redisproc.Server, err error) {
	err = await(ctx, func() bool {
		var failed error
		now, _, failed = n.servers(ctx)
		return failed == nil && now != old && n.isPrimary(ctx, now)
	})
	return now, err
}

// isPrimary asks whether a server says of itself that it is a primary.
func (n *nemesis) isPrimary(ctx context.Context, s *redisproc.Server) bool {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), PoolSize: 1, MaxRetries: -1})
	defer c.Close()
	role, err := c.Do(ctx, "role").Slice()
	return err == nil && len(role) > 0 && role[0] == "master"
}

func (n *nemesis) tell(ctx context.Context, s *redisproc.Server, args ...any) error {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), PoolSize: 1})
	defer c.Close()
	if err := c.Do(ctx, args...).Err(); err != nil {
		return fmt.Errorf("%v: %w", args, err)
	}
	return nil
}

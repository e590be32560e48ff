package redis

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// TestFrozenShardStarvesNoOther freezes one of the two primaries of a cluster under
// a crowd for many of its sales: admissions of a sale on the other one go on, and
// wait for none of those that nobody answers.
func TestFrozenShardStarvesNoOther(t *testing.T) {
	b, cl := shards(t)
	frozen := cl.Primaries[0]
	c := NewCommitter(b.store, CommitOptions{})
	if err := frozen.Pause(); err != nil {
		t.Fatal(err)
	}
	ended, disperse := b.crowd(c, frozen.Addr())
	for i := range 20 {
		r := b.req("b"+itoa(i), "d"+itoa(i))
		r.RosterVersion = "v1" // proven
		a, err := c.Admit(b.ctx(), r)
		if err != nil || a.Outcome != admission.LevelFull && a.Outcome != admission.Admitted {
			t.Errorf("admission %d beside a frozen primary: %v, %v", i, a.Outcome, err)
		}
		if n := ended(); n > 2*i+8 {
			t.Errorf("%d admissions waited for %d batches of the frozen primary", i+1, n)
			break
		}
	}
	disperse() // before the primary can answer them
	if err := frozen.Resume(); err != nil {
		t.Fatal(err)
	}
}

// TestFrozenShardLeavesNoOthersGatesOld: what the gates know of a sale on the other
// primary is read again and again while many sales of the frozen one wait in vain.
func TestFrozenShardLeavesNoOthersGatesOld(t *testing.T) {
	b, cl := shards(t)
	g := NewGates(b.store, NewCommitter(b.store, CommitOptions{}))
	g.Watch(b.sale, []string{"A"})
	for i, n := 0, 0; n < 4; i++ {
		if sale := "there" + itoa(i); b.store.primary(b.ctx(), sale) == cl.Primaries[0].Addr() {
			g.Watch(sale, []string{"A"})
			n++
		}
	}
	if err := cl.Primaries[0].Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.ctx())
	var running sync.WaitGroup
	running.Go(func() { g.Run(ctx) })
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(time.Minute) // eight rounds at most, if it waited for the frozen ones
	var last *snapshot
	for seen := 0; seen < 12; {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("read %d times", seen)
		}
		if s := g.gate(b.sale).snap.Load(); s != last {
			last = s
			seen++
		}
	}
	if err := cl.Primaries[0].Resume(); err != nil {
		t.Fatal(err)
	}
	cancel()
	running.Wait()
}

// shards is a bench on a cluster of two primaries, with a sale on the second one.
func shards(t *testing.T) (*bench, *redisproc.Cluster) {
	t.Helper()
	b := bareBench(t, pair, Config{})
	cl, err := redisproc.StartCluster(b.ctx(), 2, true)
	if err != nil {
		t.Fatal(err)
	}
	redisproc.StopAfter(t, append(append([]*redisproc.Server{}, cl.Primaries...), cl.Replicas...)...)
	for _, s := range append(cl.Primaries, cl.Replicas...) {
		c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), MaxRetries: -1})
		// One primary of two is no majority: what is left would call the cluster down.
		if err := c.ConfigSet(b.ctx(), "cluster-node-timeout", "600000").Err(); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	if b.store, err = Open(Config{Addrs: cl.Addrs(), Cluster: true, Replicas: 1, WaitTimeout: 1500 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.store.Close() })
	b.installOn(cl.Primaries[1].Addr())
	return b, cl
}

// installOn installs a sale that the node at addr has.
func (b *bench) installOn(addr string) {
	b.t.Helper()
	for i := 0; b.store.primary(b.ctx(), b.sale) != addr; i++ {
		if b.sale = "here" + itoa(i); i > 1000 {
			b.t.Fatalf("%s has no sale", addr)
		}
	}
	b.k = saleKeys(b.sale)
	b.install(func(*admission.Plan) {})
}

// crowd asks for sales of the node at addr, each for another one, so that none is
// known to be silent. It returns when twice as many are asking as a process has
// connections; ended is how many have an answer since.
func (b *bench) crowd(c *Committer, addr string) (ended func() int, disperse func()) {
	const callers = 8
	ctx, cancel := context.WithCancel(b.ctx())
	var wg sync.WaitGroup
	var next, done atomic.Int64
	for range callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				r := b.req("x", "c1")
				if r.Sale = "there" + itoa(int(next.Add(1))); b.store.primary(ctx, r.Sale) != addr {
					continue
				}
				if _, err := c.Admit(ctx, r); err == nil {
					b.t.Error("a frozen primary answered")
				}
				done.Add(1)
			}
		})
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for waiting := 0; waiting < callers; <-tick.C {
		c.admits.mu.Lock()
		waiting = len(c.admits.lanes)
		c.admits.mu.Unlock()
	}
	before := done.Load()
	return func() int { return int(done.Load() - before) }, func() { cancel(); wg.Wait() }
}

package reaper_test

import (
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/reaper"
)

// TestCase_J09: thousands of holds expire while an operator fails Redis over on
// purpose. Sweeps that meet the handover fail and are repeated; in the end every
// seat is back, once.
func TestCase_J09_PlannedFailoverWhileHoldsExpire(t *testing.T) {
	t.Parallel()
	n := size(800)
	w := newTown(t, n)
	w.hold(n)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	w.follow()

	swept := make(chan reaper.SweepResult, 1)
	go func() {
		res, _ := w.reaper.Sweeper.Sweep(w.ctx(), townSale) // what fails is left to the next sweep
		swept <- res
	}()
	for { // in the middle of it
		st, err := w.redis.Status(w.ctx(), townSale, []string{"N1"})
		w.must(err)
		if st.Levels[0].Free > n/10 {
			break
		}
	}
	w.must(w.admin.Do(w.ctx(), "failover").Err())
	replica := goredis.NewClient(&goredis.Options{Addr: w.pair.Replica.Addr(), MaxRetries: -1})
	defer replica.Close()
	for {
		role, err := replica.Do(w.ctx(), "role").Slice()
		w.must(err)
		if role[0] == "master" {
			break
		}
	}
	first, owed := <-swept, 0
	w.must(w.store.OwedUndos(w.ctx(), townSale, func(string) error { owed++; return nil }))
	if t.Logf("the sweep that met the failover: %+v, %d undos are owed", first.Holds, owed); owed == 0 {
		t.Error("the sweep was over before the failover came")
	}
	w.must(redisproc.AwaitReplicas(w.ctx(), w.pair.Replica.Addr(), 1))
	w.open(w.pair.Replica.Addr(), 1)
	res, err := w.reaper.Sweeper.Sweep(w.ctx(), townSale)
	w.must(err)
	if res.Failed() > 0 || res.Left() > 0 || res.Replication != reaper.ReplicationFailover {
		t.Errorf("sweep %+v", res)
	}
	_, err = w.reaper.Differ.Diff(w.ctx(), townSale)
	w.must(err)
	st, err := w.redis.Status(w.ctx(), townSale, []string{"N1"})
	w.must(err)
	if st.Levels[0].Free != n || st.Used != 0 {
		t.Errorf("status %+v", st)
	}
	w.clean()
}

package reaper_test

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/reaper"
)

// successor kills the primary, promotes its replica and gives it a new one.
func (w *town) successor() {
	w.t.Helper()
	old, heir := w.pair.Primary, w.pair.Replica
	w.must(old.Kill())
	<-old.Done()
	w.promote(heir)
}

// promote makes a replica the primary and gives it a replica of its own.
func (w *town) promote(heir *redisproc.Server) {
	w.t.Helper()
	w.tell(heir, "replicaof", "no", "one")
	w.pair = &redisproc.Pair{Primary: heir, Replica: redisproc.Test(w.t, redisproc.Options{ReplicaOf: heir.Addr()})}
	w.must(redisproc.AwaitReplicas(w.ctx(), heir.Addr(), 1))
	w.open(heir.Addr(), 1)
}

func (w *town) tell(s *redisproc.Server, args ...any) {
	w.t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), MaxRetries: -1})
	defer c.Close()
	w.must(c.Do(w.ctx(), args...).Err())
}

// sees sweeps and fails the test unless the sweep finds this.
func (w *town) sees(want reaper.Replication) {
	w.t.Helper()
	s, err := w.reaper.Sweeper.Sweep(w.ctx(), townSale)
	w.must(err)
	c, err := w.store.Control(w.ctx(), townSale)
	w.must(err)
	if s.Replication != want || c.Frozen != (want == reaper.ReplicationLost) {
		w.t.Errorf("the sweep saw %s, frozen %v; want %s", s.Replication, c.Frozen, want)
	}
}

// TestTwoFailoversBetweenTwoSweeps plays them on real servers, with bookings
// before, between and after: the sale goes on.
func TestTwoFailoversBetweenTwoSweeps(t *testing.T) {
	t.Parallel()
	w := newTown(t, 20)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	w.acknowledged()
	for i := range 2 {
		w.admit("between", i)
		w.successor()
	}
	w.admit("after", 2)
	w.sees(reaper.ReplicationFailover)
	w.sees(reaper.ReplicationSame)
	w.admit("later", 3)
}

// TestOldSnapshotBehindAFailover: a primary was started again from a file of an
// hour ago, sold more than the hour did, and died; what its replica has is as long
// as the true history, and names a predecessor that nobody knows. Only the mark
// tells.
func TestOldSnapshotBehindAFailover(t *testing.T) {
	t.Parallel()
	w := newTown(t, 20)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	w.acknowledged()
	w.must(w.admin.Save(w.ctx()).Err())
	w.admit("lost", 1)
	w.acknowledged()
	w.must(w.pair.Primary.Kill())
	<-w.pair.Primary.Done()
	w.must(w.pair.Primary.Restart(w.ctx()))
	w.must(redisproc.AwaitReplicas(w.ctx(), w.pair.Primary.Addr(), 1))
	w.open(w.pair.Primary.Addr(), 1)
	for i := range 20 {
		w.admit("again", i)
	}
	w.successor()
	h, err := w.redis.Health(w.ctx(), townSale)
	w.must(err)
	if n, err := w.store.LastSweep(w.ctx(), townSale, reaper.NoteMark); err != nil || int(h.PreviousOffset) <= n.Counts["offset"] {
		t.Fatalf("the wrong history is the shorter one: %d, noted %+v, %v", h.PreviousOffset, n, err)
	}
	w.sees(reaper.ReplicationLost)
}

// TestDeposedPrimaryWakesUp: it was frozen, a replica took its place, and now it is
// beside its successor, with what it had or (started without its files) with
// nothing. Whoever still asks it freezes nothing. An empty one with a replica is
// the primary, and the loss one.
func TestDeposedPrimaryWakesUp(t *testing.T) {
	for name, empty := range map[string]bool{"with what it had": false, "empty": true} {
		t.Run(name, func(t *testing.T) { t.Parallel(); wakesUp(t, empty) })
	}
}

func wakesUp(t *testing.T, empty bool) {
	w := newTown(t, 20)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	w.acknowledged()
	old, heir := w.pair.Primary, w.pair.Replica
	w.must(old.Pause())
	w.promote(heir)
	w.sees(reaper.ReplicationFailover)
	w.acknowledged()
	w.must(old.Resume())
	if empty {
		w.tell(old, "flushall")
	}
	w.wait = 200 * time.Millisecond // nobody follows it
	w.open(old.Addr(), 1)
	s, err := w.reaper.Sweeper.Sweep(w.ctx(), townSale)
	if err == nil || s.Frozen || s.Replication != reaper.ReplicationDeposed {
		t.Errorf("the sweep saw %s, frozen %v, %v", s.Replication, s.Frozen, err)
	}
	w.wait = 5 * time.Second
	w.open(heir.Addr(), 1)
	w.sees(reaper.ReplicationSame)
	if empty {
		w.tell(heir, "flushall")
		w.sees(reaper.ReplicationLost)
	}
}

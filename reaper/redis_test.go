package reaper_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/reaper"
)

// size scales a suite by its one knob.
func size(n int) int {
	f, err := strconv.ParseFloat(os.Getenv("HOLDFAST_TEST_SIZE"), 64)
	if err != nil || f <= 0 {
		f = 1
	}
	return max(20, int(float64(n)*f))
}

// commandsPerHold bounds what Redis does for a hold that has ended, the commands
// within scripts included.
const commandsPerHold = 50

// TestMassExpiry rebuilds an empty Redis from the ledger and then sweeps every
// hold, by two reapers at once: each seat comes back once, and what Redis has to
// do for it does not grow with the number of holds.
func TestMassExpiry(t *testing.T) {
	t.Parallel()
	n := size(20_000)
	w := newTown(t, n)
	w.hold(n)
	began := time.Now()
	built, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	if built.Live != n || built.Roster != n || !built.Diff.Clean() {
		t.Fatalf("rebuild %+v", built)
	}
	t.Logf("rebuilt %d bookings and %d roster rows in %v", n, n, time.Since(began))
	began = time.Now()
	before := w.commands()
	var results [2]reaper.SweepResult
	var errs [2]error
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i], errs[i] = w.reaper.Sweeper.Sweep(w.ctx(), townSale) })
	}
	wg.Wait()
	took := time.Since(began)
	w.must(errors.Join(errs[:]...))
	each := (w.commands() - before) / n
	t.Logf("swept %d holds by two reapers in %v, %d commands for each: %+v and %+v", n, took, each, results[0].Holds, results[1].Holds)
	for _, r := range results {
		if r.Failed() > 0 || r.Left() > 0 {
			t.Errorf("sweep %+v", r)
		}
	}
	if each > commandsPerHold {
		t.Errorf("%d commands of Redis for each hold", each)
	}
	st, err := w.redis.Status(w.ctx(), townSale, []string{"N1"})
	w.must(err)
	if st.Levels[0].Free != n || st.Used != 0 {
		t.Errorf("status %+v", st)
	}
	w.clean()
}

// TestFailoverToAReplicaThatLags: the replica was promoted while the old primary
// went on selling for a moment, and the new one sells the same seats again. The
// diff puts every booking of the ledger back and ends those in their way.
func TestFailoverToAReplicaThatLags(t *testing.T) {
	t.Parallel()
	n := size(400)
	w := newTown(t, n)
	w.hold(n / 2)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	w.follow()
	replica := goredis.NewClient(&goredis.Options{Addr: w.pair.Replica.Addr(), MaxRetries: -1})
	defer replica.Close()
	w.must(replica.Do(w.ctx(), "replicaof", "no", "one").Err())
	w.open(w.pair.Primary.Addr(), 0) // nobody asks for acknowledgements: that is the fault
	for i := n / 2; i < n; i++ {
		t, err := ledger.Hold(w.admit("lost", i), "worker", time.Now())
		w.must(err)
		w.must(w.store.Apply(w.ctx(), t))
	}
	w.must(w.pair.Primary.Kill())
	w.open(w.pair.Replica.Addr(), 0)
	for i := n / 2; i < n*3/4; i++ { // other candidates get the same seats
		w.admit("again", i+n)
	}
	d, err := w.reaper.Differ.Diff(w.ctx(), townSale)
	w.must(err)
	if d.Replication != reaper.ReplicationFailover || d.Drift[reaper.KindLost] == nil || d.Drift[reaper.KindLost].Repaired != n-n/2 || d.Open() != 0 {
		t.Errorf("diff %+v", d)
	}
	c, err := w.store.Control(w.ctx(), townSale)
	w.must(err)
	if c.Frozen || c.Epoch != 2 {
		t.Errorf("control %+v", c)
	}
	w.clean()
}

// admit books a seat of Redis alone.
func (w *town) admit(kind string, i int) ledger.Booking {
	w.t.Helper()
	id := fmt.Sprintf("%s-%d", kind, i)
	a, err := w.redis.Admit(w.ctx(), admission.Request{Sale: townSale, BookingID: id, Candidate: fmt.Sprintf("c%d", i), Level: "N1", Gen: 2,
		RosterVersion: admission.ProvenRoster, AmountMinor: 100, Currency: "BDT", Count: 1})
	w.must(err)
	if a.Outcome != admission.Admitted {
		w.t.Fatalf("admit %s: %v", id, a.Outcome)
	}
	_, err = w.redis.Attach(w.ctx(), admission.Attachment{Sale: townSale, BookingID: id, Driver: a.Driver, PaymentID: "slow:p-" + id, URL: "https://pay.example/",
		HoldUntil: a.HoldUntil, StashFor: time.Minute})
	w.must(err)
	r, err := w.redis.Record(w.ctx(), townSale, id)
	w.must(err)
	return lifecycle.BookingFromRecord(townSale, r)
}

// follow waits until the replica has what the primary has.
func (w *town) follow() {
	w.t.Helper()
	_, err := w.redis.SetOpen(w.ctx(), townSale, 2, true) // acknowledged, and all before it
	w.must(err)
}

// TestLostAndRestoredRedis: emptied, and replaced by another server, both freeze
// the sale; a rebuild brings every booking back.
func TestLostAndRestoredRedis(t *testing.T) {
	t.Parallel()
	n := size(200)
	w := newTown(t, n)
	w.hold(n)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	for name, lose := range map[string]func(){
		"flushed": func() { w.must(w.admin.FlushAll(w.ctx()).Err()) },
		"another server": func() {
			other := redisproc.Test(t, redisproc.Options{})
			w.open(other.Addr(), 0)
		},
	} {
		lose()
		d, err := w.reaper.Differ.Diff(w.ctx(), townSale)
		w.must(err)
		if !d.Frozen || d.Replication != reaper.ReplicationLost {
			t.Errorf("%s: diff %+v", name, d)
		}
		before, err := w.store.Control(w.ctx(), townSale)
		w.must(err)
		res, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
		w.must(err)
		if res.Live != n || res.Gen != before.Gen {
			t.Errorf("%s: rebuild %+v", name, res)
		}
		w.clean()
	}
}

// TestScenario39_OldSnapshotThatLooksLikeAFailover: a primary that was started
// again from an RDB file keeps the file's replication id as its previous one, as
// a promoted replica does. What tells them apart is how far that history goes:
// an old file ends before what the replicas had acknowledged.
func TestScenario39_OldSnapshotThatLooksLikeAFailover(t *testing.T) {
	for name, c := range map[string]struct {
		savedLast bool
		want      reaper.Replication
	}{
		"old file":     {false, reaper.ReplicationLost},
		"file of then": {true, reaper.ReplicationFailover},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t, 20)
			_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
			w.must(err)
			if !c.savedLast {
				w.must(w.admin.Save(w.ctx()).Err())
			}
			w.admit("late", 1)
			w.acknowledged()
			if c.savedLast {
				w.must(w.admin.Save(w.ctx()).Err())
			}
			w.must(w.pair.Primary.Kill())
			<-w.pair.Primary.Done()
			w.must(w.pair.Primary.Restart(w.ctx()))
			w.must(redisproc.AwaitReplicas(w.ctx(), w.pair.Primary.Addr(), 1))
			w.open(w.pair.Primary.Addr(), 1)

			s, err := w.reaper.Sweeper.Sweep(w.ctx(), townSale)
			w.must(err)
			if s.Replication != c.want {
				t.Errorf("the sweep saw %s", s.Replication)
			}
			control, err := w.store.Control(w.ctx(), townSale)
			w.must(err)
			if control.Frozen != (c.want == reaper.ReplicationLost) {
				t.Errorf("frozen: %v", control.Frozen)
			}
		})
	}
}

// acknowledged sweeps until the replica has reported everything: replicas tell
// how far they are once a second.
func (w *town) acknowledged() {
	w.t.Helper()
	for deadline := time.After(time.Minute); ; {
		h, err := w.redis.Health(w.ctx(), townSale)
		w.must(err)
		if h.ConnectedReplicas == 1 && h.ReplicaLagBytes == 0 {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			w.t.Fatalf("the replica stays behind: %+v", h)
		}
	}
	_, err := w.reaper.Sweeper.Sweep(w.ctx(), townSale)
	w.must(err)
}

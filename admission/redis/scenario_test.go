package redis

import (
	"errors"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// TestScenario12_OldPrimaryInAPartition: the replica is promoted on the other
// side of a partition, and the old primary goes on answering. It has nobody to
// acknowledge, so it promises nothing and keeps nothing; the new one sells.
func TestScenario12_OldPrimaryInAPartition(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			b := ownBench(t)
			b.admit(b.req("b0", "c9"))
			replica := goredis.NewClient(&goredis.Options{Addr: b.pair.Replica.Addr(), MaxRetries: -1})
			defer replica.Close()
			if err := replica.Do(b.ctx(), "replicaof", "no", "one").Err(); err != nil {
				t.Fatal(err)
			}
			redisproc.Test(t, redisproc.Options{ReplicaOf: b.pair.Replica.Addr()})
			if err := redisproc.AwaitReplicas(b.ctx(), b.pair.Replica.Addr(), 1); err != nil {
				t.Fatal(err)
			}
			old, fresh := *b, *b
			old.store = bareBench(t, b.pair, Config{WaitTimeout: 50 * time.Millisecond}).store
			fresh.store = bareBench(t, b.pair, Config{Addrs: []string{b.pair.Replica.Addr()}}).store
			for i := range 5 {
				_, err := f.admit(&old, b.req("old"+itoa(i), "c"+itoa(i+1)))
				if !errors.Is(err, admission.ErrUnacknowledged) && !errors.Is(err, admission.ErrUnavailable) {
					t.Errorf("the old primary answered %d: %v", i, err)
				}
			}
			if st, err := old.store.Status(b.ctx(), b.sale, nil); err != nil || st.Used != 1 {
				t.Errorf("the old primary holds %d seats, %v", st.Used, err)
			}
			for i := range 4 { // the level's seats but the one that was sold before
				if a, err := f.admit(&fresh, b.req("new"+itoa(i), "c"+itoa(i+1))); err != nil || a.Outcome != admission.Admitted {
					t.Errorf("the new primary answered %d: %v, %v", i, a.Outcome, err)
				}
			}
			if a, err := f.admit(&fresh, b.req("new4", "c5")); err != nil || a.Outcome != admission.LevelFull {
				t.Errorf("a sixth seat of five: %v, %v", a.Outcome, err)
			}
		})
	}
}

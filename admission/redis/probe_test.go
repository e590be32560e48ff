package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// TestProbeWithoutWinners: where everything is sold no probe ever has a winner.
// Its refusals must open the sale again all the same, or all who hold a seat and
// ask for their payment's page would be turned away for good; but only once the
// replicas are there, too.
func TestProbeWithoutWinners(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			now := time.Now()
			b := ownBench(t)
			b.store = bareBench(t, b.pair, Config{WaitTimeout: 50 * time.Millisecond, Now: func() time.Time { return now }}).store
			probes := 0
			probe := func() {
				t.Helper()
				now = now.Add(probeEvery)
				probes++ // an id that was asked with twice, in a slow moment, is dead
				if a, err := f.admit(b, b.req("p"+itoa(probes), "nobody")); err != nil || a.Outcome != admission.UnknownCode {
					t.Fatalf("probe: %v, %v", a.Outcome, err)
				}
			}
			b.store.silent(b.sale)
			if _, err := f.admit(b, b.req("b1", "nobody")); !errors.Is(err, admission.ErrUnavailable) {
				t.Fatalf("a silent primary is asked: %v", err)
			}
			if err := b.pair.Replica.Pause(); err != nil {
				t.Fatal(err)
			}
			b.put("set", "{"+b.sale+"}:adm:proof", "1") // what the replica lacks
			probe()
			if b.store.mayAdmit(b.sale) {
				t.Error("open again without a replica")
			}
			if err := b.pair.Replica.Resume(); err != nil {
				t.Fatal(err)
			}
			if err := redisproc.AwaitReplicas(b.ctx(), b.pair.Primary.Addr(), 1); err != nil {
				t.Fatal(err)
			}
			b.store.cfg.WaitTimeout = 1500 * time.Millisecond
			probe()
			if !b.store.mayAdmit(b.sale) {
				t.Error("refused for good")
			}
		})
	}
}

package redis

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// BenchmarkAdmit compares acknowledged admissions of 256 callers: each by
// itself, and in groups. Run it with -cpu 1 -run '^$' and compare the two within
// one run; absolute figures are the machine's.
func BenchmarkAdmit(b *testing.B) {
	p, err := redisproc.StartPair(b.Context(), redisproc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	redisproc.StopAfter(b, p.Primary, p.Replica)
	store, err := Open(Config{Addrs: []string{p.Primary.Addr()}, Replicas: 1, PoolSize: 300})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	for name, ad := range map[string]admission.Admitter{"naive": store, "group": NewCommitter(store, CommitOptions{})} {
		b.Run(name, func(b *testing.B) { benchmarkAdmit(b, store, ad) })
	}
}

var benchRun atomic.Int64

func benchmarkAdmit(b *testing.B, store *Store, ad admission.Admitter) {
	run := itoa(int(benchRun.Add(1)))
	sale := "bench" + run
	plan := (&bench{sale: sale}).plan()
	plan.Levels = []admission.LevelPlan{{Name: "A", Kind: "c", Cap: b.N + 1, Next: b.N + 2}}
	plan.TotalCap = b.N + 1
	if err := store.Install(b.Context(), plan, nil); err != nil {
		b.Fatal(err)
	}
	var n atomic.Int64
	b.SetParallelism(256)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := itoa(int(n.Add(1)))
			r := admission.Request{Sale: sale, BookingID: "b" + id, Candidate: "c" + id, Level: "A", Gen: gen, Key: idk1, InputHash: inh1,
				RosterVersion: "v1", EmailHash: eh1, AmountMinor: 2500, Currency: "EUR", Count: 1}
			a, err := ad.Admit(context.Background(), r)
			if err != nil || a.Outcome != admission.Admitted {
				b.Errorf("%v, %v", a.Outcome, err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "admissions/s")
}

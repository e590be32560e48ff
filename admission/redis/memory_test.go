package redis

import (
	"context"
	"fmt"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// BenchmarkMemory says how many bytes of the primary a roster row, a free seat
// and an admitted candidate take. The server has no replica: a backlog would be
// counted with them. Run it with -benchtime 1x.
func BenchmarkMemory(b *testing.B) {
	for _, size := range []struct{ candidates, seats int }{{40_000, 20_700}, {1_000_000, 200_000}} {
		b.Run(fmt.Sprintf("candidates=%d", size.candidates), func(b *testing.B) {
			for range b.N {
				benchmarkMemory(b, size.candidates, size.seats)
			}
		})
	}
}

func benchmarkMemory(b *testing.B, candidates, seats int) {
	server := redisproc.Test(b, redisproc.Options{})
	store, err := Open(Config{Addrs: []string{server.Addr()}, AllowUnacknowledged: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	admin := goredis.NewClient(&goredis.Options{Addr: server.Addr()})
	defer admin.Close()
	ctx := b.Context()
	used := func() float64 {
		info, err := admin.Info(ctx, "memory").Result()
		if err != nil {
			b.Fatal(err)
		}
		_, rest, _ := strings.Cut(info, "used_memory:")
		var n float64
		if _, err := fmt.Sscanf(rest, "%f", &n); err != nil {
			b.Fatal(err)
		}
		return n
	}

	empty := used()
	plan := (&bench{sale: "memory"}).plan()
	plan.TotalCap = seats
	plan.Levels = []admission.LevelPlan{{Name: "A", Kind: "c", Cap: seats, Next: seats + 1}}
	if err := store.Install(ctx, plan, nil); err != nil {
		b.Fatal(err)
	}
	installed := used()
	const page = 10_000
	for from := 0; from < candidates; from += page {
		rows := make([]admission.RosterEntry, min(page, candidates-from))
		for i := range rows {
			r := crowdRequest("memory", from+i)
			rows[i] = admission.RosterEntry{Candidate: r.Candidate, EmailHash: r.EmailHash}
		}
		if err := store.PutRoster(ctx, "memory", rows); err != nil {
			b.Fatal(err)
		}
	}
	listed := used()
	fill(ctx, b, store, seats)
	b.ReportMetric((installed-empty)/float64(seats), "B/free-seat")
	b.ReportMetric((listed-installed)/float64(candidates), "B/roster-row")
	b.ReportMetric((used()-listed)/float64(seats), "B/admitted-above-free-seat")
	b.ReportMetric((used()-empty)/(1<<20), "MB/sale-sold-out")
}

// fill admits until the sale is full.
func fill(ctx context.Context, b *testing.B, store *Store, seats int) {
	b.Helper()
	for from := 0; from < seats; from += 128 {
		reqs := make([]*admission.Request, min(128, seats-from))
		for i := range reqs {
			reqs[i] = crowdRequest("memory", from+i)
		}
		store.commit(ctx, reqs, func(_ int, a admission.Answer, err error) bool {
			if err != nil || a.Outcome != admission.Admitted {
				b.Errorf("%v, %v", a.Outcome, err)
			}
			return true
		})
	}
}

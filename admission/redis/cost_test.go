package redis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// BenchmarkCost says what one admission costs the primary: microseconds in the
// script (INFO commandstats) and of processor time in all, both also as multiples
// of a bare HSET of one fresh field, 64 of them in a write, in the same run; and
// the bytes that go to the replica.
func BenchmarkCost(b *testing.B) {
	p, err := redisproc.StartPair(b.Context(), redisproc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	redisproc.StopAfter(b, p.Primary, p.Replica)
	store, err := Open(Config{Addrs: []string{p.Primary.Addr()}, Replicas: 1, WaitTimeout: 5 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	admin := goredis.NewClient(&goredis.Options{Addr: p.Primary.Addr()})
	b.Cleanup(func() { admin.Close() })
	for _, size := range []int{1, 32, 128} {
		b.Run(fmt.Sprintf("admitted/batch=%d", size), func(b *testing.B) { benchmarkCost(b, store, admin, size, false) })
		b.Run(fmt.Sprintf("full/batch=%d", size), func(b *testing.B) { benchmarkCost(b, store, admin, size, true) })
	}
}

func benchmarkCost(b *testing.B, store *Store, admin *goredis.Client, size int, full bool) {
	run := itoa(int(benchRun.Add(1)))
	sale := "cost" + run
	plan := (&bench{sale: sale}).plan()
	plan.TotalCap = 2*b.N*size + 1
	plan.Levels = []admission.LevelPlan{{Name: "A", Kind: "c", Cap: plan.TotalCap, Next: plan.TotalCap + 1}}
	want := admission.Admitted
	if full {
		plan.TotalCap, want = 0, admission.SoldOut
	}
	if err := store.Install(b.Context(), plan, nil); err != nil {
		b.Fatal(err)
	}
	sent := 0
	batch := func() {
		reqs := make([]*admission.Request, size)
		for i := range reqs {
			reqs[i] = crowdRequest(sale, sent)
			sent++
		}
		store.commit(b.Context(), reqs, func(_ int, a admission.Answer, err error) bool {
			if err != nil || a.Outcome != want {
				b.Errorf("%v, %v", a.Outcome, err)
			}
			return true
		})
	}
	script, hset := meter{b: b, admin: admin, command: "evalsha"}, meter{b: b, admin: admin, command: "hset"}
	for range b.N { // the meter's own questions cost the server time, so it has a turn of its own
		script.begin()
		batch()
		script.end(size)
	}
	bytes, cpu := replicated(b, admin), serverCPU(b, admin)
	b.ResetTimer()
	for range b.N {
		batch()
	}
	b.StopTimer()
	each := (serverCPU(b, admin) - cpu) / float64(b.N*size)
	b.ReportMetric(float64(replicated(b, admin)-bytes)/float64(b.N*size), "replication-B/request")
	for range 200 {
		hset.begin()
		bareHSets(b, admin, 200)
		hset.end(200)
	}
	cpu = serverCPU(b, admin)
	for range 200 {
		bareHSets(b, admin, 64)
	}
	bare := (serverCPU(b, admin) - cpu) / (200 * 64)
	b.ReportMetric(script.median(), "script-µs/request")
	b.ReportMetric(script.median()/hset.median(), "script-HSETs/request")
	b.ReportMetric(each, "cpu-µs/request")
	b.ReportMetric(each/bare, "cpu-HSETs/request")
}

// serverCPU are the microseconds of processor time that the server has used, in
// all its work: reading, running, replicating, answering.
func serverCPU(b *testing.B, admin *goredis.Client) float64 {
	b.Helper()
	info, err := admin.Info(context.Background(), "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	sum := 0.0
	for _, name := range []string{"used_cpu_user:", "used_cpu_sys:"} {
		_, rest, _ := strings.Cut(info, name)
		var seconds float64
		if _, err := fmt.Sscanf(rest, "%f", &seconds); err != nil {
			b.Fatal(err)
		}
		sum += seconds * 1e6
	}
	return sum
}

// meter reads what a command costs the server's thread, batch by batch. The
// median is not moved by batches in which the machine took the thread away.
type meter struct {
	b       *testing.B
	admin   *goredis.Client
	command string
	from    float64
	list    []float64
}

func (m *meter) begin() { m.from = micros(m.b, m.admin, m.command) }
func (m *meter) end(n int) {
	m.list = append(m.list, (micros(m.b, m.admin, m.command)-m.from)/float64(n))
}

func (m *meter) median() float64 {
	slices.Sort(m.list)
	return m.list[len(m.list)/2]
}

// crowdRequest is what the i-th candidate of a crowd asks, with ids as long as
// the real ones.
func crowdRequest(sale string, i int) *admission.Request {
	return &admission.Request{Sale: sale, BookingID: fmt.Sprintf("B%025d", i), Candidate: fmt.Sprintf("%043x", i), Level: "A", Gen: gen,
		Key: fmt.Sprintf("%022x", i+1), InputHash: fmt.Sprintf("%022x", i+2), RosterVersion: "v1", EmailHash: fmt.Sprintf("%016x", i),
		AmountMinor: 2500, Currency: "EUR", Count: 1}
}

// bareHSets sets n fresh fields, the yardstick.
func bareHSets(b *testing.B, admin *goredis.Client, n int) {
	b.Helper()
	from := int(benchRun.Add(int64(n)))
	_, err := admin.Pipelined(context.Background(), func(p goredis.Pipeliner) error {
		for i := range n {
			p.HSet(context.Background(), "bare", fmt.Sprintf("%032x", from+i), "B0000000000000000000000001")
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// micros are the microseconds that the server spent in a command so far.
func micros(b *testing.B, admin *goredis.Client, command string) float64 {
	b.Helper()
	info, err := admin.Info(context.Background(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, found := strings.Cut(info, "cmdstat_"+command+":")
	if !found {
		return 0
	}
	var calls, usec float64
	if _, err := fmt.Sscanf(rest, "calls=%f,usec=%f", &calls, &usec); err != nil {
		b.Fatal(err)
	}
	return usec
}

func replicated(b *testing.B, admin *goredis.Client) (offset int64) {
	b.Helper()
	info, err := admin.Info(context.Background(), "replication").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "master_repl_offset:")
	if _, err := fmt.Sscanf(rest, "%d", &offset); err != nil {
		b.Fatal(err)
	}
	return offset
}

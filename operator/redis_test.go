package operator_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/operator"
)

// TestOnRealRedis runs the acts on the real scripts, with a replica that has to
// acknowledge: what the fakes of the other tests stand for.
func TestOnRealRedis(t *testing.T) {
	b := newBench(t)
	pair := redisproc.TestPair(t)
	redis, err := admredis.Open(admredis.Config{Addrs: []string{pair.Primary.Addr()}, Replicas: 1,
		WaitTimeout: 1500 * time.Millisecond}) // a busy machine is no missing replica
	b.must(err)
	t.Cleanup(func() { b.must(redis.Close()) })
	b.Desk.Redis, b.Desk.Server = redis, redis
	plan := b.plan()
	status := func() admission.Status {
		t.Helper()
		st, err := redis.Status(b.ctx, exam, b.control().Plan.LevelNames())
		b.must(err)
		return st
	}

	b.must(b.apply(plan))
	b.must(b.apply(plan))
	b.must(b.load(people(3000)...))
	b.must(b.apply(restructured(b))) // another generation, with the roster
	if st := status(); st.Gen != 2 || st.RosterSize != 3000 || st.RosterVersion != b.control().RosterVersion || st.TotalCap != 7 {
		t.Fatalf("Redis %+v", st)
	}
	till := plan.ClosesAt.AddDate(50, 0, 0) // the server's clock is today's, not this test's
	b.must(b.SetTimes(b.ctx, exam, plan.OpensAt.AddDate(-5, 0, 0), till, ann))
	b.must(b.Open(b.ctx, exam, ann))
	b.setCap("N2", 2504)
	b.setCap("N2", 3)
	b.setCap("N2", 6)
	if st := status(); !st.Open || st.Levels[0].Free != 6 || st.Levels[0].Cap != 6 || st.TotalCap != 9 || b.public[exam] != st.Version {
		t.Fatalf("Redis %+v, the public was told of %d", st, b.public[exam])
	}
	var tokens []string
	for n := range 6 {
		a, err := redis.Admit(b.ctx, admission.Request{Sale: exam, BookingID: []string{"a", "b", "c", "d", "e", "f"}[n], Candidate: b.hash(n + 1), Level: "N2", Gen: 2, InputHash: "in", Currency: "BDT", Count: 1})
		b.must(err)
		tokens = append(tokens, a.Tokens...)
	}
	if want := []string{"N2-1", "N2-2", "N2-3", "N2-2505", "N2-2506", "N2-2507"}; !slices.Equal(tokens, want) {
		t.Errorf("seats %v, want %v", tokens, want)
	}
	_, err = b.SetCap(b.ctx, exam, "N2", 5, ann)
	if r := refused(t, err, operator.CodeBelowUsed); r.Figures["used"] != 6 {
		t.Errorf("figures %v", r.Figures)
	}
	holds := 0
	b.must(b.Holds(b.ctx, exam, func(operator.Hold) error { holds++; return nil }))
	if v, err := b.View(b.ctx, exam); err != nil || holds != 6 || v.Levels[0].Held != 6 || v.Levels[0].Pending != 6 {
		t.Errorf("%d holds, view %+v, %v", holds, v, err)
	}
	b.must(b.Close(b.ctx, exam, ann))
	if st := status(); st.Open || !st.ClosesAt.Equal(till) {
		t.Errorf("Redis %+v", st)
	}
	if _, err := redis.Record(b.ctx, exam, "none"); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

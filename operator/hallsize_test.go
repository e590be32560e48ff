package operator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// bigHall is a level of so many seats in rows of thirty; the names begin at first.
func bigHall(plan sale.Sale, first, n int) sale.Sale {
	l := sale.Level{Name: "Hall", Kind: sale.KindSeated, Cap: n}
	for i := range n {
		l.Seats = append(l.Seats, sale.Seat{Name: fmt.Sprintf("R%d-%d", (first+i)/30, (first+i)%30+1), Score: i + 1, Run: i/30 + 1})
	}
	plan.Levels, plan.TotalCap = []sale.Level{l}, n
	return plan
}

// A hall of 20,700 seats is applied, and changed while it sells, in seconds, on
// the real scripts with a replica that has to acknowledge each page. The bound is
// a multiple of what it takes: what takes minutes is work that grows with the
// square of the seats.
func TestTwentyThousandSeatsAreAppliedAndEditedInSeconds(t *testing.T) {
	const seats, moved, bound = 20_700, 700, 60 * time.Second
	b := newBench(t)
	pair := redisproc.TestPair(t)
	redis, err := admredis.Open(admredis.Config{Addrs: []string{pair.Primary.Addr()}, Replicas: 1, WaitTimeout: 5 * time.Second})
	b.must(err)
	t.Cleanup(func() { b.must(redis.Close()) })
	b.Desk.Redis, b.Desk.Server = redis, redis
	plan := b.plan()
	plan.OpensAt, plan.ClosesAt = plan.OpensAt.AddDate(-5, 0, 0), plan.ClosesAt.AddDate(50, 0, 0) // the server's clock is today's
	timed := func(what string, plan sale.Sale) error {
		t.Helper()
		start := time.Now()
		err := b.apply(plan)
		took := time.Since(start)
		t.Logf("%s: %v", what, took)
		if took > bound {
			t.Errorf("%s took %v", what, took)
		}
		return err
	}
	b.must(timed("first apply", bigHall(plan, 0, seats)))
	b.must(timed("the same again", bigHall(plan, 0, seats)))
	b.must(redis.PutRoster(b.ctx, exam, []admission.RosterEntry{{Candidate: "c1", EmailHash: lifecycletest.Email}}))
	_, err = redis.SetOpen(b.ctx, exam, b.control().Gen, true)
	b.must(err)
	a, err := redis.Hold(b.ctx, admission.HoldRequest{Sale: exam, HoldID: "h", Candidate: "c1", Level: "Hall", Gen: b.control().Gen, EmailHash: lifecycletest.Email,
		AmountMinor: 1, Currency: "BDT", Seats: []string{"R0-2"}, For: time.Hour, Max: time.Hour})
	b.must(err)
	if a.Outcome != admission.Admitted {
		t.Fatal(a.Outcome)
	}
	r := refused(t, timed("an edit that drops a held seat", bigHall(plan, moved, seats)), operator.CodeUnsafeChange)
	if len(r.Reasons) != 1 || r.Reasons[0] != "seat R0-2 is held or sold: keep it in the plan" {
		t.Errorf("%q", r.Reasons)
	}
	_, err = redis.Undo(b.ctx, admission.Undo{Sale: exam, BookingID: "h", Level: "Hall", Mode: admission.UndoQuick, Driver: 1})
	b.must(err)
	b.must(timed("an edit of 700 seats", bigHall(plan, moved, seats)))
	st, err := redis.Status(b.ctx, exam, []string{"Hall"})
	if err != nil || st.Levels[0].Free != seats || st.Levels[0].Cap != seats || st.Used != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

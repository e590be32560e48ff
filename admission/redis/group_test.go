package redis

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

// inOneBatch runs the calls as one batch.
func inOneBatch[Q, A any](t *testing.T, g *group[Q, A], sale string, asks []Q) (answers []A, errs []error) {
	t.Helper()
	calls := make([]*call[Q, A], len(asks))
	for i, q := range asks {
		calls[i] = &call[Q, A]{ask: q, done: make(chan struct{}, 1)}
		calls[i].state.Store(sent)
	}
	g.run(t.Context(), sale, calls)
	for _, c := range calls {
		<-c.done
		answers, errs = append(answers, c.answer), append(errs, c.err)
	}
	return answers, errs
}

// The vector forms of attach and settle are the single forms in sequence: same
// answers, same keys.
func TestVectorsEqualSinglesInSequence(t *testing.T) {
	one, many := newBench(t), newBench(t)
	expiry := time.Now().Add(time.Hour)
	for _, b := range []*bench{one, many} {
		for _, c := range []string{"1", "2", "3", "4"} {
			b.admit(b.req("b"+c, "c"+c))
		}
		b.soft("s1", "c5", "N", expiry, "N1")
		b.attach("b4", 1, "old")
	}
	group := NewCommitter(many.store, CommitOptions{})
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
	attach := func(b *bench, bid string, driver int, pid string) admission.Attachment {
		return admission.Attachment{Sale: b.sale, BookingID: bid, Driver: driver, PaymentID: pid, URL: "https://pay.example/" + pid, HoldUntil: until, StashFor: time.Hour}
	}
	list := []struct {
		bid, pid string
		driver   int
	}{{"b1", "p1", 1}, {"b2", "p2", 2}, {"b1", "p9", 1}, {"b1", "p1", 1}, {"none", "p3", 1}, {"s1", "p4", 1}, {"b4", "p5", 1}, {"b3", "p6", 1}}
	var want []admission.AttachAnswer
	var asks []admission.Attachment
	for _, a := range list {
		got, err := one.store.Attach(one.ctx(), attach(one, a.bid, a.driver, a.pid))
		if err != nil {
			t.Fatal(err)
		}
		want, asks = append(want, got), append(asks, attach(many, a.bid, a.driver, a.pid))
	}
	got, errs := inOneBatch(t, group.attaches, many.sale, asks)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	timeless := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "HoldUntil" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, timeless); diff != "" {
		t.Errorf("attach (-single +vector):\n%s", diff)
	}
	if diff := cmp.Diff(one.dump(), many.dump()); diff != "" {
		t.Errorf("after attach (-single +vector):\n%s", diff)
	}

	settle := []settlement{{"b1", true}, {"b1", true}, {"b9", true}, {"b", false}, {"b2", false}, {"s1", true}, {"b3", true}, {"b4", true}}
	var wentOne []bool
	for _, q := range settle {
		went, err := one.store.Settle(one.ctx(), one.sale, q.bookingID, "c", q.paid)
		if err != nil {
			t.Fatal(err)
		}
		wentOne = append(wentOne, went)
	}
	went, errs := inOneBatch(t, group.settles, many.sale, settle)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wentOne, went); diff != "" {
		t.Errorf("settle (-single +vector):\n%s", diff)
	}
	if diff := cmp.Diff(one.dump(), many.dump()); diff != "" {
		t.Errorf("after settle (-single +vector):\n%s", diff)
	}
}

// A broken record spoils its own attach only.
func TestOneBrokenRecordSpoilsNoOther(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	b.put("hset", b.k.bk(), "bad", "nonsense")
	group := NewCommitter(b.store, CommitOptions{})
	got, errs := inOneBatch(t, group.attaches, b.sale, []admission.Attachment{b.attachment("bad", 1, "p0"), b.attachment("b1", 1, "p1")})
	if errs[0] == nil || errs[1] != nil || got[1].Outcome != admission.Attached {
		t.Errorf("%+v, %v", got, errs)
	}
}

func TestVectorsBearALostReply(t *testing.T) {
	b, n := netBench(t)
	b.admit(b.req("b1", "c1"))
	group := NewCommitter(b.store, CommitOptions{})
	lose := func() {
		n.obey(func(c string, nth int) fate {
			if (c == "evalsha" || c == "hmget") && nth == 1 {
				return loseReply
			}
			return pass
		})
	}
	lose()
	if a, err := group.Attach(b.ctx(), b.attachment("b1", 1, "p1")); err != nil || a.Outcome != admission.Attached || a.PaymentID != "p1" {
		t.Errorf("attach: %+v, %v", a, err)
	}
	lose()
	if bid, err := group.CandidateBooking(b.ctx(), b.sale, "c1"); err != nil || bid != "b1" {
		t.Errorf("candidate's booking: %q, %v", bid, err)
	}
	lose()
	if _, err := group.Settle(b.ctx(), b.sale, "b1", "c1", true); err != nil {
		t.Errorf("settle: %v", err)
	}
	if rec, err := b.store.Record(b.ctx(), b.sale, "b1"); err != nil || rec.Stage != admission.StagePaid {
		t.Errorf("%+v, %v", rec, err)
	}
}

// Many callers at once get each their own answer, from fewer commands than there
// are callers.
func TestManyCallersShareCommands(t *testing.T) {
	b, n := netBench(t)
	for _, c := range []string{"1", "2", "3"} {
		b.admit(b.req("b"+c, "c"+c))
	}
	group := NewCommitter(b.store, CommitOptions{InFlight: 1})
	n.obey(func(string, int) fate { return pass })
	start := make(chan struct{})
	var wg sync.WaitGroup
	const callers = 200
	for i := range callers {
		wg.Go(func() {
			<-start
			c := itoa(1 + i%6)
			bid, err := group.CandidateBooking(b.ctx(), b.sale, "c"+c)
			if i%6 < 3 && (err != nil || bid != "b"+c) || i%6 >= 3 && !errors.Is(err, admission.ErrNotFound) {
				t.Errorf("c%s: %q, %v", c, bid, err)
			}
		})
	}
	close(start)
	wg.Wait()
	if used := count(n, "hmget"); used >= callers {
		t.Errorf("%d commands for %d callers", used, callers)
	}
}

func TestInvalidCallsNeverReachABatch(t *testing.T) {
	b := newBench(t)
	group := NewCommitter(b.store, CommitOptions{})
	bad := b.attachment("b1", 1, "a|b")
	if _, err := group.Attach(b.ctx(), bad); !errors.Is(err, admission.ErrInvalid) {
		t.Errorf("attach: %v", err)
	}
	if _, err := group.Settle(b.ctx(), b.sale, "b|1", "c1", false); !errors.Is(err, admission.ErrInvalid) {
		t.Errorf("settle: %v", err)
	}
	if _, err := group.CandidateBooking(b.ctx(), b.sale, "c 1"); !errors.Is(err, admission.ErrInvalid) {
		t.Errorf("candidate's booking: %v", err)
	}
	ctx, cancel := context.WithCancel(b.ctx())
	cancel()
	if _, err := group.CandidateBooking(ctx, b.sale, "c1"); !errors.Is(err, admission.ErrUnavailable) {
		t.Errorf("a caller who has gone: %v", err)
	}
}

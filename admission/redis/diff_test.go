package redis

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/admission"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestVectorEqualsSingleInSequence: the vector form is the single form applied
// to each request in turn. Two sales in the same state get the same requests,
// one each way; answers and every key must be the same.
func TestVectorEqualsSingleInSequence(t *testing.T) {
	one, many := newBench(t), newBench(t)
	rapid.Check(t, func(rt *rapid.T) {
		reset(t, one, many)
		corrupt := prepare(rt, one, many)
		for batch := range rapid.IntRange(1, 3).Draw(rt, "batches") {
			reqs := drawRequests(rt, fmt.Sprintf("b%d-", batch))
			var want, got []admission.Answer
			sent := make([]*admission.Request, len(reqs))
			for i, r := range reqs {
				r.Sale = one.sale
				var a admission.Answer
				err := one.store.onWire(one.ctx(), one.k.cfg(), func(w *wire) (err error) {
					a, err = one.store.admitOne(w, &r)
					return err
				})
				if err != nil {
					rt.Fatal(err)
				}
				want = append(want, timelessAnswer(a))
				m := reqs[i]
				m.Sale = many.sale
				sent[i] = &m
			}
			var answers []admission.Answer
			err := many.store.onWire(many.ctx(), many.k.cfg(), func(w *wire) (err error) {
				answers, err = many.store.admitMany(w, sent)
				return err
			})
			if err != nil {
				rt.Fatal(err)
			}
			for _, a := range answers {
				got = append(got, timelessAnswer(a))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("answers (-single +vector):\n%s\nrequests %+v", diff, reqs)
			}
			if diff := cmp.Diff(one.dump(), many.dump()); diff != "" {
				rt.Fatalf("keys (-single +vector):\n%s\nrequests %+v", diff, reqs)
			}
		}
		if !corrupt {
			one.conserved()
			many.conserved()
		}
	})
}

// timelessAnswer drops what depends on the millisecond.
func timelessAnswer(a admission.Answer) admission.Answer {
	a.AdmittedAt, a.HoldUntil, a.OpensAt = time.Time{}, time.Time{}, time.Time{}
	if a.Record != nil {
		r := *a.Record
		r.AdmittedAt, r.HoldUntil, r.DriverAt = time.Time{}, time.Time{}, time.Time{}
		a.Record = &r
	}
	return a
}

func reset(t *testing.T, benches ...*bench) {
	for _, b := range benches {
		names, err := b.admin.Keys(b.ctx(), string(b.k)+"*").Result()
		if err != nil {
			t.Fatal(err)
		}
		if err := b.admin.Del(b.ctx(), names...).Err(); err != nil {
			t.Fatal(err)
		}
		b.install(func(*admission.Plan) {})
		b.roster("c1", "c2", "c3", "c4")
		b.put("hset", b.k.roster(), "c5", eh1+",A,")
	}
}

// prepare brings both sales into the same random state.
func prepare(rt *rapid.T, benches ...*bench) (corrupt bool) {
	past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	draw := func(name string) bool { return rapid.Bool().Draw(rt, name) }
	deadline := map[bool]time.Time{true: past, false: future}
	if draw("soft hold in N") {
		at, pair := deadline[draw("expired")], draw("pair")
		for _, b := range benches {
			seats := []string{"N2"}
			if pair {
				seats = []string{"N2", "N3"}
			}
			b.soft("s1", "c1", "N", at, seats...)
		}
	}
	if draw("another soft hold") {
		at := deadline[draw("the other expired")]
		for _, b := range benches {
			b.soft("s2", "c2", "N", at, "N1")
		}
	}
	total := rapid.SampledFrom([]string{"9", "5", "4"}).Draw(rt, "total cap")
	dead, last, closed := draw("dead"), draw("last"), draw("closed") && draw("really")
	gap := rapid.SampledFrom([]string{"", "", "A-1", "A-2", "A-4"}).Draw(rt, "token withdrawn")
	corrupt = draw("corrupt") && draw("truly")
	broken := map[bool]string{true: "cap:B", false: "cap:N"}[draw("of B")]
	for _, b := range benches {
		b.put("hset", b.k.cfg(), "cap", total)
		if dead {
			b.put("zadd", b.k.dead(), 1, "b0-1")
		}
		if last {
			b.put("hset", b.k.last(), "c3", "old|key-1|input-1")
		}
		if gap != "" {
			b.put("zrem", b.k.free("A"), gap)
			b.put("hset", b.k.cfg(), "cap:A", "4")
		}
		if closed {
			b.put("hset", b.k.cfg(), "open", "0")
		}
		if corrupt {
			b.put("hset", b.k.cfg(), broken, "7")
		}
	}
	return corrupt
}

func drawRequests(rt *rapid.T, prefix string) []admission.Request {
	n := rapid.IntRange(2, 12).Draw(rt, "requests")
	reqs := make([]admission.Request, n)
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(rt, name) }
	for i := range reqs {
		r := admission.Request{
			BookingID: prefix + itoa(rapid.IntRange(0, 7).Draw(rt, "bid")), Candidate: pick("candidate", "c1", "c2", "c3", "c4", "c5", "c6"),
			Level: pick("level", "A", "A", "A", "B", "N", "Z"), Gen: gen, Key: pick("key", "key-1", "key-2", ""),
			InputHash: pick("input", "input-1", "input-1", "input-2"), RosterVersion: pick("version", "v1", "", "v0", "*"),
			EmailHash: pick("e-mail", eh1, eh1, eh2, ""), AmountMinor: 100, Currency: "EUR", Count: rapid.IntRange(0, 3).Draw(rt, "count"),
		}
		if r.Candidate != "c1" { // a bid is one candidate's
			r.BookingID += r.Candidate
		}
		if r.Level == "N" || rapid.IntRange(0, 20).Draw(rt, "names where none belong") == 0 {
			r.Seats = rapid.SliceOfN(rapid.SampledFrom([]string{"N1", "N2", "N3", "N4", "N5"}), 0, 3).Draw(rt, "seats")
		}
		switch rapid.IntRange(0, 30).Draw(rt, "nobody") {
		case 0:
			r.BookingID = ""
		case 1:
			r.Candidate = ""
		}
		if rapid.IntRange(0, 15).Draw(rt, "old generation") == 0 {
			r.Gen = gen - 1
		}
		reqs[i] = r
	}
	return reqs
}

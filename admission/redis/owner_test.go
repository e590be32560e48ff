package redis

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis/resp"
)

// TestServerReadsPacked: the server's own MessagePack reads what the vector form
// sends, at every length where the encoding changes.
func TestServerReadsPacked(t *testing.T) {
	b := newBench(t)
	var want []string
	var p resp.Packed
	for _, n := range []int{0, 1, 31, 32, 255, 256, 70_000} {
		want = append(want, strings.Repeat("x|", n)[:n])
	}
	numbers := []int{0, 127, 128, 1<<32 - 1}
	p.Reset(0)
	for _, s := range want {
		p.String(s)
	}
	for _, n := range numbers {
		p.Int(n)
		want = append(want, strconv.Itoa(n))
	}
	p.Joined('|', "a", "", "c")
	want = append(want, "a||c")
	var out resp.Writer
	out.Packed(&p)
	_, sent, _ := strings.Cut(string(out.Bytes()), "\r\n")
	got, err := b.admin.Eval(b.ctx(), "local t = {cmsgpack.unpack(ARGV[1])} for i, v in ipairs(t) do t[i] = type(v) == 'number' and string.format('%.0f', v) or v end return t",
		nil, strings.TrimSuffix(sent, "\r\n")).StringSlice()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-sent +read):\n%.300s", err, diff)
	}
}

// TestOwnersOfScatteredTokens: one batch takes tokens with gaps between their
// numbers, for ids of several lengths; each has its owner, and each goes back.
func TestOwnersOfScatteredTokens(t *testing.T) {
	b := newBench(t)
	b.put("zrem", b.k.free("A"), "A-2", "A-3")
	b.put("hset", b.k.cfg(), "cap:A", 3)
	b.put("zadd", b.k.free("A"), 1000, "A-1000")
	b.put("hincrby", b.k.cfg(), "cap:A", 1)
	b.put("hset", b.k.cfg(), "cap", 9)
	var reqs []*admission.Request
	want := map[string]string{}
	for i, token := range []string{"A-1", "A-4", "A-5", "A-1000"} {
		r := b.req(strings.Repeat("b", 36+i)+strconv.Itoa(i), "c"+strconv.Itoa(i+1))
		reqs, want[token] = append(reqs, &r), r.BookingID
	}
	b.store.commit(b.ctx(), reqs, func(i int, a admission.Answer, err error) bool {
		if err != nil || a.Outcome != admission.Admitted || want[a.Tokens[0]] != reqs[i].BookingID {
			t.Errorf("%s: %+v, %v", reqs[i].BookingID, a, err)
		}
		return true
	})
	if diff := cmp.Diff(want, b.owners()); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	b.conserved()
	for _, r := range reqs {
		b.undo(r.BookingID, "A", admission.UndoAbort, 0)
	}
	if left := b.owners(); len(left) > 0 {
		t.Errorf("after the undos %v", left)
	}
	free := b.admin.ZRangeWithScores(b.ctx(), b.k.free("A"), 0, -1).Val()
	if len(free) != 4 || free[3].Member != "A-1000" || free[3].Score != 1000 {
		t.Errorf("free %v", free)
	}
}

// TestTokenWithoutNumber: nobody is admitted to a level with a free token that has
// no place in the owner table, and nothing is written, not even for those before it.
func TestTokenWithoutNumber(t *testing.T) {
	b := newBench(t)
	b.put("zrem", b.k.free("A"), "A-4")
	b.put("zadd", b.k.free("A"), 4, "A-x")
	before := b.dump()
	var reqs []*admission.Request
	for i := range 4 {
		r := b.req("b"+strconv.Itoa(i), "c"+strconv.Itoa(i+1))
		reqs = append(reqs, &r)
	}
	var answers []admission.Answer
	err := b.store.onWire(b.ctx(), b.k.cfg(), func(w *wire) (err error) {
		answers, err = b.store.admitMany(w, reqs)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if a.Outcome != admission.Corrupt {
			t.Errorf("request %d: %v", i, a.Outcome)
		}
	}
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
}

// TestOwnerTableHasAnEnd: a script must not begin what the longest string of Redis
// would stop half-way.
func TestOwnerTableHasAnEnd(t *testing.T) {
	b := newBench(t)
	raise := func(first int) admission.CapOutcome {
		a, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 6, First: first})
		if err != nil {
			t.Fatal(err)
		}
		return a.Outcome
	}
	if got := raise(maxToken + 1); got != admission.CapBad {
		t.Errorf("a token beyond the table: %v", got)
	}
	if got := raise(maxToken); got != admission.CapSet {
		t.Errorf("the last token of the table: %v", got)
	}
	for _, token := range []string{"A-" + strconv.Itoa(maxToken+1), "Anonymous"} {
		a, err := b.store.Reseed(context.Background(), b.sale, b.live("b1", "c1", token))
		if err != nil || a.Outcome != admission.ReseedCorrupt {
			t.Errorf("reseed of %s: %v, %v", token, a.Outcome, err)
		}
	}
	p := b.plan()
	p.Gen, p.Levels = gen+1, slices.Clone(p.Levels)
	p.Levels[0].Next = maxToken + 2
	if err := b.store.Install(b.ctx(), p, nil); err == nil {
		t.Error("a plan with tokens beyond the table was installed")
	}
	b.conserved()
}

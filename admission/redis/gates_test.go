package redis

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// gateBench is newBench with gates whose clock stands still.
func gateBench(t *testing.T) (b *bench, g *Gates, now *time.Time) {
	t.Helper()
	at := time.Now()
	b = newBench(t)
	b.store.now = func() time.Time { return at }
	g = NewGates(b.store, b.store)
	g.Watch(b.sale, []string{"A", "B", "N"})
	b.refresh(g)
	return b, g, &at
}

func (b *bench) refresh(g *Gates) {
	b.t.Helper()
	if err := g.Refresh(b.ctx(), b.sale); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) check(g *Gates, r admission.Request) Decision {
	b.t.Helper()
	d, err := g.Check(b.ctx(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func TestGatesSendTheRosterVersionTheyChecked(t *testing.T) {
	b, g, _ := gateBench(t)
	b.put("hset", b.k.roster(), "c8", eh1+",B,N,")
	if err := b.store.SetRosterVersion(b.ctx(), b.sale, gen, "v2"); err != nil {
		t.Fatal(err)
	}
	b.refresh(g)
	ask := func(change func(*admission.Request)) string {
		r := b.req("b1", "c1")
		change(&r)
		d := b.check(g, r)
		if d.Outcome != 0 {
			t.Errorf("refused: %v", d.Outcome)
		}
		return d.RosterVersion
	}
	for name, c := range map[string]struct {
		want   string
		change func(*admission.Request)
	}{
		"known":             {"v2", func(r *admission.Request) {}},
		"unknown code":      {"", func(r *admission.Request) { r.Candidate = "c99" }},
		"wrong e-mail":      {"", func(r *admission.Request) { r.EmailHash = eh2 }},
		"no e-mail":         {"", func(r *admission.Request) { r.EmailHash = "" }},
		"level not allowed": {"", func(r *admission.Request) { r.Candidate = "c8" }},
		"level allowed":     {"v2", func(r *admission.Request) { r.Candidate, r.Level = "c8", "B" }},
		"old generation":    {"", func(r *admission.Request) { r.Gen-- }},
		"sale not watched":  {"", func(r *admission.Request) { r.Sale = "other" }},
	} {
		if got := ask(c.change); got != c.want {
			t.Errorf("%s: version %q, want %q", name, got, c.want)
		}
	}
}

// Staleness costs a round trip, never a wrong answer: a removed code is refused
// by the script although the snapshot still has it, and a new one is let in.
func TestGatesMayBeStale(t *testing.T) {
	b, g, _ := gateBench(t)
	if err := b.store.DropRoster(b.ctx(), b.sale, []string{"c1"}); err != nil {
		t.Fatal(err)
	}
	b.roster("c50")
	if err := b.store.SetRosterVersion(b.ctx(), b.sale, gen, "v2"); err != nil {
		t.Fatal(err)
	}
	must(t, first(g.Admit(b.ctx(), b.req("b1", "c1"))), admission.UnknownCode)
	must(t, first(g.Admit(b.ctx(), b.req("b2", "c50"))), admission.Admitted)
}

func TestGatesRefuseByAFreshFullMark(t *testing.T) {
	b, g, now := gateBench(t)
	full := b.req("b1", "c1")
	full.Count = 4
	b.admit(full)
	b.refresh(g)
	pair := b.req("b2", "c2")
	pair.Count = 2
	if d := b.check(g, pair); d.Outcome != admission.LevelFull {
		t.Fatalf("2 seats of 1: %+v", d)
	}
	if d := b.check(g, b.req("b2", "c2")); d.Outcome != 0 {
		t.Fatalf("1 seat of 1: %+v", d)
	}
	b.put("hset", b.k.cfg(), "cap", "4")
	b.refresh(g)
	if d := b.check(g, b.req("b2", "c2")); d.Outcome != admission.SoldOut {
		t.Fatalf("at the total: %+v", d)
	}
	b.put("hset", b.k.cfg(), "cap", "9")
	b.refresh(g)
	stranger := pair
	stranger.Candidate = "c77"
	if d := b.check(g, stranger); d.Outcome != 0 {
		t.Errorf("a stranger is the script's to refuse: %+v", d)
	}
	*now = now.Add(fullMarkAge + 1)
	if d := b.check(g, pair); d.Outcome != 0 {
		t.Errorf("an old mark refused: %+v", d)
	}
}

// A holder is never refused by a mark: not the one of this process, not one who
// was admitted through another, not one whose released booking answers his key.
func TestFullMarkNeverRefusesAHolder(t *testing.T) {
	b, g, _ := gateBench(t)
	r := b.req("b1", "c1")
	r.Count = 4
	b.admit(r)
	b.admit(b.req("b2", "c2"))
	b.undo("b2", "A", admission.UndoRelease, 0)
	b.admit(b.req("b3", "c3"))
	b.refresh(g)
	must(t, first(g.Admit(b.ctx(), r)), admission.Replayed)
	other := b.req("b4", "c1")
	other.Key = "key-2"
	must(t, first(g.Admit(b.ctx(), other)), admission.Duplicate)
	must(t, first(g.Admit(b.ctx(), b.req("b5", "c1"))), admission.Same)
	must(t, first(g.Admit(b.ctx(), b.req("b6", "c2"))), admission.Released)
	must(t, first(g.Admit(b.ctx(), b.req("b7", "c4"))), admission.LevelFull)
}

func TestUndoClearsFullMarks(t *testing.T) {
	b, g, _ := gateBench(t)
	r := b.req("b1", "c1")
	r.Count = 5
	b.admit(r)
	b.refresh(g)
	if d := b.check(g, b.req("b2", "c2")); d.Outcome != admission.LevelFull {
		t.Fatalf("%+v", d)
	}
	b.undo("b1", "A", admission.UndoQuick, 1)
	must(t, first(g.Admit(b.ctx(), b.req("b2", "c2"))), admission.Admitted)
	if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 1}); err != nil {
		t.Fatal(err)
	}
	b.refresh(g)
	if d := b.check(g, b.req("b3", "c3")); d.Outcome != admission.LevelFull {
		t.Fatalf("%+v", d)
	}
	if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 2, First: 6}); err != nil {
		t.Fatal(err)
	}
	must(t, first(g.Admit(b.ctx(), b.req("b3", "c3"))), admission.Admitted)
}

func TestGatesBeforeOpening(t *testing.T) {
	b, g, now := gateBench(t)
	opens := now.Add(time.Hour).Truncate(time.Millisecond)
	b.put("hset", b.k.cfg(), "opens_ms", fmt.Sprint(opens.UnixMilli()))
	b.refresh(g)
	if d := b.check(g, b.req("b1", "c1")); d.Outcome != admission.Closed || !d.OpensAt.Equal(opens) {
		t.Fatalf("%+v", d)
	}
	*now = now.Add(closedAge + time.Millisecond)
	if d := b.check(g, b.req("b1", "c1")); d.Outcome != 0 {
		t.Errorf("old times refused: %+v", d)
	}
	b.put("hset", b.k.cfg(), "opens_ms", fmt.Sprint(b.redisNow().Add(openingSlack-500*time.Millisecond).UnixMilli()))
	b.refresh(g)
	if d := b.check(g, b.req("b1", "c1")); d.Outcome != 0 {
		t.Errorf("shortly before the opening the script judges: %+v", d)
	}
	b.put("hset", b.k.cfg(), "opens_ms", "0")
	b.admit(b.req("b1", "c1"))
	b.put("hset", b.k.cfg(), "opens_ms", fmt.Sprint(b.redisNow().Add(time.Hour).UnixMilli()))
	b.refresh(g)
	must(t, first(g.Admit(b.ctx(), b.req("b1", "c1"))), admission.Replayed) // times moved under a holder
}

func (b *bench) redisNow() time.Time { return b.admin.Time(b.ctx()).Val() }

func TestGatesRunUntilTold(t *testing.T) {
	b := newBench(t)
	g := NewGates(b.store, b.store)
	g.Watch(b.sale, []string{"A"})
	ctx, cancel := context.WithCancel(b.ctx())
	done := make(chan struct{})
	go func() { g.Run(ctx); close(done) }()
	await(t, func() bool { return b.check(g, b.req("b1", "c1")).RosterVersion == "v1" })
	cancel()
	<-done
	g.Forget(b.sale)
	if d := b.check(g, b.req("b1", "c1")); d.RosterVersion != "" {
		t.Errorf("a forgotten sale: %+v", d)
	}
}

func TestRosterTable(t *testing.T) {
	build := newRosterBuilder()
	const n = 40_000
	for i := range n {
		e := admission.RosterEntry{Candidate: "c" + itoa(i), EmailHash: eh1}
		if i%3 == 0 {
			e.Levels = []string{"A", "B" + itoa(i%900)} // more sets than there is room for
		}
		build.add(e)
	}
	table := build.build()
	if per := 8 * len(table.tags) / n; per > 32 || len(table.tags) < 2*len(build.rows) {
		t.Errorf("%d bytes a row, %d places for %d rows", per, len(table.tags), len(build.rows))
	}
	left := 0
	for i := range n {
		c := "c" + itoa(i)
		if table.allows(c, eh2, "A") || table.allows(c, "", "A") {
			t.Fatalf("%s with another e-mail", c)
		}
		if i%3 == 0 && table.allows(c, eh1, "Z") {
			t.Fatalf("%s for a level that is not his", c)
		}
		if !table.allows(c, eh1, "A") {
			if left++; i%3 != 0 {
				t.Fatalf("%s is missing", c)
			}
		}
	}
	if left == 0 || left > n/3 {
		t.Errorf("%d rows left out", left)
	}
}

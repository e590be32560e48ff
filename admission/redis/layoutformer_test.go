package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

// former loads the sale as builds of layout 1 kept it, by hand: c1 has paid A-1, c2
// holds A-2 and is pending, c3 is choosing N1, and c4's booking was released.
func (b *bench) former() {
	b.t.Helper()
	now := fmt.Sprint(b.admin.Time(b.ctx()).Val().UnixMilli())
	key := func(name string) string { return string(b.k) + name }
	record := func(stage, pid, candidate, level, seat, score string) string {
		return strings.Join([]string{stage, "1", now, now, pid, candidate, level, idk1, inh1, eh1, now, "2500", "EUR", fmt.Sprint(gen), seat, score}, "|")
	}
	b.put("hset", key("adm:cfg"), "gen", gen, "ver", 12, "replays", 3, "open", 1, "opens_ms", 1, "closes_ms", "9999999999999", "hold_ms", 600000,
		"cap", 9, "roster", "v1", "installed", "them", "paid", 1, "paid:A", 1, "mark", "7-1-x", "marked", "",
		"kind:A", "c", "cap:A", 5, "next:A", 6, "kind:B", "c", "cap:B", 3, "next:B", 4, "kind:N", "s", "cap:N", 4, "next:N", 1)
	b.put("hset", key("adm:bk"), "b1", record("P", "slow:p1", "c1", "A", "A-1", "1"), "b2", record("E", "slow:p2", "c2", "A", "A-2", "2"),
		"h3", record("S", "", "c3", "N", "N1", "1"))
	b.put("hset", key("adm:seen"), "c1", "b1", "c2", "b2", "c3", "h3")
	b.put("hset", key("adm:pending"), "c2", "b2|A|"+now)
	b.put("hset", key("adm:seat"), "A-1", "b1", "A-2", "b2", "N1", "h3")
	b.put("zadd", key("adm:free:A"), 3, "A-3", 4, "A-4", 5, "A-5")
	b.put("zadd", key("adm:free:B"), 1, "B-1", 2, "B-2", 3, "B-3")
	b.put("zadd", key("adm:free:N"), 2, "N2", 3, "N3", 4, "N4")
	for name, n := range map[string]int{"adm:total": 3, "adm:level:A": 2, "adm:level:N": 1} {
		b.put("set", key(name), n)
	}
	b.put("zadd", key("adm:dead"), now, "b4")
	b.put("hset", key("adm:last"), "c4", "b4|"+idk1+"|"+inh1)
	b.put("zadd", key("soft:N"), "9999999999999", "h3")
	b.put("hset", key("adm:roster"), "c1", eh1, "c2", eh1, "c3", eh1, "c4", eh1)
	b.put("set", key("hold:b2"), "https://pay.example/b2", "px", 600000)
	b.put("set", key("hold:was:b2"), "h2 "+record("S", "", "c2", "A", "A-2", "2"), "px", 600000)
	b.put("set", key("hold:execute:slow:p1"), "b1 somebody", "px", 600000)
}

// rebuilt is the next generation, with those two bookings of the ledger.
func (b *bench) rebuilt() error {
	p := b.plan()
	p.Gen = gen + 1
	return b.store.Install(b.ctx(), p, func(ctx context.Context) error {
		b.roster("c1", "c2", "c3", "c4")
		for _, r := range []admission.Record{b.live("b1", "c1", "A-1"), b.live("b2", "c2", "A-2")} {
			if a, err := b.store.Reseed(ctx, b.sale, r); err != nil || a.Outcome != admission.Reseeded {
				return fmt.Errorf("reseed: %+v, %w", a, err)
			}
		}
		return nil
	})
}

// TestFormerLayoutIsRefusedThenRebuilt: a sale that a build of layout 1 loaded is
// refused by name. A rebuild leaves nothing of it behind but what is of no layout,
// and everything works.
func TestFormerLayoutIsRefusedThenRebuilt(t *testing.T) {
	b := bareBench(t, pair, Config{})
	b.former()
	for _, c := range guardedCalls {
		if err := c.call(b); !errors.Is(err, admission.ErrLayout) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := b.rebuilt(); err != nil {
		t.Fatal(err)
	}
	b.works()
}

// works fails the test unless the sale is as a rebuild of an empty Redis leaves it,
// and sells.
func (b *bench) works() {
	b.t.Helper()
	fresh := bareBench(b.t, pair, Config{})
	if err := fresh.rebuilt(); err != nil {
		b.t.Fatal(err)
	}
	guard := "hold:execute:slow:p1"
	want, got := fresh.dump(), b.dump()
	want[guard] = "b1 somebody"
	if _, version, err := b.store.SeatVersion(b.ctx(), b.sale); err != nil || version <= 12 {
		b.t.Errorf("the version went back to %d, %v", version, err)
	}
	for _, field := range []string{"adm:cfg ver", "adm:cfg replays"} {
		delete(want, field)
		delete(got, field)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("not as a rebuild of an empty Redis leaves it: %s", diff)
	}
	if keys := b.admin.Keys(b.ctx(), string(b.k)+"*").Val(); slices.Contains(keys, string(b.k)+"hold:b2") {
		b.t.Errorf("keys of the former layout are left: %v", keys)
	}
	r := b.req("b9", "c3")
	r.Gen = gen + 1
	must(b.t, first(b.store.Admit(b.ctx(), r)), admission.Admitted)
	if a := b.undo("b2", "A", admission.UndoRelease, 0); a.Seats != 1 {
		b.t.Errorf("undo %+v", a)
	}
	b.conserved()
}

// TestKeysOfOtherTypesAreNoObstacle: names that another layout uses for other types
// fail no rebuild, and names that this one does not know go.
func TestKeysOfOtherTypesAreNoObstacle(t *testing.T) {
	b := bareBench(t, pair, Config{})
	b.former()
	b.put("hset", b.k.cfg(), layoutField, "3")
	b.put("del", b.k.pending(), b.k.bk(), b.k.seat(), b.k.level("A"), b.k.dead())
	b.put("zadd", b.k.pending(), 1, "b2")
	b.put("rpush", b.k.bk(), "b1")
	b.put("set", b.k.seat(), "slots")
	b.put("hset", b.k.level("A"), "used", 2)
	b.put("sadd", b.k.dead(), "b4")
	b.put("zadd", b.k.owner("A"), 1, "b1")
	b.put("set", string(b.k)+"adm:rows:A", "of the next build")
	for _, c := range guardedCalls {
		if err := c.call(b); !errors.Is(err, admission.ErrLayout) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := b.rebuilt(); err != nil {
		t.Fatal(err)
	}
	b.works()
}

// TestRebuildOfAnotherLayoutDiesAndIsDoneAgain: whoever follows a rebuild that died
// still clears what only the former layout has.
func TestRebuildOfAnotherLayoutDiesAndIsDoneAgain(t *testing.T) {
	b := bareBench(t, pair, Config{})
	b.former()
	p := b.plan()
	p.Gen = gen + 1
	if foreign, err := b.store.step(b.ctx(), installBeginScript, b.k.all([]string{"A", "B", "N"}), p.Gen, "one that dies", layout); err != nil || foreign != 1 {
		t.Fatalf("begin: %d, %v", foreign, err)
	}
	if _, err := b.store.Status(b.ctx(), b.sale, nil); !errors.Is(err, admission.ErrLayout) {
		t.Errorf("half cleared, and %v", err)
	}
	if err := b.rebuilt(); err != nil {
		t.Fatal(err)
	}
	b.works()
}

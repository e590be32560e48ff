package redis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

// unguarded scripts run on a sale of any layout, or on none.
var unguarded = map[string]string{
	"admit": "laidOut", "admit_many": "laidOut",
	"install_begin": "makes the layout ours", "install_level": "the same", "install_finish": "the same: only of one who has begun",
	"execute_acquire": "one form in all layouts", "execute_end": "the same",
	"token_get": "of no sale", "token_lease": "the same", "token_store": "the same",
}

// asItRuns is the script with its guard, if it is to have one, at the place of cfg
// that its contract names.
func asItRuns(t *testing.T, name string) *script {
	t.Helper()
	if unguarded[name] != "" {
		return load(name)
	}
	_, contract, _ := strings.Cut(read(name), "\n-- KEYS ")
	contract, _, _ = strings.Cut(contract, "\n")
	contract, _, _ = strings.Cut(contract, ",")
	at := slices.Index(strings.Fields(contract), "cfg")
	if at < 0 {
		t.Fatalf("%s names no cfg among its keys %q, so it can't have a guard", name, contract)
	}
	return guarded(name, at+1)
}

// layoutOf sets the number of the sale's layout, or takes it away.
func (b *bench) layoutOf(number string) {
	b.t.Helper()
	if number == "" {
		b.put("hdel", b.k.cfg(), layoutField)
		return
	}
	b.put("hset", b.k.cfg(), layoutField, number)
}

// TestEveryMethodRefusesAnotherLayout: whatever reads or writes a sale refuses one
// that another build has loaded, by name and before it has changed anything.
func TestEveryMethodRefusesAnotherLayout(t *testing.T) {
	for _, number := range []string{"", "1", "3"} {
		t.Run("layout "+number, func(t *testing.T) {
			b := newSeatBench(t)
			b.admit(b.req("b1", "c1"))
			b.admit(b.req("b2", "c2"))
			b.hold(b.wish("h1", "c3", "H1"), admission.Admitted)
			b.layoutOf(number)
			before := b.dump()
			b.store = b.again()
			for _, c := range guardedCalls {
				if err := c.call(b); !errors.Is(err, admission.ErrLayout) || !strings.Contains(err.Error(), "this one has 2") {
					t.Errorf("%s: %v", c.name, err)
				}
			}
			if diff := cmp.Diff(before, b.dump()); diff != "" {
				t.Errorf("something was changed: %s", diff)
			}
		})
	}
}

// again is the store of another process.
func (b *bench) again() *Store {
	b.t.Helper()
	s, err := Open(b.store.cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	return s
}

// TestLayoutIsLookedAtOncePerGeneration: admissions are refused from the first of a
// generation on that another build has loaded, although their script asks nothing;
// of one that is known they cost no look.
func TestLayoutIsLookedAtOncePerGeneration(t *testing.T) {
	b := ownBench(t)
	b.admit(b.req("b1", "c1"))
	b.put("config", "resetstat")
	b.admit(b.req("b2", "c2"))
	if calls := b.admin.Info(b.ctx(), "commandstats").Val(); !strings.Contains(calls, "cmdstat_hmget:calls=1,") { // the script's own
		t.Errorf("an admission of a generation that is known asked more than its script does: %s", calls)
	}
	b.put("hset", b.k.cfg(), "gen", gen+1, layoutField, "3") // a rebuild by the next build
	must(t, first(b.store.Admit(b.ctx(), b.req("b3", "c3"))), admission.StaleGen)
	r := b.req("b3", "c3")
	r.Gen = gen + 1
	if a, err := b.store.Admit(b.ctx(), r); !errors.Is(err, admission.ErrLayout) {
		t.Errorf("%v, %v", a.Outcome, err)
	}
	b.layoutOf(fmt.Sprint(layout)) // and back again
	must(t, first(b.store.Admit(b.ctx(), r)), admission.Admitted)
}

// TestNoLayoutWithoutASale: what is not in Redis has no layout; each method says of
// it what it always said.
func TestNoLayoutWithoutASale(t *testing.T) {
	b := bareBench(t, pair, Config{})
	must(t, first(b.store.Admit(b.ctx(), b.req("b1", "c1"))), admission.StaleGen)
	if _, err := b.store.Status(b.ctx(), b.sale, nil); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("status: %v", err)
	}
	if _, err := b.store.SetOpen(b.ctx(), b.sale, gen, true); !errors.Is(err, admission.ErrStaleGen) {
		t.Errorf("open: %v", err)
	}
	if missing, err := b.store.Missing(b.ctx(), b.sale, []string{"b1"}); err != nil || len(missing) != 1 {
		t.Errorf("missing: %v, %v", missing, err)
	}
	b.roster("c1")
	b.install(func(*admission.Plan) {})
	if got := b.admin.HGet(b.ctx(), b.k.cfg(), layoutField).Val(); got != fmt.Sprint(layout) {
		t.Errorf("an install wrote the layout %q", got)
	}
}

package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

func TestInstallOpensLast(t *testing.T) {
	b := bareBench(t, pair, Config{})
	p := b.plan()
	rebuilt := false
	err := b.store.Install(b.ctx(), p, func(ctx context.Context) error {
		rebuilt = true
		b.roster("c1")
		a, err := b.store.Admit(ctx, b.req("b1", "c1"))
		if err != nil {
			return err
		}
		must(t, a, admission.StaleGen) // half installed: nobody is admitted
		r, err := b.store.Reseed(ctx, b.sale, b.live("old", "c2", "A-2"))
		if err == nil && r.Outcome != admission.Reseeded {
			t.Errorf("reseed %+v", r)
		}
		return err
	})
	if err != nil || !rebuilt {
		t.Fatalf("install: %v, rebuilt %t", err, rebuilt)
	}
	b.admit(b.req("b1", "c1"))
	b.conserved()
	if err := b.store.Install(b.ctx(), p, nil); !errors.Is(err, admission.ErrInstalled) {
		t.Fatalf("second install: %v", err)
	}
	if _, err := b.store.Record(b.ctx(), b.sale, "b1"); err != nil {
		t.Fatalf("a refused install lost a booking: %v", err)
	}
}

func TestInstallOfANewGenerationClearsTheOldOne(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	before, _ := b.store.Status(b.ctx(), b.sale, nil)
	p := b.plan()
	p.Gen = gen + 1
	p.Levels = p.Levels[:1]
	if err := b.store.Install(b.ctx(), p, nil); err != nil {
		t.Fatal(err)
	}
	for name := range b.dump() {
		if !strings.HasPrefix(name, "adm:cfg") && !strings.HasPrefix(name, "adm:free:A") {
			t.Errorf("%s outlived the old generation", name)
		}
	}
	st, err := b.store.Status(b.ctx(), b.sale, []string{"A"})
	if err != nil || st.Gen != gen+1 || st.Version <= before.Version || st.Bookings != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	must(t, first(b.store.Admit(b.ctx(), b.req("b2", "c2"))), admission.StaleGen) // an old driver
}

func first(a admission.Answer, err error) admission.Answer {
	if err != nil {
		panic(err)
	}
	return a
}

func TestInstallStopsWhereTheRebuildFails(t *testing.T) {
	b := bareBench(t, pair, Config{})
	broken := errors.New("ledger is down")
	if err := b.store.Install(b.ctx(), b.plan(), func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	must(t, first(b.store.Admit(b.ctx(), b.req("b1", "c1"))), admission.StaleGen)
	err := b.store.Install(b.ctx(), b.plan(), func(context.Context) error {
		b.put("incr", b.k.level("A"))
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "level A") {
		t.Fatalf("a rebuild that does not add up: %v", err)
	}
	b.install(func(*admission.Plan) {}) // a third try goes through
	b.roster("c1")
	b.admit(b.req("b1", "c1"))
}

func TestInstallHasOneWinner(t *testing.T) {
	b := bareBench(t, pair, Config{})
	err := b.store.Install(b.ctx(), b.plan(), func(ctx context.Context) error {
		return b.store.Install(ctx, b.plan(), nil)
	})
	if err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Fatalf("an install that was overtaken: %v", err)
	}
	b.roster("c1")
	b.admit(b.req("b1", "c1"))
}

func TestInstallManyTokens(t *testing.T) {
	b := bareBench(t, pair, Config{})
	b.install(func(p *admission.Plan) {
		p.Levels = []admission.LevelPlan{{Name: "A", Kind: "c", Cap: 2500, Next: 3001}}
		p.TotalCap = 2500
	})
	st, err := b.store.Status(b.ctx(), b.sale, []string{"A"})
	if err != nil || st.Levels[0].Free != 2500 {
		t.Fatalf("%+v, %v", st, err)
	}
	if low := b.admin.ZRange(b.ctx(), b.k.free("A"), 0, 0).Val(); low[0] != "A-501" {
		t.Errorf("lowest token %v", low)
	}
}

func TestInstallRefusesABadPlan(t *testing.T) {
	b := bareBench(t, pair, Config{})
	for name, spoil := range map[string]func(p *admission.Plan){
		"sale":         func(p *admission.Plan) { p.Sale = "a}b" },
		"generation":   func(p *admission.Plan) { p.Gen = 0 },
		"no levels":    func(p *admission.Plan) { p.Levels = nil },
		"level twice":  func(p *admission.Plan) { p.Levels[1].Name = "A" },
		"level name":   func(p *admission.Plan) { p.Levels[0].Name = "A|B" },
		"kind":         func(p *admission.Plan) { p.Levels[0].Kind = "x" },
		"next":         func(p *admission.Plan) { p.Levels[0].Next = 5 },
		"seats":        func(p *admission.Plan) { p.Levels[2].Cap = 3 },
		"seat twice":   func(p *admission.Plan) { p.Levels[2].Tokens[0] = "N2" },
		"seat name":    func(p *admission.Plan) { p.Levels[2].Tokens[0] = "N 2" },
		"hold":         func(p *admission.Plan) { p.Hold = 0 },
		"negative cap": func(p *admission.Plan) { p.TotalCap = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := b.plan()
			spoil(&p)
			if err := b.store.Install(b.ctx(), p, nil); !errors.Is(err, admission.ErrInvalid) {
				t.Fatalf("%v", err)
			}
		})
	}
}

func TestRosterRoundTrip(t *testing.T) {
	b := bareBench(t, pair, Config{})
	rows := []admission.RosterEntry{
		{Candidate: "c1", EmailHash: eh1}, {Candidate: "c2", EmailHash: eh2, Levels: []string{"A", "B"}},
	}
	for range 2 { // twice, with the same end state
		if err := b.store.PutRoster(b.ctx(), b.sale, rows); err != nil {
			t.Fatal(err)
		}
	}
	var got []admission.RosterEntry
	scan := func() {
		got = nil
		err := b.store.ScanRoster(b.ctx(), b.sale, func(r admission.RosterEntry) error { got = append(got, r); return nil })
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b admission.RosterEntry) int { return strings.Compare(a.Candidate, b.Candidate) })
	}
	if scan(); cmp.Diff(rows, got) != "" {
		t.Error(cmp.Diff(rows, got))
	}
	if err := b.store.DropRoster(b.ctx(), b.sale, []string{"c1", "c9"}); err != nil {
		t.Fatal(err)
	}
	if scan(); cmp.Diff(rows[1:], got) != "" {
		t.Error(cmp.Diff(rows[1:], got))
	}
	for _, bad := range []admission.RosterEntry{{Candidate: "c|1", EmailHash: eh1}, {Candidate: "c1", EmailHash: "x"}, {Candidate: "c1", EmailHash: eh1, Levels: []string{"A,B"}}} {
		if err := b.store.PutRoster(b.ctx(), b.sale, []admission.RosterEntry{bad}); !errors.Is(err, admission.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestControlKeepsTheGeneration(t *testing.T) {
	b := newBench(t)
	v1, err := b.store.SetOpen(b.ctx(), b.sale, gen, false)
	if err != nil || v1 == 0 {
		t.Fatalf("%d, %v", v1, err)
	}
	must(t, first(b.store.Admit(b.ctx(), b.req("b1", "c1"))), admission.Closed)
	opens := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	v2, err := b.store.SetTimes(b.ctx(), b.sale, gen, opens, opens.Add(time.Hour))
	if err != nil || v2 != v1+1 {
		t.Fatalf("%d, %v", v2, err)
	}
	if err := b.store.SetRosterVersion(b.ctx(), b.sale, gen, "v2"); err != nil {
		t.Fatal(err)
	}
	if err := b.store.SetHold(b.ctx(), b.sale, gen, 7*time.Minute); err != nil {
		t.Fatal(err)
	}
	st, _ := b.store.Status(b.ctx(), b.sale, nil)
	if st.Open || !st.OpensAt.Equal(opens) || st.Hold != 7*time.Minute || st.RosterVersion != "v2" || st.Version != v2 {
		t.Errorf("%+v", st)
	}
	for name, call := range map[string]func() error{
		"open":   func() error { _, err := b.store.SetOpen(b.ctx(), b.sale, gen-1, true); return err },
		"times":  func() error { _, err := b.store.SetTimes(b.ctx(), b.sale, gen-1, opens, opens.Add(1)); return err },
		"hold":   func() error { return b.store.SetHold(b.ctx(), b.sale, gen-1, time.Hour) },
		"roster": func() error { return b.store.SetRosterVersion(b.ctx(), b.sale, gen-1, "v3") },
	} {
		if err := call(); !errors.Is(err, admission.ErrStaleGen) {
			t.Errorf("%s with an old generation: %v", name, err)
		}
	}
	if _, err := b.store.SetTimes(b.ctx(), b.sale, gen, opens, opens); !errors.Is(err, admission.ErrInvalid) {
		t.Errorf("a sale that closes as it opens: %v", err)
	}
	if err := b.store.SetHold(b.ctx(), b.sale, gen, 0); !errors.Is(err, admission.ErrInvalid) {
		t.Errorf("no hold at all: %v", err)
	}
}

// admittedAt makes a pending booking older: the clock of a server can't be moved.
func (b *bench) admittedAt(bid string, ms int) {
	b.t.Helper()
	f := strings.Split(b.admin.HGet(b.ctx(), b.k.pending(), bid).Val(), "|")
	f[10] = strconv.Itoa(ms)
	b.put("hset", b.k.pending(), bid, strings.Join(f, "|"))
}

func TestScansAndMissing(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	b.admit(b.req("b2", "c2"))
	b.admittedAt("b1", 1000)
	b.store.Settle(b.ctx(), b.sale, "b2", "c2", false)
	var list []admission.Pending
	err := b.store.ScanPending(b.ctx(), b.sale, func(p admission.Pending) error { list = append(list, p); return nil })
	if err != nil || len(list) != 1 || list[0].BookingID != "b1" || list[0].Candidate != "c1" || list[0].Level != "A" || list[0].Age < time.Hour {
		t.Errorf("%+v, %v", list, err)
	}
	pending := map[string]bool{}
	err = b.store.ScanRecords(b.ctx(), b.sale, func(r admission.Record, p bool) error { pending[r.BookingID] = p; return nil })
	if diff := cmp.Diff(map[string]bool{"b1": true, "b2": false}, pending); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	var ids []string
	for i := range 1200 {
		ids = append(ids, "x"+string(rune('a'+i%26)))
	}
	ids[700] = "b1"
	missing, err := b.store.Missing(b.ctx(), b.sale, ids)
	if err != nil || len(missing) != 1199 || slices.Contains(missing, "b1") {
		t.Errorf("%d missing, %v", len(missing), err)
	}
	if bid, err := b.store.CandidateBooking(b.ctx(), b.sale, "c1"); err != nil || bid != "b1" {
		t.Errorf("%q, %v", bid, err)
	}
	if _, err := b.store.CandidateBooking(b.ctx(), b.sale, "c9"); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("%v", err)
	}
	stop := errors.New("stop")
	if err := b.store.ScanPending(b.ctx(), b.sale, func(admission.Pending) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the callback's error is lost: %v", err)
	}
}

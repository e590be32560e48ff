package operator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

func TestApplyCreatesAClosedSale(t *testing.T) {
	b := newBench(t)
	r, err := b.Apply(b.ctx, b.plan(), ann)
	b.must(err)
	if !r.Created || len(r.Changes) != 0 {
		t.Errorf("result %+v", r)
	}
	c := b.control()
	if c.Open || c.Frozen || c.Gen != 1 || c.Epoch != 1 || c.ReplicationID != "repl-1" || c.Next["N1"] != 11 || c.Next["N2"] != 6 {
		t.Errorf("control %+v", c)
	}
	st, err := b.World.Redis.Status(b.ctx, exam, []string{"N1", "N2"})
	b.must(err)
	if st.Open || st.TotalCap != 15 || st.Levels[0].Free != 10 || st.Levels[1].Free != 5 || !st.OpensAt.Equal(b.plan().OpensAt) {
		t.Errorf("Redis %+v", st)
	}
	if acts := b.trail(); len(acts) != 1 || !strings.HasPrefix(acts[0], "sale apply") {
		t.Errorf("trail %q", acts)
	}
}

func TestApplyTwiceIsOneChange(t *testing.T) {
	b := applied(t)
	before := b.end()
	r, err := b.Apply(b.ctx, b.plan(), ann)
	b.must(err)
	if r.Created || len(r.Changes) != 0 {
		t.Errorf("result %+v", r)
	}
	if diff := diffEnds(before, b.end()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if acts := b.trail(); len(acts) != 1 {
		t.Errorf("an apply without a change is in the trail: %q", acts)
	}
}

func TestApplyRefusesAnInvalidPlanAndAnUnsafeRedis(t *testing.T) {
	b := newBench(t)
	bad := b.plan()
	bad.Title, bad.Levels[0].Cap = "", -1
	var faults *sale.FaultsError
	if err := b.apply(bad); !errors.As(err, &faults) || len(faults.Faults) < 2 {
		t.Errorf("invalid plan: %v", err)
	}
	b.server.unsafe = errors.New("the eviction policy is allkeys-lru")
	if err := b.apply(b.plan()); err == nil || !strings.Contains(err.Error(), "allkeys-lru") {
		t.Errorf("unsafe Redis: %v", err)
	}
	if _, err := b.World.Store.Control(b.ctx, exam); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("something was written: %v", err)
	}
}

func TestApplyANewSaleCrashedAtEveryStep(t *testing.T) {
	atEveryStep(t, newBench, func(b *bench) error { return b.apply(b.plan()) }, func(b *bench) {
		conserved(b)
		c, err := b.World.Store.Control(b.ctx, exam)
		if err != nil {
			return
		}
		// Never in a state that a sweep would take for lost data: not frozen means in Redis.
		if _, err := b.World.Redis.Status(b.ctx, exam, nil); err != nil && !c.Frozen {
			t.Fatalf("the ledger has the sale unfrozen and Redis does not have it: %+v", c)
		}
	})
}

// A file that is mended after an apply died is what counts.
func TestApplyAnotherPlanAfterACrashedFirstOne(t *testing.T) {
	mended := func(b *bench) sale.Sale {
		p := b.plan()
		p.Levels = append(p.Levels, sale.Level{Name: "N3", Cap: 7, Kind: sale.KindCounted})
		p.TotalCap, p.Hold = 22, 5*time.Minute
		p.Ages, p.SoftHoldMax = sale.Ages{}, 0
		return p.WithDefaults()
	}
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			b := newBench(t)
			b.Faults.CrashAt(k, after)
			_ = b.apply(b.plan()) // the crash is the point
			crashed, ops := b.Faults.Crashed()
			b.Faults.Restart()
			if !crashed {
				break
			}
			if err := b.apply(mended(b)); err != nil {
				t.Fatalf("after a crash at %v: %v", ops, err)
			}
			e := b.end()
			if e.Control.Frozen || e.Redis.Gen != e.Control.Gen || e.Redis.TotalCap != 22 || e.Redis.Levels[2].Free != 7 || e.Control.Plan.Hold != 5*time.Minute {
				t.Fatalf("after a crash at %v: %+v", ops, e)
			}
			conserved(b)
		}
	}
}

func TestApplyChangesWhatIsSafeWhileItSells(t *testing.T) {
	b := selling(t)
	b.book("N1", 1, 4)
	plan := b.plan()
	plan.Title, plan.ClosesAt, plan.MaxSeats = "Another title", plan.ClosesAt.Add(time.Hour), 3
	plan.Levels[0].Cap, plan.Levels[0].Price = 6, &sale.Money{AmountMinor: 1, Currency: "BDT"}
	plan.Levels[1].Cap, plan.TotalCap = 1205, 1211
	plan.Ages.ReleaseGrace, plan.Hold = 2*time.Minute, 9*time.Minute
	r, err := b.Apply(b.ctx, plan, ann)
	b.must(err)
	var paths []string
	for _, c := range r.Changes {
		paths = append(paths, c.Path)
	}
	want := []string{"title", "closes_at", "hold", "max_seats", "total_cap", "ages.release_grace", "levels[N1].cap", "levels[N1].price", "levels[N2].cap"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	e := b.end()
	if diff := cmp.Diff(plan, e.Control.Plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if e.Control.Gen != 1 || !e.Control.Open || e.Control.CapIntent != nil || e.Control.Next["N2"] != 1206 {
		t.Errorf("control %+v", e.Control)
	}
	if l := e.Redis.Levels; l[0].Cap != 6 || l[0].Used != 4 || l[1].Cap != 1205 || l[1].Free != 1205 || e.Redis.TotalCap != 1211 || !e.Redis.ClosesAt.Equal(plan.ClosesAt) {
		t.Errorf("Redis %+v", e.Redis)
	}
	if b.public[exam] == 0 {
		t.Error("the public was not told")
	}
	b.book("N1", 9, 1)
	for id, hold := range map[string]time.Duration{"X1": 10 * time.Minute, "X9": 9 * time.Minute} {
		rec, err := b.World.Redis.Record(b.ctx, exam, id)
		if b.must(err); rec.HoldUntil.Sub(rec.AdmittedAt) != hold {
			t.Errorf("booking %s is held for %v, want %v", id, rec.HoldUntil.Sub(rec.AdmittedAt), hold)
		}
	}
}

func TestApplyChangesCrashedAtEveryStep(t *testing.T) {
	change := func(b *bench) error {
		plan := b.plan()
		plan.Title, plan.OpensAt, plan.Hold = "Another title", plan.OpensAt.Add(-time.Minute), 9*time.Minute
		plan.Levels[0].Cap, plan.Levels[1].Cap, plan.TotalCap = 7, 9, 14
		return b.apply(plan)
	}
	atEveryStep(t, func(t *testing.T) *bench {
		b := selling(t)
		b.book("N1", 1, 5)
		return b
	}, change, conserved)
}

func TestApplyRefusesWhatWouldTakeFromSomebody(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sale.Sale)
		code   operator.Code
		reason []string
	}{
		"a level removed":         {func(s *sale.Sale) { s.Levels, s.TotalCap = s.Levels[:1], 10 }, operator.CodeUnsafeChange, []string{"levels[N2]", "2 of its seats are held or sold", "set its cap to 2"}},
		"a level added":           {func(s *sale.Sale) { s.Levels = append(s.Levels, sale.Level{Name: "N3", Cap: 1, Kind: "c"}) }, operator.CodeUnsafeChange, []string{"levels[N3]", "while the sale is closed"}},
		"another kind":            {func(s *sale.Sale) { seated(&s.Levels[1]) }, operator.CodeUnsafeChange, []string{"kind: counted -> seated"}},
		"caps below what is used": {func(s *sale.Sale) { s.Levels[0].Cap, s.Levels[1].Cap, s.TotalCap = 3, 1, 4 }, operator.CodeBelowUsed, []string{"level N1: 4 seats", "level N2: 2 seats", "the sale: 6 seats"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := selling(t)
			b.book("N1", 1, 4)
			b.book("N2", 11, 2)
			before, acts := b.end(), len(b.trail())
			plan := b.plan()
			plan.Title = "must not come through either"
			c.change(&plan)
			r := refused(t, b.apply(plan), c.code)
			for _, want := range c.reason {
				if !strings.Contains(r.Error(), want) {
					t.Errorf("the refusal lacks %q:\n%v", want, r)
				}
			}
			if diff := diffEnds(before, b.end()); diff != "" {
				t.Errorf("something was changed (-before +after):\n%s", diff)
			}
			if len(b.trail()) != acts {
				t.Error("a refusal is in the trail")
			}
		})
	}
}

// seated turns a level into five named seats.
func seated(l *sale.Level) {
	l.Kind = sale.KindSeated
	for i, name := range []string{"A1", "A2", "A3", "A4", "A5"} {
		l.Seats = append(l.Seats, sale.Seat{Name: name, Score: i + 1})
	}
}

func TestApplyRefusesToDropSeatsThatSomebodyOwns(t *testing.T) {
	b := newBench(t)
	plan := b.plan()
	seated(&plan.Levels[1])
	b.must(b.apply(plan))
	held := ledger.Booking{ID: "B1", Sale: exam, Candidate: "c1", Level: "N2", Seats: []ledger.Seat{{Token: "A3", Score: 3}}, Gen: 1,
		Payment: ledger.PaymentKey{Gateway: "page", ID: "p1"}, Price: plan.Price, AdmittedAt: b.World.Now(), HoldUntil: b.World.Now().Add(time.Minute)}
	hold, err := ledger.Hold(held, "worker", b.World.Now())
	b.must(err)
	b.must(b.World.Store.Apply(b.ctx, hold))
	plan.Levels[1].Seats, plan.Levels[1].Cap, plan.TotalCap = plan.Levels[1].Seats[3:], 2, 12
	r := refused(t, b.apply(plan), operator.CodeUnsafeChange)
	if !strings.Contains(r.Error(), "seat A3 is held or sold") || strings.Contains(r.Error(), "seat A1") {
		t.Errorf("the refusal names other seats: %v", r)
	}
}

func restructured(b *bench) sale.Sale {
	plan := b.plan()
	plan.Hold, plan.Ages, plan.SoftHoldMax = 5*time.Minute, sale.Ages{}, 0
	plan.Levels = []sale.Level{{Name: "N2", Cap: 4}, {Name: "N3", Cap: 3}}
	plan.TotalCap = 0
	return plan.WithDefaults()
}

func TestApplyReinstallsWhileNobodyEverBooked(t *testing.T) {
	b := applied(t)
	b.must(b.load(people(3)...))
	r, err := b.Apply(b.ctx, restructured(b), ann)
	b.must(err)
	if r.Created || len(r.Changes) == 0 {
		t.Errorf("result %+v", r)
	}
	e := b.end()
	if e.Control.Gen != 2 || e.Redis.Gen != 2 || e.Control.Frozen || len(e.Roster) != 3 || e.Redis.RosterVersion != e.Control.RosterVersion || e.Redis.TotalCap != 7 {
		t.Errorf("end %+v", e)
	}
	b.must(b.Open(b.ctx, exam, ann))
	a, err := b.World.Redis.Admit(b.ctx, admission.Request{Sale: exam, BookingID: "old", Candidate: b.hash(1), Level: "N2", Gen: 1, InputHash: "x", Currency: "BDT", Count: 1})
	if err != nil || a.Outcome != admission.StaleGen {
		t.Errorf("the old generation is answered %v, %v", a.Outcome, err)
	}
}

func TestApplyReinstallCrashedAtEveryStep(t *testing.T) {
	atEveryStep(t, func(t *testing.T) *bench {
		b := applied(t)
		b.must(b.load(people(3)...))
		return b
	}, func(b *bench) error { return b.apply(restructured(b)) }, conserved)
}

// An installed sale that Redis lost must never be installed again from its plan:
// its sold seats would be free.
func TestApplyNeverInstallsOverALostSale(t *testing.T) {
	b := selling(t)
	b.book("N1", 1, 1)
	b.World.Redis.Flush()
	refused(t, b.apply(b.plan()), operator.CodeRedisLost)
	if _, err := b.World.Redis.Status(b.ctx, exam, nil); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("Redis has the sale again: %v", err)
	}
}

func TestApplyLeavesARebuildAlone(t *testing.T) {
	b := selling(t)
	_, err := b.World.Store.UpdateControl(b.ctx, exam, func(c *ledger.Control) error {
		c.Gen, c.Frozen, c.Rebuilder = 2, true, "host-1"
		return nil
	})
	b.must(err)
	plan := b.plan()
	plan.Title = "x"
	for name, err := range map[string]error{
		"apply": b.apply(plan), "import": b.load(people(1)...), "open": b.Open(b.ctx, exam, ann),
		"times": b.SetTimes(b.ctx, exam, time.Time{}, plan.ClosesAt.Add(time.Hour), ann),
		"caps":  capErr(b.SetCap(b.ctx, exam, "N1", 11, ann)),
	} {
		t.Run(name, func(t *testing.T) { refused(t, err, operator.CodeFrozen) })
	}
	b.must(b.Close(b.ctx, exam, ann)) // a rebuild must not reopen it
	if b.control().Open {
		t.Error("the sale is still open in the ledger")
	}
}

func capErr(_ admission.CapAnswer, err error) error { return err }

func TestTwoAppliesAtOnceAreOneSale(t *testing.T) {
	b := newBench(t)
	errs := make(chan error)
	gate := make(chan struct{})
	for range 4 {
		go func() {
			<-gate
			errs <- b.apply(b.plan())
		}()
	}
	close(gate)
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if e := b.end(); e.Control.Gen != 1 || e.Control.Frozen || e.Redis.TotalCap != 15 {
		t.Errorf("end %+v", e)
	}
	conserved(b)
}

func TestActsStopWhenTheirContextEnds(t *testing.T) {
	b := selling(t)
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	before := b.end()
	plan := b.plan()
	plan.Title = "x"
	if _, err := b.Apply(ctx, plan, ann); !errors.Is(err, context.Canceled) {
		t.Errorf("apply: %v", err)
	}
	if _, err := b.ImportRoster(ctx, exam, file(people(3)...), operator.ImportOptions{}, nil, ann); !errors.Is(err, context.Canceled) {
		t.Errorf("import: %v", err)
	}
	if diff := diffEnds(before, b.end()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

package operator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/operator"
)

// forgetful is a Redis whose Install clears the roster, as the scripts do.
type forgetful struct{ *admissiontest.Redis }

func (f forgetful) Install(ctx context.Context, p admission.Plan, rebuild func(context.Context) error) error {
	var all []string
	if err := f.ScanRoster(ctx, p.Sale, func(r admission.RosterEntry) error { all = append(all, r.Candidate); return nil }); err != nil {
		return err
	}
	if err := f.DropRoster(ctx, p.Sale, all); err != nil {
		return err
	}
	return f.Redis.Install(ctx, p, rebuild)
}

func TestReinstallLoadsTheRosterAgain(t *testing.T) {
	b := applied(t)
	b.Desk.Redis, b.RosterBatch = forgetful{b.World.Redis}, 7
	b.must(b.load(people(20)...))
	b.must(b.apply(restructured(b)))
	if e := b.end(); len(e.Roster) != 20 || e.Redis.RosterVersion != e.Control.RosterVersion {
		t.Errorf("%d candidates in Redis", len(e.Roster))
	}
}

// at runs do once, just before the first call of op.
func (b *bench) at(op string, do func()) {
	done := false
	b.Faults.Yield = func(now string) {
		if now == op && !done {
			done = true
			do()
		}
	}
}

// Another operator creates, opens and sells between our look and our write.
func TestApplyThatComesSecondJudgesTheSaleAsItIs(t *testing.T) {
	b := newBench(t)
	b.at("ledger CreateControl", func() {
		b.must(b.apply(b.plan()))
		b.must(b.load(people(5)...))
		b.must(b.Open(b.ctx, exam, ann))
		b.book("N2", 1, 2)
	})
	r := refused(t, b.apply(restructured(b)), operator.CodeUnsafeChange)
	if !strings.Contains(r.Error(), "levels[N1]") {
		t.Errorf("%v", r)
	}
	if c := b.control(); c.Gen != 1 || c.Frozen || !c.Open {
		t.Errorf("control %+v", c)
	}
}

func TestActsRefuseARedisOfAnotherGeneration(t *testing.T) {
	b := selling(t)
	b.edit(func(c *ledger.Control) { c.Gen = 2 })
	plan := b.plan()
	plan.ClosesAt = plan.ClosesAt.Add(time.Hour)
	refused(t, b.apply(plan), operator.CodeRedisLost)
	refused(t, capErr(b.SetCap(b.ctx, exam, "N1", 11, ann)), operator.CodeRedisLost)
	refused(t, b.SetTimes(b.ctx, exam, time.Time{}, plan.ClosesAt, ann), operator.CodeRedisLost)
	if c := b.control(); c.CapIntent != nil || c.Plan.Levels[0].Cap != 10 || !c.Plan.ClosesAt.Equal(b.plan().ClosesAt) {
		t.Errorf("control %+v", c)
	}
}

// What another build has loaded is no lost Redis: the operator hears which it is,
// from every act and every look, and nothing is changed.
func TestActsNameARedisOfAnotherBuild(t *testing.T) {
	b, p, _ := ready(t)
	b.World.Redis.Foreign()
	plan := b.plan()
	plan.ClosesAt = plan.ClosesAt.Add(time.Hour)
	for name, err := range map[string]error{
		"apply": b.apply(plan), "caps": capErr(b.SetCap(b.ctx, exam, "N1", 11, ann)), "times": b.SetTimes(b.ctx, exam, time.Time{}, plan.ClosesAt, ann),
		"holds": b.Holds(b.ctx, exam, func(operator.Hold) error { return nil }),
	} {
		if r := refused(t, err, operator.CodeRedisLayout); !errors.Is(r, admission.ErrLayout) || !strings.Contains(r.Error(), "holdfast rebuild "+exam) {
			t.Errorf("%s: %v", name, r)
		}
	}
	if c := b.control(); c.CapIntent != nil || c.Plan.Levels[0].Cap != 10 || !c.Plan.ClosesAt.Equal(b.plan().ClosesAt) {
		t.Errorf("control %+v", c)
	}
	if v, err := b.View(b.ctx, exam); err != nil || !v.Foreign || v.Lost || v.Open || v.Selling {
		t.Errorf("view %+v, %v", v, err)
	}
	checks, err := p.Run(b.ctx, exam, operator.Crowd{})
	b.must(err)
	said := false
	for _, c := range checks {
		said = said || c.Name == "installed" && c.Verdict == operator.Fail && strings.Contains(c.Detail, "in the form of another build")
	}
	if !said {
		t.Errorf("preflight does not name it: %v", checks)
	}
}

// beside is a Redis that another build loaded one of the sales into.
type beside struct {
	operator.Redis
	foreign string
}

// Record implements admission.Lookup.
func (r beside) Record(ctx context.Context, saleID, bookingID string) (admission.Record, error) {
	if saleID == r.foreign {
		return admission.Record{}, admission.ErrLayout
	}
	return r.Redis.Record(ctx, saleID, bookingID)
}

// A booking's id does not name its sale: one that can't be asked hides no booking of
// the others, and says so of what it may have.
func TestASaleOfAnotherBuildHidesNoBooking(t *testing.T) {
	b := selling(t)
	const old = "a sale before"
	plan := b.plan()
	plan.ID = old
	b.must(b.World.Store.CreateControl(b.ctx, ledger.Control{Sale: old, Gen: 1, Plan: plan}))
	b.Desk.Redis = beside{b.Desk.Redis, old}
	b.book("N1", 1, 1)
	if k, err := b.Desk.Booking(b.ctx, "X1"); err != nil || k.Sale != exam {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := b.Desk.Booking(b.ctx, "none"); !errors.Is(err, admission.ErrLayout) {
		t.Errorf("a booking that nobody knows: %v", err)
	}
}

// The seats are taken between the check and the script: the script's word
// counts, and the ledger's plan stays what Redis has.
func TestCutThatLosesTheRaceLeavesThePlan(t *testing.T) {
	b := selling(t)
	b.at("redis SetCap", func() { b.book("N1", 1, 9) })
	plan := b.plan()
	plan.Levels[0].Cap, plan.TotalCap = 7, 12
	r := refused(t, b.apply(plan), operator.CodeBelowUsed)
	if r.Figures["used"] == 0 {
		t.Errorf("figures %v", r.Figures)
	}
	c, st := b.control(), b.end().Redis
	if c.CapIntent != nil || c.Plan.Levels[0].Cap != 10 || st.Levels[0].Cap != 10 || c.Plan.TotalCap != st.TotalCap {
		t.Errorf("ledger %+v, Redis %+v", c.Plan, st)
	}
}

// A rebuild in the middle of a raise mints as many numbers as the plan has
// seats, counted down from next: there must be so many.
func TestARaiseHasItsNumbersBeforeItHasItsCap(t *testing.T) {
	for k := 1; ; k++ {
		b := selling(t)
		b.Faults.CrashAt(k, true)
		err := capErr(b.SetCap(b.ctx, exam, "N1", 25, ann))
		crashed, ops := b.Faults.Crashed()
		b.Faults.Restart()
		if c := b.control(); c.Next["N1"] <= c.Plan.Levels[0].Cap {
			t.Fatalf("after %v: cap %d, next number %d", ops, c.Plan.Levels[0].Cap, c.Next["N1"])
		}
		if !crashed {
			b.must(err)
			return
		}
	}
}

// However often a change is driven, and by whom: it is one act.
func TestACapChangeIsOneActInTheTrail(t *testing.T) {
	for k := 1; ; k++ {
		b := selling(t)
		b.Faults.CrashAt(k, true)
		err := capErr(b.SetCap(b.ctx, exam, "N1", 25, ann))
		crashed, ops := b.Faults.Crashed()
		b.Faults.Restart()
		b.Advance(time.Second)
		b.must(capErr(b.SetCap(b.ctx, exam, "N1", 25, ann)))
		n := strings.Count(strings.Join(b.trail(), "\n"), "cap of N1: 10 -> 25")
		if n != 1 {
			t.Fatalf("after %v: %d entries: %q", ops, n, b.trail())
		}
		if !crashed {
			b.must(err)
			return
		}
	}
}

func TestImportMendsWhatRedisLost(t *testing.T) {
	for name, lose := range map[string]func(b *bench){
		"a row":       func(b *bench) { b.must(b.World.Redis.DropRoster(b.ctx, exam, []string{b.hash(2)})) },
		"the version": func(b *bench) { b.must(b.World.Redis.SetRosterVersion(b.ctx, exam, 1, "older")) },
		"a removal": func(b *bench) {
			b.must(b.World.Redis.PutRoster(b.ctx, exam, []admission.RosterEntry{{Candidate: b.hash(9), EmailHash: "0123456789abcdef"}}))
		},
	} {
		for _, add := range []bool{false, true} {
			b := applied(t)
			b.must(b.load(people(3)...))
			want := b.end()
			lose(b)
			rows := people(3)
			if add {
				rows = rows[:1] // the lost row is not named
			}
			r := b.imports(operator.ImportOptions{Add: add}, rows...)
			if counts(r) != [5]int{0, 0, 0, 3, 3} {
				t.Errorf("%s (add %v): %+v", name, add, r)
			}
			if diff := diffEnds(want, b.end()); diff != "" {
				t.Errorf("%s (add %v) is still lost (-want +got):\n%s", name, add, diff)
			}
		}
	}
}

// An admission whose event is still under way is a booking, though the ledger
// has none.
func TestNoReinstallOverAnAdmissionInFlight(t *testing.T) {
	b := selling(t)
	b.book("N2", 1, 1)
	b.must(b.Close(b.ctx, exam, ann))
	refused(t, b.apply(restructured(b)), operator.CodeUnsafeChange)
	if c := b.control(); c.Gen != 1 || c.Frozen {
		t.Errorf("control %+v", c)
	}
}

// Redis is lost in the middle of a change: the intent stays for the diff, which
// knows what the rebuild has made of it.
func TestCapChangeThatMeetsARebuildStaysOpen(t *testing.T) {
	b := selling(t)
	b.at("redis SetCap", func() { b.World.Redis.Flush() })
	refused(t, capErr(b.SetCap(b.ctx, exam, "N1", 8, ann)), operator.CodeRedisLost)
	if c := b.control(); c.CapIntent == nil || c.CapIntent.To != 8 {
		t.Errorf("control %+v", c)
	}
}

// stuck never moves a cap.
type stuck struct{ *admissiontest.Redis }

func (stuck) SetCap(context.Context, admission.CapChange) (admission.CapAnswer, error) {
	return admission.CapAnswer{Outcome: admission.CapSet, Cap: 10, Acknowledged: true}, nil
}

func TestCapChangeThatDoesNotMoveGivesUp(t *testing.T) {
	b := selling(t)
	b.Desk.Redis = stuck{b.World.Redis}
	err := capErr(b.SetCap(b.ctx, exam, "N1", 20, ann))
	if err == nil || !strings.Contains(err.Error(), "does not move beyond 10") {
		t.Errorf("got %v", err)
	}
}

func TestOfTwoImportsAtOnceOneIsToldToRepeat(t *testing.T) {
	b := applied(t)
	b.at("redis PutRoster", func() {
		d := *b.Desk
		_, err := d.ImportRoster(b.ctx, exam, file(people(4)...), operator.ImportOptions{}, nil, ann)
		b.must(err)
	})
	refused(t, b.load(people(2)...), operator.CodeTooManyChanges)
	b.must(b.load(people(2)...))
	if e := b.end(); len(e.Roster) != 2 || len(e.Ledger) != 2 || e.Control.RosterSize != 2 {
		t.Errorf("end %+v", e)
	}
}

// What a crash left half open or half closed is brought to its end.
func TestHalfOpenAndHalfClosed(t *testing.T) {
	for _, ledgerOpen := range []bool{false, true} {
		b := selling(t)
		b.edit(func(c *ledger.Control) { c.Open = ledgerOpen })
		if _, err := b.World.Redis.SetOpen(b.ctx, exam, 1, !ledgerOpen); err != nil {
			t.Fatal(err)
		}
		b.must(b.Open(b.ctx, exam, ann))
		if e := b.end(); !e.Control.Open || !e.Redis.Open {
			t.Errorf("open: ledger %v, Redis %v", e.Control.Open, e.Redis.Open)
		}
		b.edit(func(c *ledger.Control) { c.Open = ledgerOpen })
		if _, err := b.World.Redis.SetOpen(b.ctx, exam, 1, !ledgerOpen); err != nil {
			t.Fatal(err)
		}
		b.must(b.Close(b.ctx, exam, ann))
		if e := b.end(); e.Control.Open || e.Redis.Open {
			t.Errorf("close: ledger %v, Redis %v", e.Control.Open, e.Redis.Open)
		}
	}
}

// The worker writes the booking between our look and our tombstone.
func TestReleaseFollowsABookingThatIsWrittenMeanwhile(t *testing.T) {
	b := newBench(t)
	k := b.Book("c1", "N2", b.Page)
	b.at("ledger Apply:T4", func() {
		hold, err := ledger.Hold(lifecycle.BookingFromHeld(k.Held), "worker", b.World.Now())
		b.must(err)
		b.must(b.World.Store.Apply(b.ctx, hold))
	})
	out, err := b.ReleaseHold(b.ctx, k.ID, ann)
	if err != nil || out != lifecycle.Released {
		t.Errorf("%v, %v", out, err)
	}
	if got := b.World.Booking(k.ID); got.State != ledger.Released || got.Reason != ledger.ReasonOperator {
		t.Errorf("booking %+v", got)
	}
}

// A level is retired by a cap of 0, and that does not keep the sale closed; one
// that never had a cap does.
func TestARetiredLevelDoesNotKeepASaleClosed(t *testing.T) {
	b := selling(t)
	b.book("N1", 1, 1)
	b.setCap("N2", 0)
	b.must(b.Close(b.ctx, exam, ann))
	b.must(b.Open(b.ctx, exam, ann))
	if !b.end().Redis.Open {
		t.Error("closed")
	}
}

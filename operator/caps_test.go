package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

func (b *bench) setCap(level string, n int) admission.CapAnswer {
	b.t.Helper()
	a, err := b.SetCap(b.ctx, exam, level, n, ann)
	b.must(err)
	return a
}

// caps are the caps in the ledger and in Redis: N1, N2, total of each.
func (b *bench) caps() [6]int {
	b.t.Helper()
	e := b.end()
	return [6]int{e.Control.Plan.Levels[0].Cap, e.Control.Plan.Levels[1].Cap, e.Control.Plan.TotalCap, e.Redis.Levels[0].Cap, e.Redis.Levels[1].Cap, e.Redis.TotalCap}
}

// Case F02: what is raised is sold to the next request.
func TestRaisedCapSellsAtOnce(t *testing.T) {
	b := selling(t)
	b.book("N1", 1, 10)
	b.book("N2", 11, 5)
	before := b.public[exam]
	if a := b.setCap("N1", 12); a.Cap != 12 || a.Used != 10 {
		t.Errorf("answer %+v", a)
	}
	if got := b.caps(); got != [6]int{12, 5, 17, 12, 5, 17} {
		t.Errorf("caps %v", got)
	}
	if b.public[exam] <= before {
		t.Error("the public was not told")
	}
	if got := b.book("N1", 16, 2); !slices.Equal(got, []string{"N1-11", "N1-12"}) {
		t.Errorf("seats %v", got)
	}
}

func TestTotalThatIsABoundOfItsOwnStays(t *testing.T) {
	b := selling(t)
	b.setCap("", 12)
	b.setCap("N1", 20)
	if got := b.caps(); got != [6]int{20, 5, 12, 20, 5, 12} {
		t.Errorf("after a raise: %v", got)
	}
	b.setCap("N1", 4) // now the levels have fewer than the total
	if got := b.caps(); got != [6]int{4, 5, 9, 4, 5, 9} {
		t.Errorf("after a cut below it: %v", got)
	}
}

// TestNumbersEnd: a raise that Redis would refuse is refused before anything of it
// is written, or no rebuild would ever take the plan again.
func TestNumbersEnd(t *testing.T) {
	b := selling(t)
	b.edit(func(c *ledger.Control) { c.Next["N1"] = sale.MaxToken - 1 })
	before, acts := b.control(), len(b.trail())
	_, err := b.SetCap(b.ctx, exam, "N1", before.Plan.Levels[0].Cap+3, ann)
	if diff := cmp.Diff(map[string]int{"raise": 3, "left": 2}, refused(t, err, operator.CodeInvalid).Numbers()); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, b.control()); diff != "" || len(b.trail()) != acts {
		t.Errorf("the refusal changed the plan (-before +after):\n%s", diff)
	}
	b.setCap("N1", before.Plan.Levels[0].Cap+2)
	if next := b.control().Next["N1"]; next != sale.MaxToken+1 {
		t.Errorf("the next number is %d", next)
	}
}

func TestCutsAndRaisesNeverReuseANumber(t *testing.T) {
	b := selling(t)
	seen := map[string]bool{}
	for _, s := range b.book("N1", 1, 3) {
		seen[s] = true
	}
	b.setCap("N1", 3)
	b.setCap("N1", 5)
	b.setCap("N1", 4)
	b.setCap("N1", 8)
	for _, s := range b.book("N1", 4, 5) {
		if seen[s] {
			t.Errorf("seat %s was given twice", s)
		}
		seen[s] = true
		var n int
		if _, err := fmt.Sscanf(s, "N1-%d", &n); err != nil || n > 3 && n <= 10 {
			t.Errorf("seat %s was cut away and is there again", s)
		}
	}
	conserved(b)
}

// Case F11: typed refusals with the numbers, and nothing changed.
func TestCapRefusals(t *testing.T) {
	b := newBench(t)
	plan := b.plan()
	seated(&plan.Levels[1])
	b.must(b.apply(plan))
	b.must(b.load(people(20)...))
	b.must(b.Open(b.ctx, exam, ann))
	b.book("N1", 1, 7)
	before, acts := b.end(), len(b.trail())
	for name, c := range map[string]struct {
		level   string
		n       int
		code    operator.Code
		numbers map[string]int
	}{
		"below the used seats": {"N1", 6, operator.CodeBelowUsed, map[string]int{"asked": 6, "used": 7, "cap": 10}},
		"total below the used": {"", 6, operator.CodeBelowUsed, map[string]int{"asked": 6, "used": 7, "cap": 15}},
		"total over the sum":   {"", 16, operator.CodeInvalid, map[string]int{"asked": 16, "levels": 15}},
		"named seats":          {"N2", 4, operator.CodeSeated, map[string]int{"cap": 5}},
		"no such level":        {"N9", 4, operator.CodeUnknownLevel, map[string]int{}},
		"negative":             {"N1", -1, operator.CodeInvalid, map[string]int{}},
		"beyond every limit":   {"N1", 1_000_001, operator.CodeInvalid, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.SetCap(b.ctx, exam, c.level, c.n, ann)
			r := refused(t, err, c.code)
			if diff := cmp.Diff(c.numbers, r.Numbers()); diff != "" {
				t.Errorf("numbers (-want +got):\n%s", diff)
			}
		})
	}
	if diff := diffEnds(before, b.end()); diff != "" {
		t.Errorf("a refusal changed something (-before +after):\n%s", diff)
	}
	if len(b.trail()) != acts {
		t.Errorf("a refusal is in the trail: %q", b.trail())
	}
	_, err := b.SetCap(b.ctx, "nowhere", "N1", 1, ann)
	refused(t, err, operator.CodeUnknownSale)
}

func TestCapIsAuditedOnceAndUnchangedIsNoAct(t *testing.T) {
	b := applied(t)
	b.setCap("N1", 12)
	b.setCap("N1", 12)
	want := []string{"total cap: 15 -> 17 (operator:ann, because)", "cap of N1: 10 -> 12 (operator:ann, because)"}
	got := b.trail()[1:]
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
}

func TestCapsCrashedAtEveryStep(t *testing.T) {
	for name, n := range map[string]int{"raise": 13, "cut": 6, "raise of several calls": 2300} {
		t.Run(name, func(t *testing.T) {
			atEveryStep(t, func(t *testing.T) *bench {
				b := selling(t)
				b.book("N1", 1, 5)
				return b
			}, func(b *bench) error { return capErr(b.SetCap(b.ctx, exam, "N1", n, ann)) }, func(b *bench) {
				conserved(b)
				// At no moment does Redis sell what the ledger's plan does not have.
				c := b.control()
				st, err := b.World.Redis.Status(b.ctx, exam, []string{"N1"})
				b.must(err)
				if st.Levels[0].Cap > max(c.Plan.Levels[0].Cap, 10) {
					t.Fatalf("cap %d in Redis, %d in the ledger", st.Levels[0].Cap, c.Plan.Levels[0].Cap)
				}
			})
		})
	}
}

// A raise that died is finished by whoever changes a cap next, and its numbers
// are not minted for the second one.
func TestNextCapChangeFinishesOneThatWasLeftOpen(t *testing.T) {
	for k := 1; ; k++ {
		b := selling(t)
		b.Faults.CrashAt(k, false)
		_, err := b.SetCap(b.ctx, exam, "N1", 14, ann)
		crashed, ops := b.Faults.Crashed()
		b.Faults.Restart()
		if !crashed {
			b.must(err)
			return
		}
		open := b.control().CapIntent != nil && b.control().CapIntent.Level == "N1"
		b.setCap("N2", 8)
		c := b.control()
		if c.CapIntent != nil {
			t.Fatalf("crash at %v: an intent is still open: %+v", ops, c.CapIntent)
		}
		if got := b.caps(); open && (got[0] != 14 || got[3] != 14) || got[1] != 8 || got[4] != 8 || got[2] != got[5] {
			t.Fatalf("crash at %v (open %v): caps %v", ops, open, got)
		}
		conserved(b)
	}
}

// What Redis lost of a raise is repeated with numbers that were never used.
func TestRaiseThatAFailoverLostIsRepeated(t *testing.T) {
	b := selling(t)
	b.setCap("N1", 12)
	if b.World.Redis.Rewind(1) != 1 {
		t.Fatal("nothing was lost")
	}
	if got := b.caps(); got[0] != 12 || got[3] != 10 {
		t.Fatalf("caps %v", got)
	}
	b.setCap("N1", 12)
	if got := b.caps(); got[0] != 12 || got[3] != 12 {
		t.Errorf("caps %v", got)
	}
	if seats := b.book("N1", 1, 12); !slices.Equal(seats[10:], []string{"N1-13", "N1-14"}) {
		t.Errorf("seats %v: the lost numbers must not come again", seats[10:])
	}
}

func TestCapIsRepeatedUntilTheReplicasHaveIt(t *testing.T) {
	b := selling(t)
	short := 2
	b.World.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "SetCap" && short > 0 {
			short--
			return admissiontest.ShortWait
		}
		return admissiontest.NoFault
	}
	if a := b.setCap("N1", 9); !a.Acknowledged {
		t.Errorf("answer %+v", a)
	}
	short = 1000
	_, err := b.SetCap(b.ctx, exam, "N1", 8, ann)
	if err == nil || !strings.Contains(err.Error(), "repeat the command") {
		t.Errorf("without replicas: %v", err)
	}
	if b.control().CapIntent == nil {
		t.Error("the intent is closed though the replicas do not have the cap")
	}
	short = 0
	b.setCap("N1", 8)
	if c := b.control(); c.CapIntent != nil || c.Plan.Levels[0].Cap != 8 {
		t.Errorf("control %+v", c)
	}
}

func TestManyCapChangesAtOnce(t *testing.T) {
	b := selling(t)
	b.book("N1", 1, 5)
	var done = make(chan error)
	gate := make(chan struct{})
	for i := range 6 {
		go func() {
			<-gate
			_, err := b.World.Store.Control(b.ctx, exam)
			if err == nil {
				_, err = b.quietDesk().SetCap(b.ctx, exam, "N1", 20+i, ann)
			}
			done <- err
		}()
	}
	close(gate)
	for range 6 {
		if err := <-done; err != nil {
			refused(t, err, operator.CodeTooManyChanges) // said so, and nothing half done
		}
	}
	b.setCap("N1", 30)
	if got := b.caps(); got[0] != 30 || got[3] != 30 || got[2] != got[5] || got[2] < 30 {
		t.Errorf("caps %v", got)
	}
	conserved(b)
	if seats := b.book("N1", 6, 25); len(slices.Compact(slices.Sorted(slices.Values(seats)))) != 25 {
		t.Errorf("seats %v", seats)
	}
}

// quietDesk tells nobody, so that goroutines share nothing of the bench.
func (b *bench) quietDesk() *operator.Desk {
	d := *b.Desk
	d.Status = b.World
	return &d
}

// TestStalledOperatorChangesNothing: an operator stalls between his intent and
// S9. Another finishes that intent and makes a newer change; then the first
// one's S9 runs, and must not bring his old cap back (found by simulation: it
// oversold against the plan).
func TestStalledOperatorChangesNothing(t *testing.T) {
	b := selling(t)
	c := b.control()
	stalled := ledger.CapIntent{Serial: c.CapSerial + 1, Level: "N1", From: 10, To: 12, First: c.Next["N1"], Actor: "operator:ben", At: ledger.Instant(b.World.Now())}
	b.edit(func(c *ledger.Control) {
		c.CapIntent, c.CapSerial = &stalled, stalled.Serial
		c.Next = map[string]int{"N1": stalled.First + 2, "N2": c.Next["N2"]}
	})
	b.setCap("N1", 11)
	a, err := b.World.Redis.SetCap(b.ctx, admission.CapChange{Sale: exam, Gen: c.Gen, Level: "N1", Cap: stalled.To, First: stalled.First, Serial: stalled.Serial})
	if err != nil || a.Outcome != admission.CapLate {
		t.Errorf("the stalled change answered %v, %v", a.Outcome, err)
	}
	if got := b.caps(); got[0] != 11 || got[3] != 11 {
		t.Errorf("caps %v", got)
	}
}

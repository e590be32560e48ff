package linear

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// rounds is how often each fault is played: HOLDFAST_TEST_SIZE says more.
func rounds() int {
	n, err := strconv.Atoi(os.Getenv("HOLDFAST_TEST_SIZE"))
	if err != nil {
		return 1
	}
	return max(1, n)
}

func play(t *testing.T, p Plan) Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	v, err := Run(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v, group commit %v, ignore %v: %d histories (%d illegal, %d undecided), %d operations %v, %d bytes lost, healed in %v",
		p.Fault, p.GroupCommit, p.Ignore, v.Histories, v.Illegal, v.Undecided, v.Ops, v.ByResult, v.LostBytes, v.Healed.Round(time.Millisecond))
	return v
}

// TestAdmissionIsLinearizable plays every fault against the promise.
func TestAdmissionIsLinearizable(t *testing.T) {
	for i, f := range []Fault{Kill, HeldLine, Hole, Zombie} {
		t.Run(f.String(), func(t *testing.T) {
			for n := range rounds() {
				v := play(t, Plan{Fault: f, Sales: 8, Clients: 4, GroupCommit: (i+n)%2 == 0, Seed: uint64(1 + n)})
				if v.Illegal > 0 || v.Undecided > 0 {
					t.Errorf("%d illegal, %d undecided:\n%s", v.Illegal, v.Undecided, table(v.Worst))
				}
				if (f == HeldLine || f == Hole) && v.ByResult["unsure"] == 0 {
					t.Error("nobody was left unsure: the line was never held")
				}
				if (f == HeldLine || f == Hole) && v.LostBytes == 0 {
					t.Error("no byte was lost")
				}
			}
		})
	}
}

// mostToothless bounds the rounds in which the checker may find nothing: what is
// lost with the primary is sold again only if somebody asks for it in time.
const mostToothless = 8

// TestTheCheckerHasTeeth ignores the replica's acknowledgement on purpose: seats
// that were promised are lost with the primary and sold again, and the checker
// has to see it.
func TestTheCheckerHasTeeth(t *testing.T) {
	for _, group := range []bool{false, true} {
		found := 0
		for seed := uint64(1); found == 0 && seed <= mostToothless; seed++ {
			found = play(t, Plan{Fault: HeldLine, Sales: 8, Clients: 4, GroupCommit: group, Ignore: true, Seed: seed}).Illegal
		}
		if found == 0 {
			t.Errorf("group commit %v: %d rounds without acknowledgement, and no history is illegal", group, mostToothless)
		}
	}
}

// table shows a history in the order of its calls.
func table(ops []Op) string {
	slices.SortFunc(ops, func(a, b Op) int { return int(a.Call - b.Call) })
	var out []byte
	for _, o := range ops {
		out = fmt.Appendf(out, "%10v %10v  client %2d  %-8s %-8s %s%s %s  -> %v %s %s %d\n", o.Call.Round(10*time.Microsecond), o.Return.Round(10*time.Microsecond),
			o.Client, [...]string{"admit", "release", "look", "count"}[o.Kind], o.Booking, o.Level, o.Seat, o.Candidate, o.Result, o.Token, o.Other, o.Used)
	}
	return string(out)
}

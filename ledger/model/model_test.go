package model

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

var tell = flag.Bool("tell", false, "print the shortest trace of every mutant")

// size is the knob of all suites: 1 is what every change runs.
func size(t *testing.T) int {
	t.Helper()
	v := os.Getenv("HOLDFAST_TEST_SIZE")
	if v == "" {
		return 1
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("HOLDFAST_TEST_SIZE is %q: set it to a number from 1", v)
	}
	return n
}

const (
	briefly = 50_000     // states of the big searches at size 1
	longer  = 2_000_000  // times the size, above 1
	most    = 50_000_000 // states that fit into a few GB: from size 10 on
)

// statesFor is how far a search goes.
func statesFor(c Config, size int) int {
	switch {
	case exhaustive[c.Name] || size >= 10:
		return most
	case size > 1:
		return longer * size
	}
	return briefly
}

// exhaustive are the searches that run to their end at size 1.
var exhaustive = map[string]bool{"P1": true, "P2": true, "P3": true, "P3r": true, "P4": true, "P5": true, "P7": true, "P12": true}

// TestProtocol: no promise is broken in any reachable state, and each of them
// heals. With HOLDFAST_TEST_SIZE the big searches grow; at 10 they run to their end.
func TestProtocol(t *testing.T) {
	for _, c := range Configs {
		t.Run(c.Name, func(t *testing.T) {
			limit := statesFor(c, size(t))
			start := time.Now()
			r := New(c, Rules{}).Search(limit)
			t.Logf("%s: %s: %d states, %d transitions, depth %d, %d remains healed (%d by the end of a dead mark), exhausted %v, %v",
				c.Name, c.Text, r.States, r.Transitions, r.Depth, r.Healed, r.Slow, r.Exhausted, time.Since(start).Round(time.Millisecond))
			if len(r.Violations) > 0 {
				t.Fatalf("a promise is broken:\n%s\nby\n%s", strings.Join(r.Violations, "\n"), strings.Join(r.Trace, "\n"))
			}
			if limit == most && !r.Exhausted {
				t.Errorf("not exhausted: %d states are not all", r.States)
			}
		})
	}
}

// TestMutants: each rule that is left out is missed.
func TestMutants(t *testing.T) { mustBreak(t, Mutants) }

func mustBreak(t *testing.T, all []Mutant) {
	t.Helper()
	for _, x := range all {
		t.Run(x.Name, func(t *testing.T) {
			r := New(ConfigNamed(x.Config), x.Rules).Search(most)
			if len(r.Violations) == 0 {
				t.Fatalf("%s is not caught in %s: %d states, exhausted %v", x.Text, x.Config, r.States, r.Exhausted)
			}
			t.Logf("%s (%s): caught after %d steps and %d states: %s", x.Text, x.Config, len(r.Trace), r.States, r.Violations[0])
			if *tell {
				t.Logf("\n%s", strings.Join(r.Trace, "\n"))
			}
		})
	}
}

// TestSpares: rules that another one makes up for. If one of these is caught the
// protocol has changed, and docs/model.md is wrong about it.
func TestSpares(t *testing.T) {
	for _, x := range Spares {
		configs := []string{x.Config}
		if size(t) > 1 {
			configs = append(configs, "P1", "P3f", "P4", "P7f", "P10", "P11")
		}
		for _, name := range configs {
			t.Run(x.Name+"/"+name, func(t *testing.T) {
				r := New(ConfigNamed(name), x.Rules).Search(most)
				if len(r.Violations) > 0 || !r.Exhausted {
					t.Fatalf("%s: %v by\n%s", x.Text, r.Violations, strings.Join(r.Trace, "\n"))
				}
				t.Logf("%s (%s): %d states, %d slow, nothing breaks", x.Text, name, r.States, r.Slow)
			})
		}
	}
}

// TestTraceEndsInTheViolation: the trace that is told is a way to the state that
// was judged, and no shorter search finds one.
func TestTraceEndsInTheViolation(t *testing.T) {
	x := Mutants[0]
	r := New(ConfigNamed(x.Config), x.Rules).Search(most)
	if len(r.Trace) != r.Depth || len(r.Trace) == 0 {
		t.Fatalf("a trace of %d steps to a state at depth %d", len(r.Trace), r.Depth)
	}
	if last := r.Trace[len(r.Trace)-1]; !strings.Contains(last, "S2") {
		t.Errorf("the reaper's undo breaks it, the trace ends with %q", last)
	}
}

// TestPackLosesNothing: every ledger that a search wrote is the same after a
// way through the production's types.
func TestPackLosesNothing(t *testing.T) {
	m := New(ConfigNamed("P4"), Rules{})
	m.Search(most)
	if len(m.writes) < 100 {
		t.Fatalf("only %d writes were asked for", len(m.writes))
	}
	for q, w := range m.writes {
		for _, p := range []packed{q.state, w.next} {
			if again := m.pack(m.unpack(p)); again != p {
				t.Fatalf("%#x became %#x", p, again)
			}
		}
	}
}

// TestHashesKeepThemApart: the set grows and forgets nothing.
func TestHashesKeepThemApart(t *testing.T) {
	s := newHashes()
	const n = 200_000
	for round, isNew := range []bool{true, false} {
		for i := range uint64(n) {
			if s.add(i*0x9e3779b97f4a7c15) != isNew {
				t.Fatalf("round %d: %d", round, i)
			}
		}
	}
}

package sim

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// firstSeed is where a run without SIM_SEED begins; every seed is as good.
const firstSeed = 1

// play plays one seed in a bubble of its own.
func play(t *testing.T, o Options) (r Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { r = Run(t.Context(), o) })
	return r
}

// setting reads a number from the environment; `make sim` sets them.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q: set it to a whole number", name, text)
	}
	return n
}

// size is HOLDFAST_TEST_SIZE: 1 is what CI runs, more digs deeper.
func size(t *testing.T) float64 {
	t.Helper()
	text := os.Getenv("HOLDFAST_TEST_SIZE")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n <= 0 {
		t.Fatalf("HOLDFAST_TEST_SIZE is %q: set it to a number above 0", text)
	}
	return n
}

// fewest sales are played in any case: fewer find nothing.
const fewest = 5

// TestSimulation plays SIM_RUNS seeds from SIM_SEED on, or as many as fit into
// 40 seconds times the size, on every core; with the race detector into 6; five at
// least, however slow the machine. One
// seed alone is shown event by event. A failing one is named with the command
// that replays it.
func TestSimulation(t *testing.T) {
	from, runs := setting(t, "SIM_SEED", firstSeed), setting(t, "SIM_RUNS", 0)
	limit := 40 * time.Second
	if raced {
		limit = 6 * time.Second
	}
	limit = time.Duration(float64(limit) * size(t))
	defer collectSeldom()()
	o := Options{}
	if runs == 1 {
		o.Lines = func(line string) { fmt.Println(line) }
		o.Log = o.Lines
	}
	sum := summary{began: time.Now(), counts: map[string]int{}}
	var next atomic.Uint64
	t.Run("seeds", func(t *testing.T) {
		for core := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(core), func(t *testing.T) {
				t.Parallel()
				for {
					n := next.Add(1) - 1
					if runs > 0 && n >= runs || runs == 0 && n >= fewest && time.Since(sum.began) >= limit {
						return
					}
					o := o
					o.Seed = from + n
					r := play(t, o)
					sum.add(r)
					if r.Err != nil {
						t.Errorf("replay with: make sim SEED=%d RUNS=1\n%v", o.Seed, r.Err)
					}
				}
			})
		}
	})
	t.Log(sum.text())
}

// summary adds results up.
type summary struct {
	mu                 sync.Mutex
	began              time.Time
	runs, steps, looks int
	worst              time.Duration
	simulated          time.Duration
	counts             map[string]int
}

func (s *summary) add(r Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	s.steps += r.Steps
	s.looks += r.Looks
	s.simulated += r.Simulated
	s.worst = max(s.worst, r.Healed)
	add := func(name string, n int) { s.counts[name] += n }
	for k, n := range r.Faults {
		add("fault "+k, n)
	}
	for k, n := range r.Troubles {
		add("trouble "+k, n)
	}
	for k, n := range r.Holds {
		add(k, n)
	}
	for k, n := range r.Bookings {
		add("bookings "+k, n)
	}
	add("bookings acknowledged", r.Acked)
	add("payments captured", r.Captured)
	add("payments refunded", r.Refunded)
	add("payments in the inbox", r.Inbox)
	if r.Table {
		add("sales on the table engine", 1)
	}
}

func (s *summary) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d sales in %v (%v simulated): %d steps, %d looks, healed after %v at most\n", s.runs, time.Since(s.began).Round(time.Millisecond),
		s.simulated.Round(time.Minute), s.steps, s.looks, s.worst.Round(time.Second))
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Fprintf(&b, "%8d %s\n", s.counts[name], name)
	}
	return b.String()
}

// The same seed makes the same run, to the last event.
func TestSameSeedSameRun(t *testing.T) {
	seeds := uint64(max(1, 6*size(t)))
	for seed := uint64(firstSeed); seed < firstSeed+seeds; seed++ {
		var logs [2][]string
		var hashes [2]uint64
		for n := range logs {
			hashes[n] = play(t, Options{Seed: seed, Lines: func(line string) { logs[n] = append(logs[n], line) }}).Hash
		}
		if hashes[0] == hashes[1] {
			continue
		}
		for i := range min(len(logs[0]), len(logs[1])) {
			if logs[0][i] != logs[1][i] {
				t.Fatalf("seed %d: two runs differ at event %d:\n%s\n%s", seed, i, logs[0][i], logs[1][i])
			}
		}
		t.Fatalf("seed %d: two runs have %d and %d events", seed, len(logs[0]), len(logs[1]))
	}
}

// Another seed makes another run.
func TestOtherSeedOtherRun(t *testing.T) {
	if a, b := play(t, Options{Seed: 1}), play(t, Options{Seed: 2}); a.Hash == b.Hash || a.Steps == b.Steps {
		t.Errorf("seeds 1 and 2 are the same run of %d steps", a.Steps)
	}
}

// caughtWithin is how many seeds each mutant may survive.
const caughtWithin = 400

// caughtFirst is where some mutants were caught first; they are tried there before
// the others, since most seeds do not come near the rule.
var caughtFirst = map[Mutant]uint64{mutantUndoFirst: 105, mutantReleaseOther: 30, mutantPromoteExpired: 31,
	mutantPromoteAnyway: 30, mutantExpiredRefuse: 15, mutantUndoUnacknowledged: 81, mutantIgnoreWait: 24, mutantExtendForEver: 30}

// TestMutants leaves each rule out in turn; without it a promise breaks, and the
// auditor has to see that.
func TestMutants(t *testing.T) {
	defer collectSeldom()()
	t.Run("all", func(t *testing.T) {
		for _, m := range Mutants() {
			t.Run(string(m), func(t *testing.T) {
				t.Parallel()
				for _, seed := range seedsFor(m) {
					if r := play(t, Options{Seed: seed, Mutant: m}); r.Err != nil {
						t.Logf("%s: caught by seed %d after %d steps", m, seed, r.Steps)
						return
					}
				}
				t.Errorf("not caught by %d seeds", caughtWithin)
			})
		}
	})
}

// seedsFor are the seeds to try, in order.
func seedsFor(m Mutant) []uint64 {
	var seeds []uint64
	if first, ok := caughtFirst[m]; ok {
		seeds = append(seeds, first)
	}
	for n := range uint64(caughtWithin) {
		seeds = append(seeds, firstSeed+n)
	}
	return seeds
}

// collectSeldom lets the heap grow: a sale lives for milliseconds, and looking for
// what it left behind costs a quarter of the time. The result undoes it.
func collectSeldom() func() {
	before := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(before) }
}

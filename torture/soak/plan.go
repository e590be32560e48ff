package main

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"
)

// proof is one command with its share of the time.
type proof struct {
	name    string
	share   time.Duration
	command []string
	env     []string
}

// round is the longest time in which each proof comes once; more time is more
// rounds, with other seeds.
const round = time.Hour

// plan divides the time: to each proof what it can make use of.
func plan(total time.Duration, seed, fuzzers int) []proof {
	rounds := max(1, int((total+round-1)/round))
	each := total / time.Duration(rounds)
	var all []proof
	for r := range rounds {
		for _, p := range once(each, seed+r, fuzzers) {
			if rounds > 1 {
				p.name = fmt.Sprintf("%s-%d", p.name, r+1)
			}
			all = append(all, p)
		}
	}
	return all
}

// once is one round of d.
func once(d time.Duration, seed, fuzzers int) []proof {
	of := func(percent int) time.Duration { return d * time.Duration(percent) / 100 }
	test := func(name string, share time.Duration, run, pkg string, env ...string) proof {
		return proof{name, share, []string{"go", "test", "-count=1", "-v", "-timeout", (3*share + patience).String(), "-run", run, pkg}, env}
	}
	// What one unit of size, one simulated sale and one round of histories take on
	// two cores.
	const (
		searchAll  = 8 * time.Minute // HOLDFAST_TEST_SIZE=10; size 1 is half a minute
		oneSale    = 60 * time.Millisecond
		allFaults  = 15 * time.Second
		comeToRest = 30 * time.Second
	)
	size := 1
	if of(20) >= searchAll {
		size = 10
	}
	rehearsal := []string{"go", "run", "./localstack", "rehearse"}
	if of(10) < 3*time.Minute { // the whole of it takes that
		rehearsal = append(rehearsal, "--roster", "1500", "--rate", "100")
	}
	return []proof{
		test("model", of(20), ".", "./ledger/model", fmt.Sprintf("HOLDFAST_TEST_SIZE=%d", size)),
		test("sim", of(25), "TestSimulation", "./sim", fmt.Sprintf("SIM_SEED=%d", 1+1_000_000*seed), fmt.Sprintf("SIM_RUNS=%d", max(20, int(of(25)/oneSale)))),
		{"torture", of(20), []string{"go", "run", "./torture", "-duration", max(of(20)-comeToRest, 20*time.Second).String(), "-seed", fmt.Sprint(seed)}, nil},
		test("linearizability", of(15), ".", "./torture/linear", fmt.Sprintf("HOLDFAST_TEST_SIZE=%d", max(1, int(of(15)/allFaults)))),
		{"fuzz", of(10), []string{"make", "fuzz", fmt.Sprintf("FUZZTIME=%v", max(of(10)/time.Duration(max(fuzzers, 1)), time.Second))}, nil},
		{"rehearsal", of(10), rehearsal, nil},
	}
}

var fuzzer = regexp.MustCompile(`(?m)^func Fuzz\w*\(`)

// countFuzzers counts the fuzzers of the module, which share their time.
func countFuzzers(root string) (n int, err error) {
	tree := os.DirFS(root)
	err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(tree, path)
		n += len(fuzzer.FindAll(source, -1))
		return err
	})
	return n, err
}

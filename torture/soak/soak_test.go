package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSoakTellsWhatFailed: one failure fails the soak, and stops nothing.
func TestSoakTellsWhatFailed(t *testing.T) {
	sh := func(name, script string) proof {
		return proof{name: name, command: []string{"sh", "-c", script}, env: []string{"WORD=said"}}
	}
	var out strings.Builder
	folder := filepath.Join(t.TempDir(), "report")
	failed, err := soak(t.Context(), folder, []proof{sh("one", "echo $WORD"), sh("two", "exit 3"), sh("three", "true")}, &out)
	if err != nil || failed != 1 || !strings.HasSuffix(out.String(), "\n2 passed, 1 failed\n") || !strings.Contains(out.String(), "FAIL  two") {
		t.Errorf("%d failed, %v:\n%s", failed, err, out.String())
	}
	if log, err := os.ReadFile(filepath.Join(folder, "one.log")); err != nil || string(log) != "said\n" {
		t.Errorf("the log has %q, %v", log, err)
	}
}

// TestPlanTakesTheTimeItIsGiven: every proof has its share of every round, and no
// two rounds the same seed.
func TestPlanTakesTheTimeItIsGiven(t *testing.T) {
	for total, rounds := range map[time.Duration]int{5 * time.Minute: 1, time.Hour: 1, 8 * time.Hour: 8, 90 * time.Minute: 2} {
		var sum time.Duration
		names, lines := map[string]bool{}, map[string]bool{}
		for _, p := range plan(total, 1, 10) {
			sum += p.share
			names[p.name] = true
			if strings.HasPrefix(p.name, "sim") || strings.HasPrefix(p.name, "torture") {
				lines[strings.Join(append(p.command, p.env...), " ")] = true
			}
		}
		if sum < total*99/100 || sum > total || len(names) != 6*rounds || len(lines) != 2*rounds {
			t.Errorf("%v: %v in %d proofs, %d seeds", total, sum, len(names), len(lines))
		}
	}
}

// TestEveryFuzzerIsCounted finds those of this module.
func TestEveryFuzzerIsCounted(t *testing.T) {
	if n, err := countFuzzers("../.."); err != nil || n < 5 {
		t.Errorf("%d fuzzers, %v", n, err)
	}
}

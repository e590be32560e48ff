package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFuzzersFailForInputsOnly: fuzzing goes on when a fuzzer's time was up in the
// wrong moment, and ends with what was found.
func TestFuzzersFailForInputsOnly(t *testing.T) {
	script, err := filepath.Abs("fuzz.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		says string // what the fuzzer prints when it fails
		ok   bool
	}{
		"nothing found":       {"", true},
		"its time was up":     {"fuzz: elapsed: 2s, execs: 269 (132/sec)\n--- FAIL: FuzzIt (2.04s)\n    context deadline exceeded\nFAIL\n", true},
		"an input fails":      {"--- FAIL: FuzzIt (0.20s)\n    --- FAIL: FuzzIt (0.00s)\n        it_test.go:9: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzIt/0a\nFAIL\n", false},
		"a kept input fails":  {"--- FAIL: FuzzIt (0.01s)\n    --- FAIL: FuzzIt/0a (0.00s)\n        it_test.go:9: context deadline exceeded\nFAIL\n", false},
		"it does not compile": {"it_test.go:9: undefined: It\nFAIL\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"it_test.go": "func FuzzIt(f *testing.F) {\nfunc FuzzLast(f *testing.F) {\n",
				"says":       c.says,
				"go":         "#!/bin/sh\ncase \"$*\" in *FuzzIt*) cat says; [ ! -s says ] ;; esac\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), script, "1s")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GO=./go")
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.ok || !strings.Contains(string(out), "== . FuzzIt") || strings.Contains(string(out), "== . FuzzLast") != c.ok {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestTheStoryOfASeat plays the README's story of a named seat as a reader would,
// against everything that `make run` starts: the seat is held, lost to its
// deadline, and bought by somebody else.
func TestTheStoryOfASeat(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)TestTheStoryOfASeat.*?```sh\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no story")
	}
	town := newTown(t, townOptions{})
	if err := town.openGala(t.Context(), &logWriter{t: t}); err != nil {
		t.Fatal(err)
	}
	story := strings.Replace(string(block[1]), "http://127.0.0.1:8080", town.public, 1)
	if !strings.Contains(story, town.public) {
		t.Fatal("the story begins with another address")
	}
	told, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", story).CombinedOutput()
	t.Logf("%s", told)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(told)), "\n")
	want := []string{`"code":"seat_taken".*"A2"`, `"held":\{"A1":\d,"A2":\d\}`, `"held":\{\}`, `"code":"hold_gone"`, `"held":\{\},"sold":\["A1","A2"\]`}
	if len(lines) != len(want) {
		t.Fatalf("%d answers, want %d", len(lines), len(want))
	}
	for i, pattern := range want {
		if !regexp.MustCompile(pattern).MatchString(lines[i]) {
			t.Errorf("answer %d: %s\nwant %s", i+1, lines[i], pattern)
		}
	}
}

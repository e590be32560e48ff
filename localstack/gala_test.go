package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// slower is what the story's seconds become: a busy machine may need more of them
// from the hold to the map that shows it.
var slower = strings.NewReplacer(`seconds\":8`, `seconds\":20`, "sleep 9", "sleep 21")

// TestTheStoryOfASeat plays the README's story of a named seat as a reader would,
// against everything that `make run` starts: the seat is held, lost to its
// deadline, and bought by somebody else. Who is told to come again, because a
// replica was slow for a moment, does.
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
	front := newBalancer(t)
	front.through = comingAgain{}
	town := newTown(t, townOptions{front: front.URL})
	front.to(t, "http://"+town.env["HOLDFAST_LISTEN"])
	if err := town.openGala(t.Context(), &logWriter{t: t}); err != nil {
		t.Fatal(err)
	}
	story := strings.Replace(slower.Replace(string(block[1])), "http://127.0.0.1:8080", town.public, 1)
	if !strings.Contains(story, town.public) || !strings.Contains(story, `seconds\":20`) || !strings.Contains(story, "sleep 21") {
		t.Fatal("the story has another address, or other times")
	}
	told, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", story).CombinedOutput()
	t.Logf("%s", told)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(told)), "\n")
	want := []string{`"code":"seat_taken".*"A2"`, `"held":\{"A1":\d+,"A2":\d+\}`, `"held":\{\}`, `"code":"hold_gone"`, `"held":\{\},"sold":\["A1","A2"\]`}
	if len(lines) != len(want) {
		t.Fatalf("%d answers, want %d", len(lines), len(want))
	}
	for i, pattern := range want {
		if !regexp.MustCompile(pattern).MatchString(lines[i]) {
			t.Errorf("answer %d: %s\nwant %s", i+1, lines[i], pattern)
		}
	}
}

// comingAgain repeats what was answered 503: nothing was kept of that.
type comingAgain struct{}

// RoundTrip implements http.RoundTripper.
func (comingAgain) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		next := r.Clone(r.Context())
		next.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := http.DefaultTransport.RoundTrip(next)
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
			return resp, err
		}
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
		select {
		case <-again.C:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

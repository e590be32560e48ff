package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMedianAndQuantiles(t *testing.T) {
	list := []float64{5, 1, 4, 2, 3}
	if m := median(list); m != 3 || list[0] != 5 {
		t.Errorf("median %v of %v", m, list)
	}
	if m := median([]float64{4, 1}); m != 1 {
		t.Errorf("of two: %v", m)
	}
	if a, b := quantile(list, 0), quantile(list, 1); a != 1 || b != 5 {
		t.Errorf("%v to %v", a, b)
	}
	if median(nil) != 0 || quantile(nil, 0.5) != 0 {
		t.Error("nothing has a median")
	}
}

func TestContestsJudgeByTheMedianOfRatios(t *testing.T) {
	var order []string
	ours := []float64{10, 30, 20}
	side := func(name string, f func() float64) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) { order = append(order, name); return f(), nil }
	}
	at := 0
	c := contest{Name: "x", Floor: 3, Aim: 5, ours: side("a", func() float64 { at++; return ours[at-1] }), other: side("b", func() float64 { return 5 })}
	r, err := c.run(t.Context(), 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ratio != 4 || r.Verdict != "floor" {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(order, ""); got != "abbaab" {
		t.Errorf("the sides ran as %s, want them interleaved and each first in turn", got)
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		contest
		ratio float64
		want  string
	}{
		{contest{Floor: 2, Aim: 5}, 5, "aim"}, {contest{Floor: 2, Aim: 5}, 2, "floor"}, {contest{Floor: 2, Aim: 5}, 1.9, "missed"},
		{contest{Floor: 5, Aim: 2, Below: true}, 2, "aim"}, {contest{Floor: 5, Aim: 2, Below: true}, 5, "floor"}, {contest{Floor: 5, Aim: 2, Below: true}, 5.1, "missed"},
		{contest{}, 0.1, "-"},
	} {
		if got := c.judge(c.ratio); got != c.want {
			t.Errorf("%+v at %v: %s, want %s", c.contest, c.ratio, got, c.want)
		}
	}
}

func TestAMissedFloorFailsTheRun(t *testing.T) {
	r := Report{Results: []Result{{Verdict: "aim"}, {Verdict: "-"}}, Races: []Race{{Name: "group commit", Verdict: "held"}, {Name: "INCR-check-DECR", Verdict: "admitted twice"}}}
	if !r.ok() {
		t.Error("nothing was missed")
	}
	for _, bad := range []string{"missed", "failed"} {
		with := r
		with.Results = append(with.Results[:2:2], Result{Verdict: bad})
		if with.ok() {
			t.Errorf("a contest that %s passed", bad)
		}
	}
	for _, unfair := range []Race{{Name: "group commit", Verdict: "overbooked"}, {Name: "INCR-check-DECR", Verdict: "held"}} {
		if (&Report{Races: []Race{unfair}}).ok() {
			t.Errorf("%+v passed", unfair)
		}
	}
}

// TestRaceSeesWhatIsWrong gives the race ways to sell that are wrong on purpose.
func TestRaceSeesWhatIsWrong(t *testing.T) {
	for want, sell := range map[string]func(left *int, has map[string]bool, c string) bool{
		"held":           func(left *int, has map[string]bool, c string) bool { return *left > 0 && !has[c] },
		"overbooked":     func(left *int, has map[string]bool, c string) bool { return !has[c] },
		"admitted twice": func(left *int, _ map[string]bool, _ string) bool { return *left > 0 },
		"left unsold":    func(left *int, has map[string]bool, c string) bool { return *left > 1 && !has[c] },
	} {
		var mu sync.Mutex
		left, has := 50, map[string]bool{}
		r, err := race(t.Context(), want, 50, func(_ context.Context, c string) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			ok := sell(&left, has, c)
			if ok {
				left--
				has[c] = true
			}
			return ok, nil
		})
		if err != nil || r.Verdict != want {
			t.Errorf("%+v, %v; want %s", r, err, want)
		}
	}
}

func TestLinkDelaysEachWay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	const each = 20 * time.Millisecond
	link, err := startLink(l.Addr().String(), each)
	if err != nil {
		t.Fatal(err)
	}
	defer link.close()
	c, err := net.Dial("tcp", link.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	begin, back := time.Now(), make([]byte, 5)
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, back); err != nil || string(back) != "hello" {
		t.Fatalf("%q, %v", back, err)
	}
	if took := time.Since(begin); took < 2*each {
		t.Errorf("there and back in %v over a link of %v each way", took, each)
	}
}

func TestHistoryGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history", "runs.jsonl")
	for range 2 {
		if err := newReport(5).append(path); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	if len(lines) != 2 {
		t.Fatalf("%d lines for 2 runs", len(lines))
	}
	var r Report
	if err := json.Unmarshal(lines[1], &r); err != nil || r.Rounds != 5 || r.Cores < 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestForeignShare(t *testing.T) {
	from, to := cpuTimes{busy: 100, own: 10, all: 1000}, cpuTimes{busy: 180, own: 40, all: 1100}
	if s := foreignShare(from, to); s != 0.5 {
		t.Errorf("%v, want (80-30)/100", s)
	}
	if s := foreignShare(to, to); s != 0 {
		t.Errorf("no time passed: %v", s)
	}
}

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAMissedCheckFailsTheRun(t *testing.T) {
	for _, c := range []struct {
		tried, count int
		want         string
	}{{100, 0, "held"}, {100, 1, "missed"}, {0, 0, "failed"}} {
		got := Check{Tried: c.tried, Count: c.count}.judged()
		if got.Verdict != c.want {
			t.Errorf("%+v, want %s", got, c.want)
		}
		r := Report{Checks: []Check{got}}
		if r.ok() != (c.want == "held") {
			t.Errorf("%+v: the run passes: %t", got, r.ok())
		}
	}
}

// A replica that is stopped and a store that lies all the same: the check has to
// see it, and must not take refusals for promises.
func TestCrowdCountsPromises(t *testing.T) {
	lies := 0
	tried, won := crowdOnce(t.Context(), 1, 200*time.Millisecond, func(context.Context, string) (bool, error) {
		if lies++; lies%2 == 0 {
			return true, nil
		}
		return false, errors.New("not acknowledged")
	})
	if tried != lies || won != lies/2 {
		t.Errorf("%d tried and %d won of %d", tried, won, lies)
	}
}

func TestCurvesTakeMediansOfRounds(t *testing.T) {
	rates := map[int][]float64{1: {10, 30, 20}, 4: {5, 7, 6}}
	at := map[int]int{}
	c, err := trace(t.Context(), "x", "sales", 3, []int{1, 4}, func(_ context.Context, n int) (Point, error) {
		at[n]++
		return Point{N: n, Rate: rates[n][at[n]-1], P99: float64(at[n])}, nil
	})
	if err != nil || len(c.Points) != 2 || c.Points[0] != (Point{N: 1, Rate: 20, P99: 2}) || c.Points[1] != (Point{N: 4, Rate: 6, P99: 2}) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := trace(t.Context(), "x", "sales", 1, []int{1}, func(context.Context, int) (Point, error) { return Point{}, errRefused }); !errors.Is(err, errRefused) {
		t.Errorf("a point that failed: %v", err)
	}
}

func TestTablesAreMarkdown(t *testing.T) {
	r := newReport(5)
	r.Results = []Result{{Name: "a / b", Ratio: 12.345, Ratios: []float64{11, 12.345, 14}, Floor: 5, Aim: 2.5, Below: true, Verdict: "missed", Ours: 82619, Other: 0.634, Unit: "µs"}}
	r.Curves = []Curve{{Name: "c", Of: "sales", Points: []Point{{N: 4, Rate: 1234567}}}}
	r.Checks = []Check{{Name: "never", Tried: 7, Verdict: "held"}}
	var out strings.Builder
	r.print(&out)
	for _, want := range []string{
		"| a / b | 12.3 | 11 to 14 | ≤ 5 | ≤ 2.5 | missed | 82,600 | 0.634 | µs | 0 % | 0 |\n",
		"| sales: 4 | 1,230,000 | 0 | 0 | 0 |\n", "| never | 7 | 0 | held |\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

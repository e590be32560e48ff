package load

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestProfile(t *testing.T) {
	for text, want := range map[string]struct {
		requests int
		length   time.Duration
		peak     float64
	}{
		"833x60s":                    {49_980, time.Minute, 833},
		"0..8330x6s":                 {24_990, 6 * time.Second, 8330},
		"100x10s, 100..833x30s,0x5s": {14_995, 45 * time.Second, 833},
	} {
		p, err := ParseProfile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p.Requests() != want.requests || p.Length() != want.length || p.Peak() != want.peak {
			t.Errorf("%s: %d requests in %v, peak %v", text, p.Requests(), p.Length(), p.Peak())
		}
		again, err := ParseProfile(p.String())
		if err != nil || !slices.Equal(again, p) {
			t.Errorf("%s: written as %s, %v", text, p, err)
		}
	}
	for _, bad := range []string{"", "833", "x60s", "833x", "-1x5s", "1x-5s", "1..x5s", "NaNx5s", "Infx1s", "1x5s,"} {
		if p, err := ParseProfile(bad); err == nil {
			t.Errorf("%q is %v", bad, p)
		}
	}
}

// TestDueFollowsTheRate: within any part of a step as many requests are due as
// the rate says, in order, and none before the beginning or after the end.
func TestDueFollowsTheRate(t *testing.T) {
	p := Profile{{From: 100, To: 100, For: time.Second}, {From: 0, To: 1000, For: 2 * time.Second}, {From: 1000, To: 200, For: time.Second}}
	last := time.Duration(0)
	var firstHalf int // of the ramp up: a quarter of its 1,000
	for i := range p.Requests() {
		due := p.Due(i)
		if due < last || due > p.Length() {
			t.Fatalf("request %d is due at %v after %v", i, due, last)
		}
		if last = due; due >= time.Second && due < 2*time.Second {
			firstHalf++
		}
	}
	if firstHalf < 240 || firstHalf > 260 {
		t.Errorf("%d in the first half of the ramp, want 250", firstHalf)
	}
}

func TestShares(t *testing.T) {
	m, err := ParseMix("same-key=10%,bot=0.05")
	if err != nil || m.SameKey != .1 || m.Honeypot != .05 || m.OtherKey != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if again, err := ParseMix(DefaultMix.String()); err != nil || again != DefaultMix {
		t.Errorf("%+v, %v", again, err)
	}
	if m, err := ParseMix("none"); err != nil || m != (Mix{}) || m.String() != "none" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, bad := range []string{"same-key", "friend=5%", "bot=101%", "bot=-1%", "bot=x", "same-key=60%,bot=60%"} {
		if m, err := ParseMix(bad); err == nil {
			t.Errorf("%q is %+v", bad, m)
		}
	}
	if p, err := ParsePaying("none"); err != nil || p.Abandon != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := ParsePaying("late=50%,fail=1%"); err != nil || p.Late != .5 || p.Fail != .01 || p.Abandon != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestHistogram compares quantiles with those of all values, sorted.
func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var h, half Histogram
	all := make([]time.Duration, 20_000)
	for i := range all {
		all[i] = time.Duration(rng.ExpFloat64() * float64(20*time.Millisecond))
		if i%2 == 0 {
			h.Add(all[i])
		} else {
			half.Add(all[i])
		}
	}
	h.Merge(&half)
	slices.Sort(all)
	for _, q := range []float64{0, .5, .9, .99, .999, 1} {
		want, got := all[min(int(q*float64(len(all))), len(all)-1)], h.Quantile(q)
		if got < want-time.Microsecond || float64(got) > float64(want)*(1+1.0/fine)+2000 {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if h.Count() != len(all) || (&Histogram{}).Quantile(.5) != 0 {
		t.Errorf("%d counted", h.Count())
	}
	h.Add(24 * time.Hour) // beyond the last slot
	if got := h.Quantile(1); got != 24*time.Hour && got < 30*time.Minute {
		t.Errorf("the longest is %v", got)
	}
}

// TestPace lets the wished number through, and saves nothing up.
func TestPace(t *testing.T) {
	p := pace{every: 100 * time.Millisecond}
	now := time.Unix(0, 0)
	var waits []time.Duration
	for range 3 {
		waits = append(waits, p.wait(now))
	}
	if !slices.Equal(waits, []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond}) {
		t.Errorf("%v", waits)
	}
	if w := p.wait(now.Add(time.Hour)); w != 0 {
		t.Errorf("after an hour %v", w)
	}
	if w := p.wait(now.Add(time.Hour)); w != 100*time.Millisecond {
		t.Errorf("then %v", w)
	}
}

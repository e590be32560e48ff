package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheBillGrowsWithWhatIsSold(t *testing.T) {
	one, two := defaults, defaults
	two.Bookings = 2 * one.Bookings
	if a, b := sum(usage(one)), sum(usage(two)); b < 1.999*a || b > 2.001*a {
		t.Errorf("twice the bookings cost %.2f after %.2f", b, a)
	}
	if small, large := sum(idle(sizes["small"])), sum(idle(sizes["large"])); small >= large {
		t.Errorf("small costs %.2f, large %.2f", small, large)
	}
}

func TestALimitIsNamedBeforeItIsReached(t *testing.T) {
	in := defaults
	for _, c := range []struct {
		rate float64
		want string
	}{{1000, "ok"}, {15000, "tight"}, {30000, "TOO LITTLE"}} {
		in.Rate, in.RedisMicros = c.rate, 50
		if got := limits(in)[0].verdict(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%.0f requests/s on a thread of 20,000: %q, want %s", c.rate, got, c.want)
		}
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	for _, args := range [][]string{{"-size", "huge"}, {"-rate", "0"}, {"-bookings", "-1"}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

func sum(lines []cost) (usd float64) {
	for _, l := range lines {
		usd += l.usd
	}
	return usd
}

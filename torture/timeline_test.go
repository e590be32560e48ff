package main

import (
	"testing"
	"time"
)

func TestSilence(t *testing.T) {
	s := func(n int) time.Duration { return time.Duration(n) * time.Second }
	answers := []answer{{s(1), 201}, {s(2), 201}, {s(4), 503}, {s(9), 201}, {s(10), 201}, {s(30), 201}}
	for name, c := range map[string]struct {
		b    blow
		want time.Duration
		ok   bool
	}{
		"the gap after the blow":           {blow{At: s(3), Over: s(5)}, s(6), true},
		"a blow that nobody noticed":       {blow{At: s(9), Over: s(9)}, s(1), true},
		"a gap that began while it lasted": {blow{At: s(9), Over: s(11)}, s(20), true},
		"nothing came any more":            {blow{At: s(31), Over: s(32)}, 0, false},
	} {
		if got, ok := silence(c.b, answers); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v; want %v, %v", name, got, ok, c.want, c.ok)
		}
	}
}

func TestUnavailableShare(t *testing.T) {
	answers := []answer{{1, 201}, {2, 503}, {3, noAnswer}, {4, 409}, {9, 503}}
	share, n := unavailableShare([]blow{{At: 2, Over: 5, Failovers: 1}, {At: 8, Over: 10}}, answers)
	if n != 3 || share < .66 || share > .67 {
		t.Errorf("%v of %d, want two thirds of 3", share, n)
	}
}

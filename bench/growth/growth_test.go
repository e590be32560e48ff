package main

import (
	"io"
	"testing"
)

// TestGrowthIsNearLinear does everything to a small sale and to one eight times
// as large. What a busy machine can't falsify must grow no faster than the sale:
// calls to the table and commands of Redis. A rebuild waits for ten seconds by
// design and is left to the command.
func TestGrowthIsNearLinear(t *testing.T) {
	small, large := 300, 2400
	var runs [2]measured
	for i, n := range []int{small, large} {
		m, err := measure(t.Context(), n, io.Discard, "rebuild")
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = m
	}
	const slack = 1.15 // as an exponent: eight times the sale is at most 11 times the work
	for i, c := range runs[0].costs {
		d := runs[1].costs[i]
		t.Logf("%-8s %5d -> %6d calls, %5d -> %6d commands, %v -> %v", c.act, c.calls, d.calls, c.commands, d.commands, about(c.took), about(d.took))
		if x := exponent(small, large, float64(c.calls), float64(d.calls)); x > slack {
			t.Errorf("%s: calls to the table grow as size^%.2f", c.act, x)
		}
		if x := exponent(small, large, float64(c.commands), float64(d.commands)); x > slack {
			t.Errorf("%s: commands of Redis grow as size^%.2f", c.act, x)
		}
	}
}

func TestExponent(t *testing.T) {
	for want, after := range map[float64]float64{0: 5, 1: 50, 2: 500} {
		if got := exponent(10, 100, 5, after); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%v: %v", want, got)
		}
	}
}

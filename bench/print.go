package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// print writes the tables as docs/benchmarks.md has them.
func (r *Report) print(out io.Writer) {
	fmt.Fprintf(out, "%s, %s, %d cores, %s, %d rounds.\n", r.At, r.CPU, r.Cores, r.Go, r.Rounds)
	table(out, r.Results, []string{"contest", "median ratio", "lowest to highest", "floor", "aim", "reached", "ours", "other", "unit", "foreign CPU", "503s"}, func(c Result) []string {
		return []string{c.Name, short(c.Ratio), short(quantile(c.Ratios, 0)) + " to " + short(quantile(c.Ratios, 1)), c.goal(c.Floor), c.goal(c.Aim),
			c.Verdict, short(c.Ours), short(c.Other), c.Unit, fmt.Sprintf("%.0f %%", 100*c.Foreign), strconv.FormatInt(c.Stalls, 10)}
	})
	for _, c := range r.Curves {
		table(out, c.Points, []string{c.Name, "per second", "admissions per acknowledgement", "p50 ms", "p99 ms"}, func(p Point) []string {
			return []string{fmt.Sprintf("%s: %d", c.Of, p.N), short(p.Rate), short(p.Batch), short(p.P50), short(p.P99)}
		})
	}
	table(out, r.Races, []string{"race: 300 candidates in 3 tabs each for 50 seats", "sold", "twice", "unsold", "verdict"}, func(c Race) []string {
		return []string{c.Name, strconv.Itoa(c.Sold), strconv.Itoa(c.Twice), strconv.Itoa(c.Unsold), c.Verdict}
	})
	table(out, r.Checks, []string{"must never happen", "tried", "happened", "verdict"}, func(c Check) []string {
		return []string{c.Name, strconv.Itoa(c.Tried), strconv.Itoa(c.Count), c.Verdict}
	})
}

// table is nothing at all without rows.
func table[T any](out io.Writer, list []T, head []string, cells func(T) []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out)
	row(out, head...)
	row(out, slices.Repeat([]string{"---"}, len(head))...)
	for _, v := range list {
		row(out, cells(v)...)
	}
}

func row(out io.Writer, cells ...string) {
	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}

// goal is a floor or an aim; none is empty.
func (r Result) goal(g float64) string {
	switch {
	case r.Floor == 0 && r.Aim == 0:
		return ""
	case r.Below:
		return "≤ " + strconv.FormatFloat(g, 'g', -1, 64)
	}
	return "≥ " + strconv.FormatFloat(g, 'g', -1, 64)
}

// short is a figure with three digits that count, thousands apart.
func short(f float64) string {
	if f < 999.5 { // beyond, three digits would be written with an exponent
		return strconv.FormatFloat(f, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(f, 'f', 0, 64)
	digits = digits[:3] + strings.Repeat("0", len(digits)-3)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

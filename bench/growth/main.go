package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// seatShare is how many candidates there are for one seat.
const seatShare = 5

func main() {
	sizes := flag.String("sizes", "10000,100000", "candidates, each size in turn; every fifth has a booking; up to 1000000")
	without := flag.String("without", "", "acts to leave out, by name: rebuild,export")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *sizes, *without, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, list, without string, out io.Writer) error {
	var runs []measured
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 2*seatShare || n > 1_000_000 {
			return fmt.Errorf("-sizes: %q is not a number of candidates from %d to 1000000", text, 2*seatShare)
		}
		m, err := measure(ctx, n, out, strings.Split(without, ",")...)
		if err != nil {
			return fmt.Errorf("at %d candidates: %w", n, err)
		}
		runs = append(runs, m)
	}
	show(out, runs)
	showWeights(out, runs)
	return nil
}

// show prints the table, as Markdown: for each act its cost at each size, and the
// exponent between the sizes: 1 is linear, 2 quadratic, 0 constant.
func show(out io.Writer, runs []measured) {
	for _, column := range []struct {
		title string
		of    func(cost) float64
		text  func(float64) string
	}{
		{"seconds", func(c cost) float64 { return c.took.Seconds() }, hundredths},
		{"processor seconds of the process", func(c cost) float64 { return c.cpu.own.Seconds() }, hundredths},
		{"of these the collector's", func(c cost) float64 { return c.cpu.gc.Seconds() }, hundredths},
		{"processor seconds of the primary", func(c cost) float64 { return c.cpu.redis.Seconds() }, hundredths},
		{"calls to the table", func(c cost) float64 { return float64(c.calls) }, whole},
		{"commands of Redis", func(c cost) float64 { return float64(c.commands) }, whole},
		{"allocated at once, MB", func(c cost) float64 { return c.peakMB }, func(v float64) string { return fmt.Sprintf("%.0f", v) }},
	} {
		fmt.Fprintf(out, "\n| %s |", column.title)
		for _, r := range runs {
			fmt.Fprintf(out, " %d candidates, %d bookings |", r.candidates, r.candidates/seatShare)
		}
		fmt.Fprintf(out, " exponents |\n|---|%s---|\n", strings.Repeat("--:|", len(runs)))
		for i, c := range runs[0].costs {
			fmt.Fprintf(out, "| %s |", c.act)
			var exponents []string
			for k, r := range runs {
				fmt.Fprintf(out, " %s |", column.text(column.of(r.costs[i])))
				if k > 0 {
					exponents = append(exponents, fmt.Sprintf("%.2f", exponent(runs[k-1].candidates, r.candidates, column.of(runs[k-1].costs[i]), column.of(r.costs[i]))))
				}
			}
			fmt.Fprintf(out, " %s |\n", strings.Join(exponents, ", "))
		}
	}
}

// exponent is x of cost ~ size^x between two sizes.
func exponent(small, large int, before, after float64) float64 {
	if before <= 0 || after <= 0 {
		return 0
	}
	return math.Log(after/before) / math.Log(float64(large)/float64(small))
}

func hundredths(v float64) string { return fmt.Sprintf("%.2f", v) }

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

// about rounds for progress lines.
func about(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

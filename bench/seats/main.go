// Command seats measures named seats side by side with the well-known sketch of a
// seat lock: one SET NX EX for each seat, a set of reserved seats, a TTL and a GET
// for each seat of the map, and with PostgreSQL's SELECT … FOR UPDATE. Each round
// runs all of them; the ratios are medians over the rounds. Run it from the root
// of the project.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rounds := flag.Int("rounds", 5, "rounds of each contest")
	length := flag.Duration("for", 2*time.Second, "length of one measurement")
	sql := flag.Bool("postgres", true, "PostgreSQL too, which must be installed")
	flag.Parse()
	if err := run(ctx, os.Stdout, *rounds, *length, *sql); err != nil {
		fmt.Fprintln(os.Stderr, "bench/seats:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, out io.Writer, rounds int, length time.Duration, sql bool) (err error) {
	g, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	contests := []contest{
		{"group holds per second, low contention", map[string]measure{"holdfast": g.ours(1000), "sketch": g.sketch(1000)}},
		{"group holds per second, 40 seats", map[string]measure{"holdfast": g.ours(40), "sketch": g.sketch(40)}},
		{"reads per second of a map of 20,700 seats, 5,000 held", map[string]measure{"holdfast": g.ourMap, "sketch": g.sketchMap}},
	}
	if sql {
		pg, err := openPostgres(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pg.close()) }()
		contests[0].ways["postgres"], contests[1].ways["postgres"] = pg.holds(1000), pg.holds(40)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tway\tmedian\tholdfast is\twrong")
	for _, c := range contests {
		if err := c.run(ctx, w, rounds, length); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return g.watch(ctx, out)
}

// measure runs one way for a time; rate is per second, wrong says what was seen
// that must not be.
type measure func(ctx context.Context, length time.Duration) (rate float64, wrong faults, err error)

// faults counts what probes saw.
type faults struct{ half, double, leaked, deadlocks int }

func (f faults) String() string {
	if f == (faults{}) {
		return "nothing"
	}
	return fmt.Sprintf("half groups %d, two owners %d, leaked %d, deadlocks %d", f.half, f.double, f.leaked, f.deadlocks)
}

type contest struct {
	name string
	ways map[string]measure
}

// run interleaves the ways, so that a busy moment of the machine hits all.
func (c contest) run(ctx context.Context, out io.Writer, rounds int, length time.Duration) error {
	rates, wrong := map[string][]float64{}, map[string]faults{}
	names := []string{"holdfast", "sketch", "postgres"}
	for range rounds {
		for _, name := range names {
			if c.ways[name] == nil {
				continue
			}
			rate, f, err := c.ways[name](ctx, length)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", c.name, name, err)
			}
			sum := wrong[name]
			wrong[name] = faults{sum.half + f.half, sum.double + f.double, sum.leaked + f.leaked, sum.deadlocks + f.deadlocks}
			rates[name] = append(rates[name], rate)
		}
	}
	for _, name := range names {
		if c.ways[name] == nil {
			continue
		}
		ratios := make([]float64, rounds)
		for i := range ratios {
			ratios[i] = rates["holdfast"][i] / rates[name][i]
		}
		fmt.Fprintf(out, "%s\t%s\t%.0f\t%.2f x\t%s\n", c.name, name, median(rates[name]), median(ratios), wrong[name])
	}
	return nil
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

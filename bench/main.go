package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rounds := flag.Int("rounds", 5, "rounds of each contest, at least 5 for a result worth keeping")
	only := flag.String("only", "", "run only the contests and races whose name has this word")
	history := flag.String("history", "bench/history/runs.jsonl", "append the run to this file; empty: don't")
	rest := flag.Duration("rest", 0, "pause after each round, for a machine that others use, too")
	flag.Parse()
	ok, err := run(ctx, os.Stdout, plan{*rounds, *rest, *only, *history})
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// plan is what the flags ask for.
type plan struct {
	rounds        int
	rest          time.Duration
	only, history string
}

// run measures everything and says whether no floor was missed.
func run(ctx context.Context, out io.Writer, p plan) (ok bool, err error) {
	g, err := openGround(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	pg, err := openPostgres(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, pg.close()) }()
	web, err := openWeb(ctx, g)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, web.close()) }()

	report := newReport(p.rounds)
	contests := append(append(g.redisContests(), pg.contests(g)...), web.contests()...)
	for _, c := range contests {
		if !strings.Contains(c.Name, p.only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", c.Name)
		r, err := c.run(ctx, p.rounds, p.rest)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil { // the others are still worth knowing
			fmt.Fprintln(os.Stderr, err)
			r.Verdict, r.Fault = "failed", err.Error()
		}
		report.Results = append(report.Results, r)
	}
	if strings.Contains("races", p.only) {
		if report.Races, err = races(ctx, g, pg); err != nil {
			return false, err
		}
	}
	report.print(out)
	if p.history != "" && p.only == "" {
		err = report.append(p.history)
	}
	return report.ok(), err
}

func races(ctx context.Context, g *ground, pg *postgres) ([]Race, error) {
	list, err := g.redisRaces(ctx)
	if err != nil {
		return nil, err
	}
	more, err := pg.races(ctx)
	return append(list, more...), err
}

// print writes the tables.
func (r *Report) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, %d cores, %d rounds, %s\n\n", r.CPU, r.Cores, r.Rounds, r.At)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "contest\tratio\tspread\tfloor\taim\treached\tours\tother\tunit\tforeign CPU\t503s")
	for _, c := range r.Results {
		fmt.Fprintf(t, "%s\t%.4g\t%.3g-%.3g\t%g\t%g\t%s\t%.4g\t%.4g\t%s\t%.0f %%\t%d\n",
			c.Name, c.Ratio, quantile(c.Ratios, 0), quantile(c.Ratios, 1), c.Floor, c.Aim, c.Verdict, c.Ours, c.Other, c.Unit, 100*c.Foreign, c.Stalls)
	}
	fmt.Fprintln(t, "\nrace for few seats\tseats\tsold\ttwice\tunsold\tverdict")
	for _, c := range r.Races {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s\n", c.Name, c.Seats, c.Sold, c.Twice, c.Unsold, c.Verdict)
	}
	_ = t.Flush() // a terminal that is gone is nobody's loss
}

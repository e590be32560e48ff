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
	"strings"
	"time"

	"github.com/holdfast/holdfast/wiring"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	wiring.RelaxGC() // as an ingress is run; both sides of a contest have it
	if what := os.Getenv(childEnv); what != "" {
		if err := runChild(ctx, what, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench: ingress:", err)
			os.Exit(2)
		}
		return
	}
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
	town, err := openTown(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, town.close()) }()

	report := newReport(p.rounds)
	contests := slices.Concat(g.redisContests(), g.gateContests(), pg.contests(g), web.contests(town), []contest{drainContest()})
	if err := report.hold(ctx, contests, p); err != nil {
		return false, err
	}
	if p.wants("curves") {
		if err := report.trace(ctx, g, web, p.rounds); err != nil {
			return false, err
		}
	}
	if p.wants("races") {
		if report.Races, err = races(ctx, g, pg); err != nil {
			return false, err
		}
		if report.Checks, err = checks(ctx, g); err != nil {
			return false, err
		}
	}
	report.print(out)
	if p.history != "" && p.only == "" {
		err = report.append(p.history)
	}
	return report.ok(), err
}

func (p plan) wants(name string) bool { return strings.Contains(name, p.only) }

// hold holds the contests that are wanted, one after the other.
func (r *Report) hold(ctx context.Context, contests []contest, p plan) error {
	for _, c := range contests {
		if !p.wants(c.Name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", c.Name)
		result, err := c.run(ctx, p.rounds, p.rest)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the others are still worth knowing
			fmt.Fprintln(os.Stderr, err)
			result.Verdict, result.Fault = "failed", err.Error()
		}
		r.Results = append(r.Results, result)
	}
	return nil
}

// trace draws the curves.
func (r *Report) trace(ctx context.Context, g *ground, web *web, rounds int) error {
	fmt.Fprintln(os.Stderr, "curves ...")
	for _, draw := range []func(context.Context, int) (Curve, error){web.processCurve, g.salesCurve} {
		c, err := draw(ctx, min(rounds, 3))
		if err != nil {
			return err
		}
		r.Curves = append(r.Curves, c)
	}
	return nil
}

func races(ctx context.Context, g *ground, pg *postgres) ([]Race, error) {
	list, err := g.redisRaces(ctx)
	if err != nil {
		return nil, err
	}
	more, err := pg.races(ctx)
	return append(list, more...), err
}

func checks(ctx context.Context, g *ground) ([]Check, error) {
	var list []Check
	for _, check := range []func(context.Context) (Check, error){g.falseAcknowledgements, g.leftBehind} {
		c, err := check(ctx)
		if err != nil {
			return list, err
		}
		list = append(list, c)
	}
	return list, nil
}

// Command capacity prints what a deployment costs and how far it goes, for the
// numbers that it is given. docs/capacity.md explains the model and where its
// figures come from.
//
//	go run ./cmd/capacity -bookings 1e6 -attempts 5 -rate 2000 -size large
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "capacity:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	in := defaults
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	flags.Float64Var(&in.Bookings, "bookings", in.Bookings, "paid bookings in a month")
	flags.Float64Var(&in.Attempts, "attempts", in.Attempts, "booking requests for each of them")
	flags.Float64Var(&in.Polls, "polls", in.Polls, "requests of pages and status for each of them")
	flags.Float64Var(&in.Rate, "rate", in.Rate, "booking requests in the busiest second")
	flags.Float64Var(&in.Winners, "winners", in.Winners, "bookings that the busiest second admits")
	flags.Float64Var(&in.RedisMicros, "redis-us", in.RedisMicros, "microseconds of Redis's thread for one admission; measure yours")
	size := flags.String("size", "large", "small or large")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, ok := sizes[*size]
	if !ok {
		return fmt.Errorf("there is no size %q: choose small or large", *size)
	}
	if err := in.check(); err != nil {
		return err
	}
	report(out, in, s)
	return nil
}

func report(out io.Writer, in input, s size) {
	fmt.Fprintf(out, "per month, whether anything is sold or not (%s)\n", s.name)
	printLines(out, idle(s))
	fmt.Fprintf(out, "\nfor %.0f bookings\n", in.Bookings)
	printLines(out, usage(in))
	fmt.Fprintf(out, "\nthe busiest second: %.0f requests, %.0f admitted\n", in.Rate, in.Winners)
	for _, l := range limits(in) {
		fmt.Fprintf(out, "  %-36s %8.0f of %8.0f %-14s %s\n", l.part, l.need, l.have, l.unit, l.verdict())
	}
}

func printLines(out io.Writer, lines []cost) {
	var sum float64
	for _, l := range lines {
		fmt.Fprintf(out, "  %-52s %10.2f USD\n", l.what, l.usd)
		sum += l.usd
	}
	fmt.Fprintf(out, "  %-52s %10.2f USD\n", "together", sum)
}

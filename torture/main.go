// Command torture breaks a whole Holdfast on purpose, on real parts, while a
// crowd books, and finds every promise kept, or says which one was not:
//
//	go run ./torture --duration 60s --rate 80 --report torture-report
//
// It starts a Redis primary and replica under Sentinel, the local cloud's queue
// and table with faults, the sandbox gateway, two ingresses, two workers and a
// reaper. A seeded nemesis kills and freezes them, flushes scripts, exhausts the
// memory. The caps are probed from outside all the time. It exits with 0 only if
// every check of the verdict holds. torture/linear is the second half of the
// proof: histories under failovers, checked for linearizability.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/cli"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "holdfast" {
		os.Exit(cli.Main(os.Args[2:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	var p plan
	flag.DurationVar(&p.duration, "duration", time.Minute, "how long the crowd comes and things break")
	flag.Float64Var(&p.rate, "rate", 60, "booking requests per second, open loop")
	flag.Uint64Var(&p.seed, "seed", 1, "of crowd, blows and faults")
	flag.StringVar(&p.report, "report", "torture-report", "folder for report.json and timeline.svg")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	goredis.SetLogger(mute{})
	if _, err := torture(ctx, p, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// mute keeps the driver from reporting every connection that a dead server
// refuses: here that is the point.
type mute struct{}

// Printf says nothing.
func (mute) Printf(context.Context, string, ...any) {}

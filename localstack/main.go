// Command localstack runs all of Holdfast on this machine, with no cloud:
//
//	go run ./localstack              everything, with a demo sale; Ctrl-C ends it
//	go run ./localstack rehearse     the main job on real input, and the verdict
//	go run ./localstack holdfast ... a command of the holdfast CLI
//
// With AWS_ENDPOINT_URL (or AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL_DYNAMODB) set
// it uses that endpoint in place of its own queue and table; beside AWS_ENDPOINT_URL
// also the Redis of HOLDFAST_REDIS_ADDRS, which needs one replica.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/holdfast/holdfast/cli"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "holdfast" {
		os.Exit(cli.Main(args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := up
	if len(args) > 0 && args[0] == "rehearse" {
		run, args = rehearse, args[1:]
	}
	if err := run(ctx, args, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "holdfast:", err)
		os.Exit(1)
	}
}

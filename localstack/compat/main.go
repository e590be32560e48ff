// Command compat runs the contract suite of SQS FIFO and DynamoDB against
// servers that others wrote, as child processes on loopback, and prints the
// table of docs/compatibility.md. A difference is a finding, not an error: the
// command fails only if a server can't be started or judged.
//
//	go run ./localstack/compat             every server that is installed
//	go run ./localstack/compat moto        one of them
//	go run ./localstack/compat -sqs URL -dynamodb URL
//
// Install them as docs/compatibility.md says; a server whose program is not on
// the PATH is named as missing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// The addresses that the test is told.
const (
	envSQS      = "HOLDFAST_CONTRACT_SQS"
	envDynamoDB = "HOLDFAST_CONTRACT_DYNAMODB"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("compat", flag.ContinueOnError)
	sqs := flags.String("sqs", "", "address of a running SQS")
	dynamo := flags.String("dynamodb", "", "address of a running DynamoDB")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *sqs != "" || *dynamo != "" {
		v, err := judge(ctx, *sqs, *dynamo)
		if err != nil {
			return err
		}
		report(os.Stdout, []column{{"endpoint", v}})
		return nil
	}
	var columns []column
	for _, s := range servers {
		if !wanted(s.name, flags.Args()) {
			continue
		}
		if _, err := exec.LookPath(s.command[0]); err != nil {
			fmt.Fprintf(os.Stderr, "%s is not installed: %s\n", s.name, s.install)
			continue
		}
		v, err := s.judged(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		columns = append(columns, column{s.name, v})
	}
	if len(columns) == 0 {
		return fmt.Errorf("no server is installed: see docs/compatibility.md")
	}
	report(os.Stdout, columns)
	return nil
}

func wanted(name string, names []string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return len(names) == 0
}

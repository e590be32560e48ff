// Command lambda is Holdfast as an AWS Lambda function: HOLDFAST_FUNCTION says
// which one (ingress, worker, sweep, diff or audit). The configuration is that of every
// other process.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/wiring"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "holdfast:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cfg, err := config.Load(os.Getenv)
	if err != nil {
		return fmt.Errorf("the configuration has faults:\n%w", err)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		return err
	}
	h, err := wiring.Open(ctx, cfg, slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	if err != nil {
		return err
	}
	f, err := h.Function(ctx, os.Getenv("HOLDFAST_FUNCTION"))
	if err != nil {
		return err
	}
	// On SIGTERM the runtime gives half a second: enough to publish a status.
	lambda.StartWithOptions(measured(f, os.Stdout, h.Now, h.GatewayAnswers), lambda.WithEnableSIGTERM(func() { _ = h.Close(ctx) }))
	return nil
}

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/wiring"
)

// world is a local cloud with an open house on it, in this process.
type world struct {
	*wiring.House
	cloud *cloud.Cloud
	calls *counter
	redis *goredis.Client
}

// counter counts calls to the table, and lets them all through.
type counter struct{ n atomic.Int64 }

// Decide implements fault.Plan.
func (c *counter) Decide(p fault.Point) fault.Verdict {
	if p.Service == "dynamodb" {
		c.n.Add(1)
	}
	return fault.Verdict{}
}

func openWorld(ctx context.Context) (_ *world, err error) {
	w := &world{calls: &counter{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.shut(context.WithoutCancel(ctx)))
		}
	}()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	if w.cloud, err = cloud.Start(ctx, cloud.Options{Faults: w.calls, Log: log}); err != nil {
		return nil, err
	}
	env := w.cloud.Env()
	env["HOLDFAST_SECRET"], env["HOLDFAST_OPERATOR_TOKEN"] = strings.Repeat("5a", 32), strings.Repeat("t", 32)
	for name, value := range env { // the AWS SDK reads its own
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	cfg, err := config.Load(os.Getenv)
	if err != nil {
		return nil, err
	}
	if w.House, err = wiring.Open(ctx, cfg, log); err != nil {
		return nil, err
	}
	w.redis = goredis.NewClient(&goredis.Options{Addr: w.cloud.Redis.Primary.Addr()})
	return w, nil
}

func (w *world) shut(ctx context.Context) error {
	var errs []error
	if w.redis != nil {
		errs = append(errs, w.redis.Close())
	}
	if w.House != nil {
		errs = append(errs, w.House.Close(ctx))
	}
	if w.cloud != nil {
		errs = append(errs, w.cloud.Close(ctx))
	}
	return errors.Join(errs...)
}

// commands is how many commands the primary has processed, those that read this
// figure included.
func (w *world) commands(ctx context.Context) (n int64, err error) {
	err = w.info(ctx, "stats", "total_commands_processed", &n)
	return n, err
}

package cli

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/report"
	"github.com/holdfast/holdfast/wiring"
)

// house is what the commands act on: the open adapters of one deployment.
type house struct {
	desk    *operator.Desk
	flight  *operator.Preflight
	healers func() (*reaper.Reaper, error)
	purge   func() (*operator.Purge, error)
	dead    deadLetters

	report    func(ctx context.Context, saleID, by string) (report.Document, error)
	reportKey func() (ed25519.PrivateKey, error)

	serve, work, reap func(ctx context.Context) error
	close             func(ctx context.Context) error
}

// deadLetters is the queue's other end.
type deadLetters interface {
	DeadLetters(ctx context.Context, limit int) ([]fifo.DeadLetter, error)
	Redrive(ctx context.Context, limit int, progress func(moved int)) (fifo.Redriven, error)
}

// opener opens the deployment that the environment describes.
type opener func(ctx context.Context, env func(string) string, log func(config.Config) *slog.Logger) (*house, error)

func openHouse(ctx context.Context, env func(string) string, log func(config.Config) *slog.Logger) (*house, error) {
	cfg, err := config.Load(env)
	if err != nil {
		return nil, fmt.Errorf("the configuration has faults:\n%w", err)
	}
	h, err := wiring.Open(ctx, cfg, log(cfg))
	if err != nil {
		return nil, err
	}
	return &house{
		desk: h.Desk(), flight: h.Preflight(), healers: h.Healers, purge: h.Purge, dead: h.Queue,
		report: h.Report, reportKey: h.ReportKey,
		serve: h.Serve, work: h.Work, reap: h.Reap, close: h.Close,
	}, nil
}

// closeFor bounds how long a command waits for its last words to be published.
const closeFor = 10 * time.Second

// with runs a command on an open house. The logs of a command are warnings on
// stderr; those of a role are JSON at the configured level.
func (a *app) with(cmd *cobra.Command, log func(config.Config) *slog.Logger, act func(ctx context.Context, h *house) error) error {
	ctx := cmd.Context()
	h, err := a.open(ctx, a.env, log)
	if err != nil {
		return err
	}
	err = act(ctx, h)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeFor)
	defer cancel()
	if e := h.close(bounded); err == nil && e != nil {
		err = fmt.Errorf("close: %w", e)
	}
	return err
}

// desk runs a command that looks, at what operators look at.
func (a *app) desk(cmd *cobra.Command, look func(ctx context.Context, d *operator.Desk) error) error {
	return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error { return look(ctx, h.desk) })
}

func operatorBy(name, reason string) operator.By {
	return operator.By{Actor: ledger.Actor("operator:" + name), Reason: reason}
}

// quietLog is for people: they read the command's own words.
func (a *app) quietLog(config.Config) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// roleLog is for machines.
func (a *app) roleLog(c config.Config) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // config.Load lets only known levels through
	}
	return slog.New(slog.NewJSONHandler(a.stderr, &slog.HandlerOptions{Level: level}))
}

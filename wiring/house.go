// Package wiring builds the adapters from a configuration and joins them to the
// doors. It is the only place, beside tests, where ports and adapters meet;
// cmd, cli and localstack call it and stay thin.
package wiring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/status"
)

// House is everything a role or a command needs, opened once per process.
type House struct {
	Config   config.Config
	Log      *slog.Logger
	Now      func() time.Time
	Hasher   *sale.Hasher
	Store    ledger.Store
	Redis    *Redis
	Queue    *Queue
	Publish  events.Publisher
	Gateways payment.Gateways
	Controls *lifecycle.ControlCache
	Status   *status.Publisher
	Steps    *lifecycle.Steps
	Metrics  *Metrics

	purger  ledger.Purger    // the store, in another role
	dynamo  *dynamodb.Client // for looks at the table itself
	closers []func(context.Context) error
}

// Redis is the adapter with admissions going through the group commit.
type Redis struct {
	*admredis.Store
	Committer *admredis.Committer
}

// Admit joins the next batch (protocol.md 3.11).
func (r *Redis) Admit(ctx context.Context, q admission.Request) (admission.Answer, error) {
	return r.Committer.Admit(ctx, q)
}

// Open connects to everything and checks what must be right before any seat is
// sold. On an error nothing stays open.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger) (_ *House, err error) {
	h := &House{Config: cfg, Log: log, Now: time.Now, Metrics: newMetrics()}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close(context.WithoutCancel(ctx)))
		}
	}()
	if h.Hasher, err = sale.NewHasher(cfg.Secret); err != nil {
		return nil, err
	}
	if err := h.openAWS(ctx); err != nil {
		return nil, err
	}
	if err := h.openRedis(); err != nil {
		return nil, err
	}
	if err := h.openGateways(); err != nil {
		return nil, err
	}
	h.join(ctx)
	return h, nil
}

func (h *House) onClose(f func(context.Context) error) { h.closers = append(h.closers, f) }

// Close lets go of everything in the reverse order of Open. Safe to call twice.
func (h *House) Close(ctx context.Context) error {
	var errs []error
	for i := len(h.closers) - 1; i >= 0; i-- {
		errs = append(errs, h.closers[i](ctx))
	}
	h.closers = nil
	return errors.Join(errs...)
}

func (h *House) openRedis() error {
	c := h.Config.Redis
	store, err := admredis.Open(admredis.Config{
		Addrs: c.Addrs, MasterName: c.MasterName, Cluster: c.Mode == "cluster",
		Username: c.Username, Password: c.Password, TLS: tlsOf(c.TLS),
		Replicas: c.Replicas, AllowUnacknowledged: c.AllowUnacknowledged, Log: h.Log,
	})
	if err != nil {
		return fmt.Errorf("open Redis: %w", err)
	}
	if c.Replicas == 0 {
		h.Log.Warn("admissions are not acknowledged by any replica, as HOLDFAST_REDIS_ALLOW_UNACKNOWLEDGED asks: a failover may lose or resell seats unless the store itself is durable")
	}
	h.Redis = &Redis{Store: store, Committer: admredis.NewCommitter(store, admredis.CommitOptions{})}
	h.onClose(func(context.Context) error { return store.Close() })
	return nil
}

// join puts the middle together on the open adapters.
func (h *House) join(ctx context.Context) {
	h.Controls = lifecycle.NewControlCache(h.Store, h.Now)
	h.Status = status.Start(ctx, status.Config{Reader: h.Redis, Store: h.Store, Controls: h.Controls, Log: h.Log})
	h.onClose(h.Status.Close)
	h.Redis.OnUndo(h.Status.Changed)
	h.Steps = &lifecycle.Steps{
		Store: h.Store, Redis: h.Redis, Gateways: h.Gateways, Guard: h.Redis, Publish: h.Publish,
		Status: h.Status, Controls: h.Controls, Alarm: h.alarm, Now: h.Now, Log: h.Log,
	}
}

// alarm writes an alarm where operators' systems look for it: the log, at
// level error with a stable message, and a counter.
func (h *House) alarm(a lifecycle.Alarm) {
	h.Metrics.alarm(string(a.Kind))
	h.Log.Error("alarm", "kind", string(a.Kind), "sale", a.Sale, "booking_id", a.BookingID, "detail", a.Detail)
}

// Attach joins the next batch of attaches.
func (r *Redis) Attach(ctx context.Context, a admission.Attachment) (admission.AttachAnswer, error) {
	return r.Committer.Attach(ctx, a)
}

// Settle joins the next batch of settles.
func (r *Redis) Settle(ctx context.Context, saleID, bookingID, candidate string, paid bool) (bool, error) {
	return r.Committer.Settle(ctx, saleID, bookingID, candidate, paid)
}

// CandidateBooking joins the next batch of reads.
func (r *Redis) CandidateBooking(ctx context.Context, saleID, candidate string) (string, error) {
	return r.Committer.CandidateBooking(ctx, saleID, candidate)
}

var _ lifecycle.Redis = (*Redis)(nil)

// Queue is the deployment's queue: what operators can do with it, and what the
// workers' poller takes from it.
type Queue struct {
	*fifo.Admin
	Queues   fifo.Queues
	Consumer *fifo.Consumer
	Parker   *fifo.Parker
}

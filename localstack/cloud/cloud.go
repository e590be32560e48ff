// Package cloud starts what Holdfast needs from outside, on this machine: a
// real Redis primary with a replica, SQS FIFO and DynamoDB speaking their wire
// protocol, and the sandbox payment gateway. Nothing in it knows Holdfast's
// doors: they reach it by address, as they reach AWS.
package cloud

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/localstack/table"
	"github.com/holdfast/holdfast/localstack/wire"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/payment/sandbox/server"
	"github.com/holdfast/holdfast/wiring"
)

// Options say what the local cloud is like. The zero value is right for a
// demonstration.
type Options struct {
	// AWSEndpoint, SQSEndpoint and DynamoDBEndpoint replace the emulators by
	// something that runs elsewhere, as AWS_ENDPOINT_URL and its relatives do.
	AWSEndpoint, SQSEndpoint, DynamoDBEndpoint string
	RedisAddr                                  string                      // a primary with one replica that runs elsewhere; "": a pair of our own
	WebhookURL                                 func(account string) string // where the gateway sends its webhooks
	Faults                                     fault.Plan                  // nil: none
	Log                                        *slog.Logger                // nil: slog.Default
}

// Cloud is a running local cloud.
type Cloud struct {
	Redis   *redisproc.Pair // nil if it is elsewhere
	Gateway *server.Server

	AWSURL     string // of the emulators; "" if both are elsewhere
	GatewayURL string
	AdminToken string // of the gateway's failure switches

	opt     Options
	secret  string // the gateway accounts' application secret
	webhook string
	closers []func(context.Context) error
	stop    context.CancelFunc
}

// Start starts everything and waits until it answers. On an error nothing is
// left running.
func Start(ctx context.Context, opt Options) (_ *Cloud, err error) {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Cloud{opt: opt, stop: stop, AdminToken: random(), secret: random(), webhook: random()}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close(context.WithoutCancel(ctx)))
		}
	}()
	if opt.RedisAddr == "" {
		if c.Redis, err = redisproc.StartPair(ctx, redisproc.Options{AppendOnly: true}); err != nil {
			return nil, err
		}
	}
	if err := c.startAWS(run); err != nil {
		return nil, err
	}
	return c, c.startGateway(run)
}

// startAWS serves the two engines on one address, unless both are elsewhere.
func (c *Cloud) startAWS(ctx context.Context) error {
	if c.opt.AWSEndpoint != "" || (c.opt.SQSEndpoint != "" && c.opt.DynamoDBEndpoint != "") {
		return nil
	}
	queues := fifo.New(fifo.Options{Faults: c.opt.Faults, OnSlow: fault.Sleep})
	done := make(chan struct{})
	go func() {
		defer close(done)
		queues.Run(ctx)
	}()
	c.closers = append(c.closers, func(context.Context) error {
		c.stop()
		<-done
		return nil
	})
	tables := table.New(table.Options{Faults: c.opt.Faults})
	addr, err := c.serve(ctx, wire.New(wire.NewSQS(queues), wire.NewDynamoDB(tables)))
	c.AWSURL = "http://" + addr
	return err
}

func (c *Cloud) startGateway(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the sandbox gateway: %w", err)
	}
	c.GatewayURL = "http://" + l.Addr().String()
	c.Gateway, err = server.New(server.Config{
		Engine:    engine.Config{Accounts: []engine.Account{c.account(wiring.SandboxPage, payment.MovesOnPage), c.account(wiring.SandboxExecute, payment.MovesOnExecute)}},
		PublicURL: c.GatewayURL, AdminToken: c.AdminToken, Log: c.opt.Log,
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	c.Gateway.Start(ctx)
	c.closers = append(c.closers, c.Gateway.Close)
	c.serveOn(ctx, l, c.Gateway)
	return nil
}

func (c *Cloud) account(name string, moves payment.Moves) engine.Account {
	a := engine.Account{Name: name, AppKey: appKey + "-" + name, AppSecret: c.secret, WebhookSecret: c.webhook, Payee: wiring.SandboxPayee, Moves: moves}
	if c.opt.WebhookURL != nil {
		a.WebhookURL = c.opt.WebhookURL(name)
	}
	return a
}

const appKey = "demo"

// RedisAddr is the primary's address.
func (c *Cloud) RedisAddr() string {
	if c.Redis == nil {
		return c.opt.RedisAddr
	}
	return c.Redis.Primary.Addr()
}

// Env is the configuration of Holdfast's processes for this cloud: names and
// values of environment variables.
func (c *Cloud) Env() map[string]string {
	env := map[string]string{
		"AWS_REGION": wire.Region, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"HOLDFAST_REDIS_ADDRS":            c.RedisAddr(),
		"HOLDFAST_REDIS_REPLICAS":         "1",
		"HOLDFAST_CREATE_RESOURCES":       "true",
		"HOLDFAST_SANDBOX_URL":            c.GatewayURL,
		"HOLDFAST_SANDBOX_APP_KEY":        appKey,
		"HOLDFAST_SANDBOX_APP_SECRET":     c.secret,
		"HOLDFAST_SANDBOX_WEBHOOK_SECRET": c.webhook,
	}
	for name, url := range map[string]string{
		"AWS_ENDPOINT_URL":          first(c.opt.AWSEndpoint, c.AWSURL),
		"AWS_ENDPOINT_URL_SQS":      c.opt.SQSEndpoint,
		"AWS_ENDPOINT_URL_DYNAMODB": c.opt.DynamoDBEndpoint,
	} {
		if url != "" {
			env[name] = url
		}
	}
	return env
}

// Close stops everything in the reverse order and leaves no process behind.
// Safe to call twice.
func (c *Cloud) Close(ctx context.Context) error {
	var errs []error
	c.stop()
	for i := len(c.closers) - 1; i >= 0; i-- {
		errs = append(errs, c.closers[i](ctx))
	}
	c.closers = nil
	if c.Redis != nil {
		errs = append(errs, c.Redis.Stop())
		c.Redis = nil
	}
	return errors.Join(errs...)
}

func (c *Cloud) serve(ctx context.Context, h http.Handler) (addr string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for the local cloud: %w", err)
	}
	c.serveOn(ctx, l, h)
	return l.Addr().String(), nil
}

// serveOn serves h until Close. Requests end when ctx does, so that long polls
// do not hold up a shutdown.
func (c *Cloud) serveOn(ctx context.Context, l net.Listener, h http.Handler) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // always ErrServerClosed once Shutdown or Close was called
	}()
	c.closers = append(c.closers, func(ctx context.Context) error {
		defer func() { <-done }()
		bounded, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		if err := s.Shutdown(bounded); err != nil {
			return s.Close()
		}
		return nil
	})
}

func random() string {
	b := make([]byte, 24)
	if _, err := rand.Read(b); err != nil {
		panic(err) // crypto/rand never fails on the platforms Go supports
	}
	return hex.EncodeToString(b)
}

func first(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

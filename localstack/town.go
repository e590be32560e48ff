package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/localstack/roles"
	"github.com/holdfast/holdfast/wiring"
)

// town is everything on one machine: the local cloud, and Holdfast's processes
// as children of this one.
type town struct {
	dir      string // sale file, roster, logs; removed by close
	env      map[string]string
	public   string            // base address of the ingress
	operator string            // base address of the operators' listener
	metrics  map[string]string // base address of each process's own listener, by its name
	cloud    *cloud.Cloud
	keeper   *roles.Keeper
	log      *os.File
	slog     *slog.Logger
}

// townOptions differ between a demonstration and a rehearsal.
type townOptions struct {
	public, operator string // wished addresses; a free one if taken
	front            string // base address of what stands before the ingress; "": nothing
	workers          int
	env              map[string]string
}

// The endpoints that stand in for the local queue and table, as this program was
// given them: house sets the same variables for a moment.
var (
	givenAWS      = os.Getenv("AWS_ENDPOINT_URL")
	givenSQS      = os.Getenv("AWS_ENDPOINT_URL_SQS")
	givenDynamoDB = os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	givenRedis    = os.Getenv("HOLDFAST_REDIS_ADDRS")
)

// elsewhere is what runs elsewhere. A Redis counts only beside a whole cloud: by
// itself it may be one that sells.
func elsewhere() cloud.Options {
	o := cloud.Options{AWSEndpoint: givenAWS, SQSEndpoint: givenSQS, DynamoDBEndpoint: givenDynamoDB}
	if givenAWS != "" {
		o.RedisAddr = givenRedis
	}
	return o
}

// openTown starts the cloud and the processes and waits until they are ready.
// On an error nothing is left running.
func openTown(ctx context.Context, o townOptions, out io.Writer) (_ *town, err error) {
	wiring.RelaxGC() // queue, table, gateway and crowd throw away as much as the roles do
	t := &town{env: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close(context.WithoutCancel(ctx)))
		}
	}()
	if t.dir, err = os.MkdirTemp("", "holdfast-"); err != nil {
		return nil, err
	}
	if t.log, err = os.Create(filepath.Join(t.dir, "holdfast.log")); err != nil {
		return nil, err
	}
	t.slog = slog.New(slog.NewJSONHandler(t.log, nil))
	t.keeper = roles.NewKeeper(t.slog)
	public, operator := address(o.public), address(o.operator)
	t.public, t.operator = cmp.Or(o.front, "http://"+public), "http://"+operator
	fmt.Fprintln(out, "starting Redis (primary and replica), queue, table and payment gateway ...")
	given := elsewhere()
	given.WebhookURL = func(account string) string { return t.public + "/webhooks/" + account }
	given.Log = t.slog
	if t.cloud, err = cloud.Start(ctx, given); err != nil {
		return nil, err
	}
	maps.Copy(t.env, t.cloud.Env())
	maps.Copy(t.env, map[string]string{
		"HOLDFAST_SECRET": random(32), "HOLDFAST_OPERATOR_TOKEN": random(16),
		"HOLDFAST_LISTEN": public, "HOLDFAST_OPERATOR_LISTEN": operator, "HOLDFAST_PUBLIC_URL": t.public,
	})
	maps.Copy(t.env, o.env)
	fmt.Fprintln(out, "starting ingress, worker and reaper ...")
	if err := t.startRoles(ctx, o); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *town) startRoles(ctx context.Context, o townOptions) error {
	t.keeper.Keep(context.WithoutCancel(ctx), t.role("serve", nil))
	// The first process makes table and queue; the others find them.
	if err := t.ready(ctx, 60*time.Second); err != nil {
		return err
	}
	t.metrics = map[string]string{"serve": t.operator}
	keep := func(name string, number ...int) {
		own := roles.FreeAddress()
		r := t.role(name, map[string]string{"HOLDFAST_OPERATOR_LISTEN": own}, number...)
		t.metrics[r.Name] = "http://" + own
		t.keeper.Keep(context.WithoutCancel(ctx), r)
	}
	for i := range max(o.workers, 1) {
		keep("work", i)
	}
	keep("reap")
	return nil
}

// role is this very program, run as a command of the CLI.
func (t *town) role(name string, env map[string]string, number ...int) roles.Role {
	r := roles.Role{Name: name, Command: []string{roles.Self(), "holdfast", name}, Log: t.log}
	for _, n := range number {
		r.Name = fmt.Sprintf("%s-%d", name, n+1)
	}
	all := maps.Clone(t.env)
	maps.Copy(all, env)
	for k, v := range all {
		r.Env = append(r.Env, k+"="+v)
	}
	return r
}

// ready waits until the ingress says that it is.
func (t *town) ready(ctx context.Context, within time.Duration) error {
	return t.answers(ctx, t.operator+"/readyz", within)
}

// selling waits until the ingress knows the sale; it looks for new ones every
// few seconds.
func (t *town) selling(ctx context.Context, saleID string) error {
	return t.answers(ctx, t.public+"/sales/"+saleID+"/status.json", time.Minute)
}

// answers waits until a page is there.
func (t *town) answers(ctx context.Context, page string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s did not answer within %v; the end of the log:\n%s", page, within, t.logTail())
		}
	}
}

func (t *town) logTail() []byte {
	data, err := os.ReadFile(t.log.Name())
	if err != nil {
		return []byte(err.Error())
	}
	return data[max(0, len(data)-4096):]
}

// holdfast runs a command of the CLI against this town and shows what it says.
func (t *town) holdfast(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, roles.Self(), append([]string{"holdfast"}, args...)...)
	cmd.Env = os.Environ()
	for k, v := range t.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var errors bytes.Buffer
	both := &oneAtATime{w: out}
	cmd.Stdout, cmd.Stderr = both, io.MultiWriter(&errors, both)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("holdfast %s: %w\n%s", args[0], err, errors.Bytes())
	}
	return nil
}

// oneAtATime lets the two outputs of a command share a writer.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// act runs an act of an operator that is safe to repeat, and repeats it: on a
// busy machine a replica that has just started may be slow to acknowledge.
func (t *town) act(ctx context.Context, out io.Writer, args ...string) error {
	var err error
	for range 3 {
		if err = t.holdfast(ctx, out, args...); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// opening lets one house at a time have this process's environment.
var opening sync.Mutex

// house opens this process's own adapters to the town.
func (t *town) house(ctx context.Context) (*wiring.House, error) {
	cfg, err := config.Load(func(name string) string {
		if v, ok := t.env[name]; ok {
			return v
		}
		return os.Getenv(name)
	})
	if err != nil {
		return nil, err
	}
	opening.Lock()
	defer opening.Unlock()
	restore, err := setenv(t.cloud.Env())
	if err != nil {
		return nil, err
	}
	defer restore()
	return wiring.Open(ctx, cfg, t.slog)
}

// setenv sets variables for as long as the AWS SDK reads them, which it does
// only while a house is opened; restore puts back what was there.
func setenv(vars map[string]string) (restore func(), err error) {
	var undo []func()
	restore = func() {
		for _, f := range undo {
			f()
		}
	}
	for k, v := range vars {
		old, was := os.LookupEnv(k)
		if err := os.Setenv(k, v); err != nil {
			restore()
			return nil, err
		}
		undo = append(undo, func() {
			if was {
				_ = os.Setenv(k, old) // it could be set before
			} else {
				_ = os.Unsetenv(k)
			}
		})
	}
	return restore, nil
}

func (t *town) close(ctx context.Context) error {
	var errs []error
	if t.keeper != nil {
		t.keeper.Stop()
	}
	if t.cloud != nil {
		errs = append(errs, t.cloud.Close(ctx))
	}
	if t.log != nil {
		errs = append(errs, t.log.Close())
	}
	if t.dir != "" {
		errs = append(errs, os.RemoveAll(t.dir))
	}
	return errors.Join(errs...)
}

// address is the wished address if it is free, else one that is; any if the
// wished port is 0. The process that listens there is started later.
func address(wished string) string {
	if strings.HasSuffix(wished, ":0") {
		return roles.FreeAddress()
	}
	l, err := net.Listen("tcp", wished)
	if err != nil {
		return roles.FreeAddress()
	}
	defer l.Close()
	return wished
}

func random(n int) string {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		panic(err) // crypto/rand never fails on the platforms Go supports
	}
	return hex.EncodeToString(b)
}

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/localstack/roles"
	"github.com/holdfast/holdfast/wiring"
)

// ingresses is how many doors there are: one can die while the other serves.
const ingresses = 2

// town is the local cloud with Sentinel and bad weather, and Holdfast's
// processes as children of this one, behind a balancer that keeps the time line.
type town struct {
	dir       string // sale file, roster, log; removed by close
	env       map[string]string
	balancer  *balancer
	operators map[string]string // operator listeners by role
	weather   *weather
	cloud     *cloud.Cloud
	sentinels redisproc.Sentinels
	keeper    *roles.Keeper
	log       *os.File
	slog      *slog.Logger
}

// openTown starts everything and waits until it is ready. On an error nothing is
// left running.
func openTown(ctx context.Context, seed uint64, env map[string]string) (_ *town, err error) {
	t := &town{env: map[string]string{}, operators: map[string]string{}, weather: newWeather(seed)}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close(context.WithoutCancel(ctx)))
		}
	}()
	if t.dir, err = os.MkdirTemp("", "holdfast-torture-"); err != nil {
		return nil, err
	}
	if t.log, err = os.Create(filepath.Join(t.dir, "holdfast.log")); err != nil {
		return nil, err
	}
	t.slog = slog.New(slog.NewJSONHandler(t.log, nil))
	t.keeper = roles.NewKeeper(t.slog)
	var doors []string
	for range ingresses {
		doors = append(doors, roles.FreeAddress())
	}
	if t.balancer, err = newBalancer(doors); err != nil {
		return nil, err
	}
	t.cloud, err = cloud.Start(ctx, cloud.Options{Faults: t.weather, Log: t.slog, WebhookURL: func(account string) string { return t.balancer.url + "/webhooks/" + account }})
	if err != nil {
		return nil, err
	}
	if t.sentinels, err = redisproc.StartSentinels(ctx, t.cloud.Redis, 3); err != nil {
		return nil, err
	}
	maps.Copy(t.env, t.cloud.Env())
	maps.Copy(t.env, map[string]string{
		"HOLDFAST_REDIS_MODE": "sentinel", "HOLDFAST_REDIS_ADDRS": strings.Join(t.sentinels.Addrs(), ","), "HOLDFAST_REDIS_MASTER": redisproc.SentinelName,
		"HOLDFAST_SECRET": random(32), "HOLDFAST_OPERATOR_TOKEN": random(16), "HOLDFAST_PUBLIC_URL": t.balancer.url,
		"HOLDFAST_TRUSTED_PROXIES": "127.0.0.1/32", "HOLDFAST_LOG_LEVEL": "warn",
	})
	maps.Copy(t.env, env)
	return t, t.startRoles(ctx, doors)
}

func (t *town) startRoles(ctx context.Context, doors []string) error {
	long := context.WithoutCancel(ctx)
	for _, name := range victims {
		t.operators[name] = roles.FreeAddress()
	}
	for i, door := range doors {
		r := t.role("serve", i, map[string]string{"HOLDFAST_LISTEN": door})
		t.keeper.Keep(long, r)
		// The first process makes table and queue; the others find them.
		if err := t.ready(ctx, r.Name); err != nil {
			return err
		}
	}
	rest := []roles.Role{t.role("work", 0, nil), t.role("work", 1, nil), t.role("reap", 0, nil)}
	t.keeper.Keep(long, rest...)
	for _, r := range rest {
		if err := t.ready(ctx, r.Name); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until a process says that it is.
func (t *town) ready(ctx context.Context, role string) error {
	return t.answers(ctx, "http://"+t.operators[role]+"/readyz", time.Minute)
}

// victims are the processes that may be killed.
var victims = []string{"serve-1", "serve-2", "work-1", "work-2", "reap-1"}

// role is this very program, run as a command of the CLI.
func (t *town) role(name string, i int, env map[string]string) roles.Role {
	r := roles.Role{Name: fmt.Sprintf("%s-%d", name, i+1), Command: []string{roles.Self(), "holdfast", name}, Log: t.log}
	all := maps.Clone(t.env)
	all["HOLDFAST_OPERATOR_LISTEN"] = t.operators[r.Name]
	maps.Copy(all, env)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		r.Env = append(r.Env, k+"="+all[k])
	}
	return r
}

// answers waits until a page is there.
func (t *town) answers(ctx context.Context, page string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := await(ctx, func() bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return false
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	if err != nil {
		return fmt.Errorf("%s did not answer within %v; the end of the log:\n%s", page, within, t.logTail())
	}
	return nil
}

// await polls a condition of another process until it holds.
func await(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (t *town) logTail() []byte {
	data, err := os.ReadFile(t.log.Name())
	if err != nil {
		return []byte(err.Error())
	}
	return data[max(0, len(data)-8192):]
}

// keepLog copies the log of every process to where it survives the town.
func (t *town) keepLog(folder string) error {
	data, err := os.ReadFile(t.log.Name())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "holdfast.log"), data, 0o644)
}

// holdfast runs a command of the CLI against this town.
func (t *town) holdfast(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, roles.Self(), append([]string{"holdfast"}, args...)...)
	cmd.Env = os.Environ()
	for k, v := range t.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("holdfast %s: %w\n%s%s", strings.Join(args, " "), err, out.Bytes(), faults.Bytes())
	}
	return out.String(), nil
}

// house opens this process's own adapters to the town.
func (t *town) house(ctx context.Context) (*wiring.House, error) {
	cfg, err := config.Load(func(name string) string { return t.env[name] })
	if err != nil {
		return nil, err
	}
	// The AWS SDK reads the environment of this process, while a house is opened.
	for k, v := range t.cloud.Env() {
		if err := os.Setenv(k, v); err != nil {
			return nil, err
		}
	}
	return wiring.Open(ctx, cfg, t.slog)
}

func (t *town) close(ctx context.Context) error {
	var errs []error
	if t.keeper != nil {
		t.keeper.Stop()
	}
	if t.balancer != nil {
		errs = append(errs, t.balancer.close())
	}
	errs = append(errs, t.sentinels.Stop())
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

func random(n int) string {
	b := make([]byte, n)
	_, _ = io.ReadFull(rand.Reader, b) // crypto/rand never fails on the platforms Go supports
	return hex.EncodeToString(b)
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// childEnv makes this program an ingress in a process of its own: the primary's
// address and the sale.
const childEnv = "HOLDFAST_BENCH_INGRESS"

// runChild serves a sale that is there already, says where, and ends when its
// standard input does.
func runChild(ctx context.Context, what string, in io.Reader, out io.Writer) (err error) {
	addr, saleID, _ := strings.Cut(what, " ")
	w, err := openWeb(ctx, &ground{sale: saleID})
	if err != nil {
		return err
	}
	store, err := w.g.store(addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	i, err := w.ingress(ctx, store, behind{})
	if err != nil {
		return err
	}
	return serve(i.Public(), func(addr string) error {
		if _, err := fmt.Fprintln(out, addr); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, in)
		return err
	})
}

// child is an ingress in a process of its own.
type child struct {
	cmd  *exec.Cmd
	stop io.Closer
	addr string
}

func startChild(ctx context.Context, primary, saleID string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, self)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+primary+" "+saleID)
	c.cmd.Stderr = os.Stderr
	stop, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.stop = stop
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("an ingress did not start: %w", err), c.end())
	}
	c.addr = strings.TrimSpace(line)
	return c, nil
}

func (c *child) end() error {
	_ = c.stop.Close() // it may have ended
	return c.cmd.Wait()
}

// processes is n ingress processes on one fresh sale.
func (w *web) processes(n int) site {
	return func(ctx context.Context, f func(addrs []string, path string) error) (err error) {
		store, err := w.open(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		var addrs []string
		for range n {
			c, err := startChild(ctx, w.g.primary(), w.g.sale)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.end()) }()
			addrs = append(addrs, c.addr)
		}
		return f(addrs, w.path())
	}
}

// processCurve is the curve over ingress processes that share one primary: how
// fast they book with 256 connections in all, and the latencies at a fixed rate.
func (w *web) processCurve(ctx context.Context, rounds int) (Curve, error) {
	const rate = 2000
	name := "ingress processes on one primary: 256 connections in all; latencies at " + strconv.Itoa(rate) + "/s"
	return trace(ctx, name, "processes", rounds, []int{1, 2, 4}, func(ctx context.Context, n int) (p Point, err error) {
		p.N = n
		err = w.processes(n)(ctx, func(addrs []string, path string) error {
			before, err := acknowledgements(ctx, w.g.admin)
			if err != nil {
				return err
			}
			if p.Rate, err = w.flood(256, addrs, path); err != nil {
				return err
			}
			after, err := acknowledgements(ctx, w.g.admin)
			p.Batch = p.Rate * second.Seconds() / max(after-before, 1)
			return err
		})
		if err != nil {
			return p, err
		}
		err = w.processes(n)(ctx, func(addrs []string, path string) error {
			took, err := w.timetable(ctx, addrs, path, rate, 2*time.Second)
			p.P50, p.P99 = quantile(took, 0.5), quantile(took, 0.99)
			return err
		})
		return p, err
	})
}

package main

import (
	"context"
	"fmt"
	"runtime/metrics"
	"strings"
	"syscall"
	"time"
)

// cpu is processor time, which a busy machine stretches far less than the time that
// an act takes.
type cpu struct {
	own   time.Duration // of this process: the act, its clients, and the emulated table
	gc    time.Duration // of own, what the collector took, by the runtime's own estimate
	redis time.Duration // of the primary
}

func (c cpu) minus(d cpu) cpu {
	return cpu{own: c.own - d.own, gc: c.gc - d.gc, redis: c.redis - d.redis}
}

// spent is the processor time up to now.
func (w *world) spent(ctx context.Context) (c cpu, err error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return c, fmt.Errorf("read the processor time: %w", err)
	}
	c.own = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(samples)
	if samples[0].Value.Kind() == metrics.KindFloat64 {
		c.gc = seconds(samples[0].Value.Float64())
	}
	var user, system float64
	if err = w.info(ctx, "cpu", "used_cpu_user", &user); err == nil {
		err = w.info(ctx, "cpu", "used_cpu_sys", &system)
	}
	c.redis = seconds(user + system)
	return c, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// info reads one figure of the primary.
func (w *world) info(ctx context.Context, section, name string, into any) error {
	text, err := w.redis.Info(ctx, section).Result()
	if err != nil {
		return err
	}
	_, rest, found := strings.Cut(text, "\n"+name+":")
	if !found {
		return fmt.Errorf("the primary says nothing of %s", name)
	}
	_, err = fmt.Sscan(rest, into)
	return err
}

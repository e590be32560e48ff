package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

func (n *nemesis) killPrimary(ctx context.Context) error {
	old, _, err := n.servers(ctx)
	if err != nil {
		return err
	}
	if err := old.Kill(); err != nil {
		return err
	}
	return n.bringBack(ctx, old)
}

// killTwo lets the second failover follow the first as soon as there is anybody
// to fail over to: mostly before a sweep has seen the first.
func (n *nemesis) killTwo(ctx context.Context) error {
	if err := n.killPrimary(ctx); err != nil {
		return err
	}
	return n.killPrimary(ctx)
}

func (n *nemesis) freezePrimary(ctx context.Context) error {
	old, _, err := n.servers(ctx)
	if err != nil {
		return err
	}
	if err := old.Pause(); err != nil {
		return err
	}
	primary, err := n.succeeded(ctx, old)
	if err != nil {
		return errors.Join(err, old.Resume())
	}
	if err := old.Resume(); err != nil {
		return err
	}
	n.pause(ctx, 300*time.Millisecond) // a zombie among those who still know it
	return n.follow(ctx, old, primary)
}

func (n *nemesis) killReplica(ctx context.Context) error {
	primary, other, err := n.servers(ctx)
	if err != nil {
		return err
	}
	if err := other.Kill(); err != nil {
		return err
	}
	n.pause(ctx, 1500*time.Millisecond)
	if err := other.Restart(ctx); err != nil {
		return err
	}
	return n.follow(ctx, other, primary)
}

func (n *nemesis) flushScripts(ctx context.Context) error {
	primary, _, err := n.servers(ctx)
	if err != nil {
		return err
	}
	return n.tell(ctx, primary, "script", "flush")
}

func (n *nemesis) fillMemory(ctx context.Context) error {
	primary, _, err := n.servers(ctx)
	if err != nil {
		return err
	}
	if err := n.tell(ctx, primary, "config", "set", "maxmemory", "1mb"); err != nil {
		return err
	}
	n.pause(ctx, time.Second)
	return n.tell(ctx, primary, "config", "set", "maxmemory", "0")
}

func (n *nemesis) stormAWS(ctx context.Context) error {
	n.town.weather.set(storm)
	n.pause(ctx, 2*time.Second)
	n.town.weather.set(rough)
	return nil
}

func (n *nemesis) killProcess(ctx context.Context) error {
	return n.killAndAwait(ctx, victims[n.rng.IntN(len(victims))])
}

func (n *nemesis) killAll(ctx context.Context) error { return n.killAndAwait(ctx, victims...) }

// killAndAwait kills processes the hard way and waits until they are ready
// again.
func (n *nemesis) killAndAwait(ctx context.Context, names ...string) error {
	old := map[string]int{}
	for _, name := range names {
		if pid := n.town.keeper.Pid(name); pid != 0 {
			old[name] = pid
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		}
	}
	for _, name := range names {
		if err := await(ctx, func() bool { pid := n.town.keeper.Pid(name); return pid != 0 && pid != old[name] }); err != nil {
			return fmt.Errorf("%s was not started again: %w", name, err)
		}
		if err := n.town.ready(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (n *nemesis) pauseProcess(ctx context.Context) error {
	pid := n.town.keeper.Pid(victims[n.rng.IntN(len(victims))])
	if pid == 0 {
		return nil // it is being restarted: that is a blow of its own
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return ignoreGone(err)
	}
	n.pause(ctx, 1500*time.Millisecond)
	return ignoreGone(syscall.Kill(pid, syscall.SIGCONT))
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

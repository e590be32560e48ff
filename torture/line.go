package main

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/torture/linear"
)

// onLine lets the replica follow its primary through a proxy for as long as strike
// takes. Sentinel would point it back by itself after some seconds.
func (n *nemesis) onLine(ctx context.Context, strike func(primary, replica *redisproc.Server, line *linear.Proxy) error) (err error) {
	primary, replica, err := n.servers(ctx)
	if err != nil {
		return err
	}
	line, err := linear.NewProxy(primary.Addr())
	if err != nil {
		return err
	}
	defer func() { line.Close(); n.lostBytes += line.Lost() }()
	_, port, err := net.SplitHostPort(line.Addr())
	if err != nil {
		return err
	}
	if err := n.tell(ctx, replica, "replicaof", "127.0.0.1", port); err != nil {
		return err
	}
	if err := redisproc.AwaitReplicas(ctx, primary.Addr(), 1); err != nil {
		return err
	}
	return strike(primary, replica, line)
}

// punchHole lets bytes of the replication vanish. What follows a hole is no stream,
// so the line breaks, and the replica starts over.
func (n *nemesis) punchHole(ctx context.Context) error {
	return n.onLine(ctx, func(primary, replica *redisproc.Server, line *linear.Proxy) error {
		line.Set(linear.Discard)
		n.pause(ctx, 1500*time.Millisecond)
		line.Set(linear.Open)
		return n.follow(ctx, replica, primary)
	})
}

// killBehindTheLine holds the replication back and kills the primary: its replica
// lacks all that came last, and is promoted.
func (n *nemesis) killBehindTheLine(ctx context.Context) error {
	return n.onLine(ctx, func(old, _ *redisproc.Server, line *linear.Proxy) error {
		line.Set(linear.Hold)
		n.pause(ctx, 700*time.Millisecond)
		err := old.Kill()
		line.Cut()
		return errors.Join(err, n.bringBack(ctx, old))
	})
}

// bringBack waits for the successor of a primary that was killed, and makes the old
// one its replica. Only then is it started: a primary that restarts before it is
// deposed would bring back what its file has, and its replica would follow it there.
func (n *nemesis) bringBack(ctx context.Context, old *redisproc.Server) error {
	primary, err := n.succeeded(ctx, old)
	if err != nil {
		return err
	}
	if err := old.Restart(ctx); err != nil {
		return err
	}
	return n.follow(ctx, old, primary)
}

// follow makes old the replica of the primary and waits until it counts.
func (n *nemesis) follow(ctx context.Context, old, primary *redisproc.Server) error {
	if err := n.tell(ctx, old, "replicaof", "127.0.0.1", strconv.Itoa(primary.Port())); err != nil {
		return err
	}
	return redisproc.AwaitReplicas(ctx, primary.Addr(), 1)
}

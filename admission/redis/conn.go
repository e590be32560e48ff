package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Our own retries (protocol.md 1.4): at most so many tries, within patience.
const (
	tries    = 3
	patience = 2 * time.Second
)

// pin takes a connection to the primary that serves key out of the pool. WAIT
// answers for a connection, so a script and its WAIT must share one.
func (s *Store) pin(ctx context.Context, key string) (*goredis.Conn, error) {
	node, err := s.node(ctx, key)
	if err != nil {
		return nil, err
	}
	return node.Conn(), nil
}

// primary names the primary that serves the sale, as far as the client knows the
// layout by now; "" where there is only one.
func (s *Store) primary(ctx context.Context, sale string) string {
	c, ok := s.client.(*goredis.ClusterClient)
	if !ok {
		return ""
	}
	node, err := c.MasterForKey(ctx, saleKeys(sale).cfg())
	if err != nil {
		return "" // whoever sends something there hears it
	}
	return node.Options().Addr
}

// moved learns the cluster's new layout after a redirect.
func (s *Store) moved(ctx context.Context, err error) {
	if c, ok := s.client.(*goredis.ClusterClient); ok && hasPrefix(err, "MOVED", "ASK", "CLUSTERDOWN", "READONLY") {
		c.ReloadState(ctx)
	}
}

// retry calls f with a pinned connection until it answers, at most tries times
// within patience. f must be safe to run twice.
func (s *Store) retry(ctx context.Context, key string, f func(ctx context.Context, c *goredis.Conn) error) error {
	return s.again(ctx, func(ctx context.Context) error { return s.once(ctx, key, f) })
}

// again calls f until it answers, at most tries times within patience.
func (s *Store) again(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ran := false
	for attempt := 1; ; attempt++ {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if errors.Is(err, admission.ErrUnacknowledged) || errors.Is(err, goredis.Nil) || errors.Is(err, admission.ErrLayout) {
			return err
		}
		ran = ran || !notRun(err)
		if attempt == tries || !worthRetry(err) || !s.rest(ctx, attempt) {
			if ran {
				return fmt.Errorf("%w: %w", admission.ErrUnknown, err)
			}
			return fmt.Errorf("%w: %w", admission.ErrUnavailable, err)
		}
		s.moved(ctx, err)
	}
}

func (s *Store) once(ctx context.Context, key string, f func(ctx context.Context, c *goredis.Conn) error) error {
	c, err := s.pin(ctx, key)
	if err != nil {
		return err
	}
	defer c.Close()
	return f(ctx, c)
}

// rest waits a little longer after each attempt; false when ctx ended.
func (s *Store) rest(ctx context.Context, attempt int) bool {
	t := time.NewTimer(time.Duration(attempt*attempt) * 20 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// acknowledged asks, on the connection that ran the script, whether every
// required replica has it. The caller has read the script's reply before: after
// an error WAIT would answer for nothing (protocol.md 1.1).
func (s *Store) acknowledged(ctx context.Context, c doer) (bool, error) {
	if s.cfg.Replicas == 0 {
		return true, nil
	}
	n, err := c.Do(ctx, "wait", s.cfg.Replicas, s.cfg.WaitTimeout.Milliseconds()).Int()
	if err != nil {
		return false, fmt.Errorf("redis: wait: %w", err)
	}
	return n >= s.cfg.Replicas, nil
}

// acknowledgedPast is acknowledged for an answer that may have written nothing and
// stands on an earlier write, of whichever connection. By its contract WAIT covers
// what its own connection wrote. Redis covers all that the primary had when the
// connection's last command ended, Valkey (9.1) does not: after a script that only
// read it answers at once. So there is a write first.
func (s *Store) acknowledgedPast(ctx context.Context, c *goredis.Conn, k keys) (bool, error) {
	if s.cfg.Replicas == 0 {
		return true, nil
	}
	if err := c.Set(ctx, k.proof(), 1, proofLife).Err(); err != nil {
		return false, fmt.Errorf("redis: wait: %w", err)
	}
	return s.acknowledged(ctx, c)
}

// detached is a context for what must be finished although the caller has gone.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), patience)
}

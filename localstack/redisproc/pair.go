package redisproc

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Pair is a primary with one replica.
type Pair struct {
	Primary, Replica *Server
}

// StartPair starts a primary with opt and its replica, and waits until the
// replica is online. With a Dir they live in its folders primary and replica;
// a Port is the primary's.
func StartPair(ctx context.Context, opt Options) (*Pair, error) {
	primary, replica := opt, opt
	if opt.Dir != "" {
		primary.Dir = filepath.Join(opt.Dir, "primary")
		replica.Dir = filepath.Join(opt.Dir, "replica")
	}
	p, err := Start(ctx, primary)
	if err != nil {
		return nil, err
	}
	replica.Port, replica.ReplicaOf = 0, p.Addr()
	r, err := Start(ctx, replica)
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	pair := &Pair{Primary: p, Replica: r}
	if err := AwaitReplicas(ctx, p.Addr(), 1); err != nil {
		return nil, errors.Join(err, pair.Stop())
	}
	return pair, nil
}

// Stop ends both, the primary first so that the replica gets its last writes.
func (p *Pair) Stop() error { return errors.Join(p.Primary.Stop(), p.Replica.Stop()) }

// AwaitReplicas waits until n replicas of the primary at addr are online and
// have acknowledged something: from then on WAIT counts them.
func AwaitReplicas(ctx context.Context, addr string, n int) error {
	c := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: 1})
	defer c.Close()
	err := await(ctx, func() error {
		info, err := c.Info(ctx, "replication").Result()
		if err != nil || strings.Count(info, "state=online") != n {
			return errNotYet
		}
		// Something for the replicas to acknowledge: WAIT of a connection that wrote
		// nothing may answer at once, on Valkey even while a replica still loads.
		if err := c.Publish(ctx, "redisproc", "").Err(); err != nil {
			return errNotYet
		}
		acked, err := c.Wait(ctx, n, 200*time.Millisecond).Result()
		if err != nil || int(acked) != n {
			return errNotYet
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("redisproc: %d replicas of %s: %w", n, addr, err)
	}
	return nil
}

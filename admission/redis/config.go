package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Config says which Redis, and how sure it has to be.
type Config struct {
	// Addrs is one address; or the sentinels with MasterName; or some nodes with Cluster.
	Addrs            []string
	MasterName       string // set: Addrs are sentinels
	Cluster          bool
	Username         string
	Password         string
	SentinelPassword string
	TLS              *tls.Config
	PoolSize         int // connections per node; 0 = 64

	// Replicas must acknowledge each admission; it equals the number of replicas
	// of each primary (protocol.md 3.12). 0 only together with
	// AllowUnacknowledged, for a store that is durable by itself.
	Replicas            int
	AllowUnacknowledged bool
	WaitTimeout         time.Duration // 0 = 200 ms

	Dialer func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the usual one
	Now    func() time.Time                                                  // nil = time.Now; only for back-off and the local refusal
	Log    *slog.Logger                                                      // nil = slog.Default()
}

// Store is the adapter: every port of package admission. Its Admit sends each
// request by itself; NewCommitter batches. It is safe for concurrent use.
type Store struct {
	cfg    Config
	client goredis.UniversalClient
	now    func() time.Time

	mu       sync.Mutex
	breakers map[string]*breaker          // per sale
	wires    map[string]*wirePool         // per primary
	laid     map[string]int64             // per sale: the generation that is known to have our layout
	kept     map[string]map[string]string // per sale that is being installed: keepPages
	closed   bool
	undoing  sync.WaitGroup // undos that nobody waits for
	onUndo   []func(sale string, version int64)
	onFreed  []func(sale string) // seats may have come back
}

// OnUndo registers f, to be called after a quick undo that nobody asked for (a
// short acknowledgement, a caller who left). A version greater than 0 changed
// the public state and wants to be published by this process (protocol.md 3.13).
// Register before the store is used.
func (s *Store) OnUndo(f func(sale string, version int64)) { s.onUndo = append(s.onUndo, f) }

func (s *Store) freed(sale string) {
	for _, f := range s.onFreed {
		f(sale)
	}
}

func (s *Store) undone(sale string, version int64) {
	s.freed(sale)
	for _, f := range s.onUndo {
		f(sale, version)
	}
}

// Open makes the client. It doesn't connect: CheckServer does, and says what is
// wrong with the server.
func Open(cfg Config) (*Store, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	if cfg.Replicas == 0 {
		cfg.Log.Warn("admissions are not acknowledged by any replica, as configured: a failover can lose them unless the store itself is durable")
	}
	s := &Store{cfg: cfg, now: cfg.Now, breakers: map[string]*breaker{}, wires: map[string]*wirePool{}, laid: map[string]int64{}, kept: map[string]map[string]string{}}
	switch {
	case cfg.Cluster:
		s.client = goredis.NewClusterClient(cfg.clusterOptions())
	case cfg.MasterName != "":
		s.client = goredis.NewFailoverClient(cfg.failoverOptions())
	default:
		s.client = goredis.NewClient(cfg.options())
	}
	return s, nil
}

// Close waits for what is being undone, some seconds at most, and closes the
// connections. The store must not be in use any more.
func (s *Store) Close() error {
	s.undoing.Wait()
	s.closeWires()
	return s.client.Close()
}

func (c *Config) complete() error {
	if len(c.Addrs) == 0 {
		return errors.New("redis: no address configured")
	}
	if c.Cluster && c.MasterName != "" {
		return errors.New("redis: a cluster has no sentinels: set either Cluster or MasterName")
	}
	if len(c.Addrs) > 1 && !c.Cluster && c.MasterName == "" {
		return fmt.Errorf("redis: %d addresses: set Cluster, or MasterName if they are sentinels", len(c.Addrs))
	}
	if c.Replicas < 0 {
		return fmt.Errorf("redis: %d required replicas", c.Replicas)
	}
	if c.Replicas == 0 && !c.AllowUnacknowledged {
		return errors.New("redis: no replica is required to acknowledge admissions: set Replicas, or AllowUnacknowledged if the store itself is durable")
	}
	if c.WaitTimeout == 0 {
		c.WaitTimeout = 200 * time.Millisecond
	}
	if c.PoolSize == 0 {
		c.PoolSize = 64
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return nil
}

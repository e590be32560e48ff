package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// wirePool keeps the wires to one primary that nobody uses just now.
type wirePool struct {
	slots chan struct{} // one per wire that may exist

	mu     sync.Mutex
	idle   []*wire
	closed bool
}

// node is the client of the primary that serves key.
func (s *Store) node(ctx context.Context, key string) (*goredis.Client, error) {
	switch c := s.client.(type) {
	case *goredis.Client:
		return c, nil
	case *goredis.ClusterClient:
		node, err := c.MasterForKey(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("redis: find the primary of %s: %w", key, err)
		}
		return node, nil
	}
	return nil, fmt.Errorf("redis: no pinned connection on %T", s.client)
}

// onWire gives f a wire to the primary that serves key. A wire on which f failed
// is not used again, and neither are those that idled beside it: what broke one,
// a failover say, has most likely broken them.
func (s *Store) onWire(ctx context.Context, key string, f func(w *wire) error) error {
	node, err := s.node(ctx, key)
	if err != nil {
		return err
	}
	pool := s.wiresOf(node.Options().Addr)
	w, err := pool.take(ctx, node)
	if err != nil {
		return err
	}
	defer func() {
		pool.put(w, !w.doubtful && (err == nil || isReply(err) && !hasPrefix(err, "READONLY", "MOVED")))
	}()
	if err = w.limit(ctx, s.cfg.readTimeout()); err == nil {
		err = f(w)
	}
	return err
}

func (s *Store) wiresOf(addr string) *wirePool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.wires[addr]
	if p == nil {
		p = &wirePool{slots: make(chan struct{}, s.cfg.PoolSize), closed: s.closed}
		s.wires[addr] = p
	}
	return p
}

func (p *wirePool) take(ctx context.Context, node *goredis.Client) (*wire, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("redis: %w: %w", goredis.ErrPoolTimeout, ctx.Err())
	}
	p.mu.Lock()
	closed := p.closed
	var w *wire
	if n := len(p.idle); n > 0 && !closed {
		w, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if w != nil {
		return w, nil
	}
	var err error
	if closed {
		err = goredis.ErrClosed
	} else {
		w, err = dialWire(ctx, node)
	}
	if err != nil {
		<-p.slots
	}
	return w, err
}

func (p *wirePool) put(w *wire, good bool) {
	defer func() { <-p.slots }()
	p.mu.Lock()
	defer p.mu.Unlock()
	if good && !p.closed {
		p.idle = append(p.idle, w)
		return
	}
	_ = w.conn.Close() // nothing on it is worth anything any more
	p.drain()
}

// drain closes the idle wires. The caller has the lock.
func (p *wirePool) drain() {
	for _, w := range p.idle {
		_ = w.conn.Close() // nobody uses it
	}
	p.idle = nil
}

func (s *Store) closeWires() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, p := range s.wires {
		p.mu.Lock()
		p.closed = true
		p.drain()
		p.mu.Unlock()
	}
}

// isReply says that the server answered, with an error: the connection is fine.
func isReply(err error) bool {
	var reply goredis.Error
	return errors.As(err, &reply)
}

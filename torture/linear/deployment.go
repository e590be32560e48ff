package linear

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/redisproc"
)

// Deployment is a primary and its replica with a proxy between them, behind one
// address that follows a promotion, as a managed Redis is.
type Deployment struct {
	mu      sync.Mutex
	primary *redisproc.Server
	replica *redisproc.Server
	proxy   *Proxy
	servers []*redisproc.Server // every one that was started
	proxies []*Proxy
}

// Deploy starts a primary and its replica.
func Deploy(ctx context.Context) (*Deployment, error) {
	primary, err := redisproc.Start(ctx, redisproc.Options{})
	if err != nil {
		return nil, err
	}
	d := &Deployment{primary: primary, servers: []*redisproc.Server{primary}}
	if err := d.Follow(ctx); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// Dial connects to whoever is the primary now, whatever the address says.
func (d *Deployment) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	d.mu.Lock()
	addr := d.primary.Addr()
	d.mu.Unlock()
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, addr)
}

// Addr is the first primary's address: a name for the deployment.
func (d *Deployment) Addr() string { return d.servers[0].Addr() }

// Line is the proxy between the primary and its replica.
func (d *Deployment) Line() *Proxy {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.proxy
}

// Primary is the server that new connections reach.
func (d *Deployment) Primary() *redisproc.Server {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.primary
}

// Follow gives the primary a new replica and waits until it follows.
func (d *Deployment) Follow(ctx context.Context) error {
	primary := d.Primary()
	proxy, err := NewProxy(primary.Addr())
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.proxy, d.proxies = proxy, append(d.proxies, proxy)
	d.mu.Unlock()
	replica, err := redisproc.Start(ctx, redisproc.Options{ReplicaOf: proxy.Addr()})
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.replica, d.servers = replica, append(d.servers, replica)
	d.mu.Unlock()
	return redisproc.AwaitReplicas(ctx, primary.Addr(), 1)
}

// Promote makes the replica the primary and points the address at it. What the
// line still held is lost. The old primary is left as it is: dead, or a zombie
// to which old connections still lead.
func (d *Deployment) Promote(ctx context.Context) error {
	d.mu.Lock()
	replica, proxy := d.replica, d.proxy
	d.mu.Unlock()
	proxy.Cut()
	client := goredis.NewClient(&goredis.Options{Addr: replica.Addr(), PoolSize: 1})
	defer client.Close()
	if err := client.Do(ctx, "replicaof", "no", "one").Err(); err != nil {
		return fmt.Errorf("linear: promote %s: %w", replica.Addr(), err)
	}
	d.mu.Lock()
	d.primary = replica
	d.mu.Unlock()
	return nil
}

// Stop ends every server and proxy.
func (d *Deployment) Stop() error {
	var errs []error
	for _, p := range d.proxies {
		p.Close()
	}
	for _, s := range d.servers {
		errs = append(errs, s.Stop())
	}
	return errors.Join(errs...)
}

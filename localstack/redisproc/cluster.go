package redisproc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/localstack/port"
)

const slots = 16384

// Cluster is a Redis Cluster: its primaries share all slots evenly, in order.
type Cluster struct {
	Primaries, Replicas []*Server // Replicas[i] follows Primaries[i]; empty without replicas
}

// StartCluster starts n primaries, each with a replica if replicas is set, and
// waits until every node says that the cluster is complete.
func StartCluster(ctx context.Context, n int, replicas bool) (*Cluster, error) {
	c := &Cluster{}
	err := c.start(ctx, n, replicas)
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() []string {
	var a []string
	for _, s := range c.nodes() {
		a = append(a, s.Addr())
	}
	return a
}

// Stop ends every node.
func (c *Cluster) Stop() error {
	var errs []error
	for _, s := range c.nodes() {
		errs = append(errs, s.Stop())
	}
	return errors.Join(errs...)
}

func (c *Cluster) nodes() []*Server {
	return append(append([]*Server{}, c.Primaries...), c.Replicas...)
}

func (c *Cluster) start(ctx context.Context, n int, replicas bool) error {
	for i := range n {
		s, err := startNode(ctx)
		if err != nil {
			return err
		}
		c.Primaries = append(c.Primaries, s)
		if err := s.do(ctx, "CLUSTER", "ADDSLOTSRANGE", i*slots/n, (i+1)*slots/n-1); err != nil {
			return err
		}
	}
	if replicas {
		for range n {
			s, err := startNode(ctx)
			if err != nil {
				return err
			}
			c.Replicas = append(c.Replicas, s)
		}
	}
	if err := c.meet(ctx); err != nil {
		return err
	}
	if err := c.follow(ctx); err != nil {
		return err
	}
	return c.bePatient(ctx)
}

// bePatient lets nodes be silent for a minute, once they have found each other: on
// a busy machine one that lives must not be called down.
func (c *Cluster) bePatient(ctx context.Context) error {
	for _, s := range c.nodes() {
		if err := s.do(ctx, "CONFIG", "SET", "cluster-node-timeout", 60_000); err != nil {
			return err
		}
	}
	return nil
}

func startNode(ctx context.Context) (*Server, error) {
	bus, err := port.Free()
	if err != nil {
		return nil, err
	}
	return Start(ctx, Options{Args: []string{
		"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus), "--cluster-node-timeout", "2000",
	}})
}

// meet introduces every node to the first, and waits until all agree.
func (c *Cluster) meet(ctx context.Context) error {
	first := c.Primaries[0]
	for _, s := range c.nodes()[1:] {
		bus := ""
		for i, a := range s.opt.Args {
			if a == "--cluster-port" {
				bus = s.opt.Args[i+1]
			}
		}
		if err := first.do(ctx, "CLUSTER", "MEET", "127.0.0.1", s.Port(), bus); err != nil {
			return err
		}
	}
	for _, s := range c.nodes() {
		err := s.awaitReply(ctx, "CLUSTER INFO", func(info string) bool {
			return strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", len(c.nodes())))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) follow(ctx context.Context) error {
	for i, r := range c.Replicas {
		id, err := c.Primaries[i].ask(ctx, "CLUSTER", "MYID")
		if err != nil {
			return err
		}
		if err := r.do(ctx, "CLUSTER", "REPLICATE", id); err != nil {
			return err
		}
		if err := AwaitReplicas(ctx, c.Primaries[i].Addr(), 1); err != nil {
			return err
		}
	}
	return nil
}

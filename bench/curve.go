package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// Curve is how figures change with the number of something.
type Curve struct {
	Name   string  `json:"name"`
	Of     string  `json:"of"` // what is counted
	Points []Point `json:"points"`
}

// Point is the median of the rounds at one number. Batch is how many admissions
// share an acknowledgement.
type Point struct {
	N     int     `json:"n"`
	Rate  float64 `json:"rate"` // per second, as fast as answers come
	Batch float64 `json:"batch"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
}

// trace measures each number in each round, so that a noisy moment spoils no
// single one, and takes the medians.
func trace(ctx context.Context, name, of string, rounds int, numbers []int, at func(ctx context.Context, n int) (Point, error)) (Curve, error) {
	all := map[int][]Point{}
	for range rounds {
		for _, n := range numbers {
			p, err := at(ctx, n)
			if err != nil {
				return Curve{}, fmt.Errorf("%s at %d: %w", name, n, err)
			}
			all[n] = append(all[n], p)
		}
	}
	c := Curve{Name: name, Of: of}
	for _, n := range numbers {
		middle := func(of func(Point) float64) float64 {
			var list []float64
			for _, p := range all[n] {
				list = append(list, of(p))
			}
			return median(list)
		}
		c.Points = append(c.Points, Point{n, middle(func(p Point) float64 { return p.Rate }), middle(func(p Point) float64 { return p.Batch }),
			middle(func(p Point) float64 { return p.P50 }), middle(func(p Point) float64 { return p.P99 })})
	}
	return c, nil
}

// acknowledgements is how often WAIT was called on a server.
func acknowledgements(ctx context.Context, c *goredis.Client) (float64, error) {
	info, err := c.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(info, "cmdstat_wait:calls=")
	if !found {
		return 0, nil
	}
	n, _, _ := strings.Cut(rest, ",")
	return strconv.ParseFloat(n, 64)
}

// timed notes how long every 16th ask took, in milliseconds.
type timed struct {
	mu   sync.Mutex
	n    int
	took []float64
}

func (t *timed) wrap(a admitter) admitter {
	return func(ctx context.Context, candidate string) (bool, error) {
		begin := time.Now()
		ok, err := a(ctx, candidate)
		ms := float64(time.Since(begin).Microseconds()) / 1000
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.n++; t.n%16 == 0 {
			t.took = append(t.took, ms)
		}
		return ok, err
	}
}

// salesCurve is the curve over sales on a cluster of two nodes, each with a replica:
// 1,024 callers in all, one process.
func (g *ground) salesCurve(ctx context.Context, rounds int) (_ Curve, err error) {
	cluster, err := redisproc.StartCluster(ctx, 2, true)
	if err != nil {
		return Curve{}, err
	}
	defer func() {
		if stop := cluster.Stop(); err == nil {
			err = stop
		}
	}()
	s, err := admredis.Open(admredis.Config{Addrs: cluster.Addrs(), Cluster: true, Replicas: 1, WaitTimeout: time.Second, PoolSize: 512, Log: quiet()})
	if err != nil {
		return Curve{}, err
	}
	defer s.Close()
	return trace(ctx, "group commit on a cluster of two nodes, 1,024 callers, one process", "sales", rounds, []int{1, 4, 16}, func(ctx context.Context, n int) (Point, error) {
		return g.salesPoint(ctx, s, cluster, n)
	})
}

func (g *ground) salesPoint(ctx context.Context, s *admredis.Store, cluster *redisproc.Cluster, n int) (Point, error) {
	ids := make([]string, n)
	for _, p := range cluster.Primaries {
		c := goredis.NewClient(&goredis.Options{Addr: p.Addr()})
		err := c.FlushAll(ctx).Err()
		_ = c.Close() // it was only told
		if err != nil {
			return Point{}, err
		}
	}
	for i := range ids {
		var err error
		if ids[i], err = g.install(ctx, s, stormSeats/n, stormSeats/n); err != nil {
			return Point{}, err
		}
	}
	before, err := clusterWaits(ctx, cluster)
	if err != nil {
		return Point{}, err
	}
	c := admredis.NewCommitter(s, groupDefaults)
	var t timed
	tally, err := storm(ctx, 1024, second, t.wrap(func(ctx context.Context, candidate string) (bool, error) {
		at, _ := strconv.Atoi(candidate[1:])
		r := g.request(candidate)
		r.Sale = ids[at%n]
		a, err := c.Admit(ctx, r)
		return err == nil && a.Outcome == admission.Admitted, err
	}))
	if err != nil {
		return Point{}, err
	}
	after, err := clusterWaits(ctx, cluster)
	return Point{n, tally.rate, tally.all / max(after-before, 1), quantile(t.took, 0.5), quantile(t.took, 0.99)}, err
}

func clusterWaits(ctx context.Context, cluster *redisproc.Cluster) (sum float64, err error) {
	for _, p := range cluster.Primaries {
		c := goredis.NewClient(&goredis.Options{Addr: p.Addr()})
		n, err := acknowledgements(ctx, c)
		_ = c.Close() // it was only asked
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

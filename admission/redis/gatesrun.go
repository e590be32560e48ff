package redis

import (
	"context"
	"sync"
	"time"
)

// Run refreshes every watched sale until ctx ends, those of one primary one after
// the other: a primary that is frozen leaves the marks of no other's sales old. A
// refresh that fails is logged once per outage; the gates then let everything
// through to the script.
func (g *Gates) Run(ctx context.Context) {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	r := rounds{busy: map[string]bool{}, failing: map[string]bool{}}
	defer r.all.Wait()
	for {
		for primary, sales := range g.watchedBy(ctx) {
			r.start(primary, func() {
				for _, sale := range sales {
					g.refresh(ctx, sale, &r)
				}
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// rounds are the refreshes under way, one for each primary at most.
type rounds struct {
	all     sync.WaitGroup
	mu      sync.Mutex
	busy    map[string]bool // primaries
	failing map[string]bool // sales
}

// start runs a round, unless the primary's last one is still under way.
func (r *rounds) start(primary string, round func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[primary] {
		return
	}
	r.busy[primary] = true
	r.all.Go(func() {
		round()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.busy, primary)
	})
}

// failed takes down whether a refresh failed, and reports whether that is news.
func (r *rounds) failed(sale string, failed bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := failed && !r.failing[sale]
	r.failing[sale] = failed
	return news
}

func (g *Gates) refresh(ctx context.Context, sale string, r *rounds) {
	err := g.Refresh(ctx, sale)
	if r.failed(sale, err != nil) && ctx.Err() == nil {
		g.store.cfg.Log.Warn("the local gates are stale", "sale", sale, "error", err)
	}
}

// watchedBy is the watched sales by their primary.
func (g *Gates) watchedBy(ctx context.Context) map[string][]string {
	list := map[string][]string{}
	for sale := range *g.sales.Load() {
		primary := g.store.primary(ctx, sale) // may have to ask the cluster
		list[primary] = append(list[primary], sale)
	}
	return list
}

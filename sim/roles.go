package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/status"
	"github.com/holdfast/holdfast/workers"
	"github.com/holdfast/holdfast/workers/poller"
)

// house is what wiring.House is: the middle, joined on the adapters.
type house struct {
	p      *process
	redis  redis
	store  ledger.Store
	queue  queue
	steps  *lifecycle.Steps
	status *status.Publisher
}

// self is the process of a role: every role has a house of its own.
func (h *house) self() *process { return h.p }

// open joins a process to the world. The name counts up, so that a process that
// was started again is another one.
func (t *town) open(kind string) (*house, error) {
	t.boots++
	p := t.newProcess(fmt.Sprintf("%s-%02d", kind, t.boots))
	h := &house{p: p, redis: redis{p, t.redis}, queue: queue{p, t.cloud}}
	if h.store = (store{p, t.ledger}); t.tables != nil {
		h.store = t.tables.open(p)
	}
	gateways, err := t.gateways(p)
	if err != nil {
		return nil, err
	}
	controls := lifecycle.NewControlCache(h.store, p.Now)
	h.status = status.Start(context.WithValue(t.ctx, callerKey{}, "publisher"), status.Config{Reader: h.redis, Store: h.store, Controls: controls, Log: p.log})
	h.steps = &lifecycle.Steps{Store: h.store, Redis: h.redis, Gateways: gateways, Guard: h.redis, Publish: h.queue,
		Status: h.status, Controls: controls, Alarm: t.alarm, Now: p.Now, Log: p.log}
	p.run(func(ctx context.Context) { // a crash ends the publisher as everything else
		<-ctx.Done()
		ended, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cancel()
		_ = h.status.Close(ended) // its error says that it was cut off
	})
	return h, nil
}

// ingressRole is an ingress process.
type ingressRole struct {
	*house
	door atomic.Pointer[ingress.Ingress] // nil until it has started
}

func (t *town) bootIngress() (*ingressRole, error) {
	h, err := t.open("ingress")
	if err != nil {
		return nil, err
	}
	r := &ingressRole{house: h}
	o := ingress.Options{Hasher: t.hasher, Ledger: h.store, Redis: h.redis, Admit: h.redis, Walks: t.mutant.walks(h.steps), Publish: h.queue,
		Gateways: h.steps.Gateways, Gateway: t.script.gateway, Status: h.status, PublicURL: bookHost, Now: h.p.Now, Log: h.p.log,
		Rand: seeded{rand.New(rand.NewPCG(t.options.Seed, uint64(1000+t.boots)))}}
	if t.script.resume {
		o.Resume, o.ResumeAfter = h.redis, 3*time.Second
	}
	door, err := ingress.New(o)
	if err != nil {
		return nil, err
	}
	h.p.run(func(ctx context.Context) {
		// door.Run with a slower clock: nothing but the plans' age depends on it.
		for again := true; again; again = h.p.sleep(t.refreshEvery()) {
			if door.Refresh(ctx) == nil {
				r.door.Store(door)
			}
		}
	})
	return r, nil
}

// workerRole is a worker process with the real poller.
type workerRole struct{ *house }

func (t *town) bootWorker() (*workerRole, error) {
	h, err := t.open("worker")
	if err != nil {
		return nil, err
	}
	tries := min(workers.DefaultNoticeTries, t.script.maxReceives-2)
	p, err := poller.New(poller.Config{Source: h.queue, Handler: handler{h.p, &workers.Handler{Steps: h.steps, NoticeTries: tries, Log: h.p.log}},
		Parker: h.queue, Pollers: 1, Workers: 4, Backoff: backoff, Now: h.p.Now, Log: h.p.log})
	if err != nil {
		return nil, err
	}
	notes := &reaper.NotedAges{Store: h.store, Now: h.p.Now, Queue: h.queue}
	h.p.run(p.Run)
	h.p.run(func(ctx context.Context) {
		for h.p.sleep(45 * time.Second) {
			_ = notes.Note(ctx, theSale, p.OldestAge()) // the next note says it again
		}
	})
	return &workerRole{h}, nil
}

// backoff is the poller's without its chance.
func backoff(receives int) time.Duration {
	return min(time.Minute, time.Second<<min(receives-1, 6)) * 3 / 4
}

// handler makes each delivery a turn of its own.
type handler struct {
	p     *process
	inner poller.Handler
}

// Handle implements delivery.Handler.
func (h handler) Handle(ctx context.Context, e events.Event, m events.Meta) error {
	if h.p.town.sched.stand(h.p, "worker.handles", e.DedupID()).kind == crashed {
		return errCrashed
	}
	return h.inner.Handle(ctx, e, m)
}

// reaperRole is a reaper process.
type reaperRole struct {
	*house
	healers *reaper.Reaper
}

func (t *town) bootReaper() (*reaperRole, error) {
	h, err := t.open("reaper")
	if err != nil {
		return nil, err
	}
	r := &reaperRole{house: h}
	if r.healers, err = t.healers(h); err != nil {
		return nil, err
	}
	jitter := rand.New(rand.NewPCG(t.options.Seed, uint64(2000+t.boots)))
	loop := r.healers.Loop(reaper.LoopOptions{SweepEvery: t.script.sweepEvery, Jitter: jitter.Float64})
	h.p.run(loop.Run)
	return r, nil
}

// healers are the passes; so many at once that every id of a pass stands at its
// first call before the scheduler picks one.
func (t *town) healers(h *house) (*reaper.Reaper, error) {
	return reaper.New(reaper.Options{Steps: h.steps, Redis: h.redis, Health: h.redis, Status: h.status,
		Parked: &workers.Handler{Steps: h.steps, Log: h.p.log}, Queue: h.queue, Dead: h.queue, Parallel: 256})
}

// refreshEvery is how often plans are read; nobody books when all is calm.
func (t *town) refreshEvery() time.Duration {
	if t.calm.Load() {
		return 10 * time.Minute
	}
	return t.script.refreshEvery
}

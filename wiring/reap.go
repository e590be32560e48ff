package wiring

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/workers/poller"
)

// Reap sweeps and compares until ctx ends.
func (h *House) Reap(ctx context.Context) error {
	RelaxGC()
	healers, err := h.Healers()
	if err != nil {
		return err
	}
	loop := healers.Loop(reaper.LoopOptions{SweepEvery: h.Config.SweepEvery, DiffEvery: h.Config.DiffEvery})
	return h.observed(ctx, []admin.Check{{Name: "ledger", Run: h.ledgerAnswers}}, func(ctx context.Context) error {
		var watch sync.WaitGroup
		watch.Go(func() { h.watchGateway(ctx) })
		loop.Run(ctx)
		watch.Wait()
		return nil
	})
}

func (h *House) ledgerAnswers(ctx context.Context) error {
	_, err := h.Store.Sales(ctx)
	return err
}

func (h *House) noted() *reaper.NotedAges {
	return &reaper.NotedAges{Store: h.Store, Now: h.Now, Queue: h.Queue}
}

// noteEvery is how often a worker tells reapers how old its messages are.
const noteEvery = 5 * time.Second

// noteQueueAge tells reapers how old the messages are that this worker sees,
// for their breaker (protocol.md 3.8), until ctx ends. The channel is closed
// when it has stopped.
func (h *House) noteQueueAge(ctx context.Context, p *poller.Poller) <-chan struct{} {
	done := make(chan struct{})
	notes := h.noted()
	go func() {
		defer close(done)
		tick := time.NewTicker(noteEvery)
		defer tick.Stop()
		for {
			h.note(ctx, notes, p.OldestAge())
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return done
}

// note tells the reapers of every sale how old the oldest message is that this
// process saw.
func (h *House) note(ctx context.Context, notes *reaper.NotedAges, oldest time.Duration) {
	sales, err := h.Store.Sales(ctx)
	for _, id := range sales {
		if e := notes.Note(ctx, id, oldest); e != nil {
			err = e
		}
	}
	if err != nil && ctx.Err() == nil {
		h.Log.Warn("the age of the queue could not be noted", "error", err.Error())
	}
}

package wiring

import (
	"context"

	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/workers"
	"github.com/holdfast/holdfast/workers/poller"
)

// Work handles events until ctx ends, then finishes what it took.
func (h *House) Work(ctx context.Context) error {
	RelaxGC()
	p, err := poller.New(poller.Config{
		Source: h.Queue.Consumer, Handler: &workers.Handler{Steps: h.Steps, Log: h.Log}, Parker: h.Queue.Parker,
		Workers: h.Config.Workers, Observer: h.Metrics, Now: h.Now, Log: h.Log,
	})
	if err != nil {
		return err
	}
	return h.observed(ctx, []admin.Check{{Name: "queue", Run: h.queueAnswers}}, func(ctx context.Context) error {
		notes := h.noteQueueAge(ctx, p)
		p.Run(ctx)
		<-notes
		return nil
	})
}

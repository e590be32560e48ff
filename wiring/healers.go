package wiring

import (
	"context"

	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/workers"
)

// Healers are the passes that sweep, compare, repair, rebuild and audit this
// house's sales.
func (h *House) Healers() (*reaper.Reaper, error) {
	return reaper.New(reaper.Options{
		Steps: h.Steps, Redis: h.Redis, Health: h.Redis, Status: h.Status,
		Parked: &workers.Handler{Steps: h.Steps, Log: h.Log},
		Ages:   h.noted(), Queue: h.Queue, Dead: allDead{h.Queue}, Metrics: h.Metrics,
	})
}

// allDead redrives everything that lies in the dead letter queue.
type allDead struct{ *Queue }

// RedriveDead implements reaper.Redriver.
func (q allDead) RedriveDead(ctx context.Context) error {
	_, err := q.Redrive(ctx, 0, nil)
	return err
}

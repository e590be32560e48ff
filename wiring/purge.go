package wiring

import (
	"context"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
)

// Purge is how the people of a finished sale are forgotten.
func (h *House) Purge() (*operator.Purge, error) {
	healers, err := h.Healers()
	if err != nil {
		return nil, err
	}
	return &operator.Purge{Desk: h.Desk(), Ledger: h.purger, Refill: Refill(healers.Rebuilder)}, nil
}

// Refill is a rebuild as a purge asks for it.
func Refill(r *reaper.Rebuilder) func(context.Context, string, func(context.Context, func(context.Context) error) error) error {
	return func(ctx context.Context, saleID string, prepare func(context.Context, func(context.Context) error) error) error {
		_, err := r.Rebuild(ctx, saleID, reaper.RebuildOptions{Prepare: prepare})
		return err
	}
}

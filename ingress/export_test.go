package ingress

import (
	"context"
	"time"
)

// ObserveSuccess lets a test say how a real success looked.
func (in *Ingress) ObserveSuccess(url string, took time.Duration) { in.decoy.observe(url, took) }

// PollSeats makes one pass of the seat maps.
func (in *Ingress) PollSeats(ctx context.Context) { in.seats.Poll(ctx, true) }

package main

import (
	"context"
	"fmt"
	"time"
)

// contest compares two figures that are measured one after the other in each
// round. The ratio is ours / other; Floor and Aim bound it from below, or from
// above where Below is set.
type contest struct {
	Name, Unit string
	Floor, Aim float64
	Below      bool
	ours       func(ctx context.Context) (float64, error)
	other      func(ctx context.Context) (float64, error)
}

// Result is what a contest came to, as the history keeps it.
type Result struct {
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Ratio   float64   `json:"ratio"` // median of the rounds'
	Ratios  []float64 `json:"ratios"`
	Ours    float64   `json:"ours"`  // medians, in Unit
	Other   float64   `json:"other"` // they depend on the machine
	Floor   float64   `json:"floor"`
	Aim     float64   `json:"aim"`
	Below   bool      `json:"below,omitempty"`
	Foreign float64   `json:"foreign_cpu"` // share of the machine that others used
	Stalls  int64     `json:"stalls,omitempty"`
	Verdict string    `json:"verdict"` // aim, floor, missed, failed, or - where there is no goal
	Fault   string    `json:"fault,omitempty"`
}

// run holds the contest. Which side begins changes from round to round.
// After each round the machine belongs to others for the time of rest.
func (c contest) run(ctx context.Context, rounds int, rest time.Duration) (Result, error) {
	r := Result{Name: c.Name, Unit: c.Unit, Floor: c.Floor, Aim: c.Aim, Below: c.Below}
	var ours, others []float64
	before, stalled := readCPU(), stalls.Load()
	for round := range rounds {
		sides := []func(context.Context) (float64, error){c.ours, c.other}
		figures := make([]float64, 2)
		for i := range sides {
			side := (i + round) % 2
			f, err := sides[side](ctx)
			if err != nil {
				return r, fmt.Errorf("%s: %w", c.Name, err)
			}
			figures[side] = f
		}
		if figures[1] <= 0 {
			return r, fmt.Errorf("%s: the other side measured %v", c.Name, figures[1])
		}
		ours, others = append(ours, figures[0]), append(others, figures[1])
		r.Ratios = append(r.Ratios, figures[0]/figures[1])
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(rest):
		}
	}
	r.Foreign, r.Stalls = foreignShare(before, readCPU()), stalls.Load()-stalled
	r.Ratio, r.Ours, r.Other = median(r.Ratios), median(ours), median(others)
	r.Verdict = c.judge(r.Ratio)
	return r, nil
}

// judge says which goals a ratio reaches.
func (c contest) judge(ratio float64) string {
	reaches := func(goal float64) bool {
		if c.Below {
			return ratio <= goal
		}
		return ratio >= goal
	}
	switch {
	case c.Floor == 0 && c.Aim == 0: // to know, not to reach
		return "-"
	case reaches(c.Aim):
		return "aim"
	case reaches(c.Floor):
		return "floor"
	}
	return "missed"
}

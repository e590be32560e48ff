package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
)

// cost is what one act cost.
type cost struct {
	act      string
	took     time.Duration
	cpu      cpu
	calls    int64   // to the table
	commands int64   // of Redis
	peakMB   float64 // by which the heap was larger than before; the emulated table's included
}

// measured is one size.
type measured struct {
	candidates int
	costs      []cost
	holds      []weight // after import and fill
}

// measure puts up a sale of one size and does everything to it once, but for the
// acts that are left out.
func measure(ctx context.Context, candidates int, out io.Writer, without ...string) (m measured, err error) {
	m.candidates = candidates
	w, err := openWorld(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, w.shut(context.WithoutCancel(ctx))) }()
	p := plan(candidates, w.Now())
	people, err := rostergen.New(rostergen.Spec{Size: candidates, Seed: 1, Levels: []string{"A"}})
	if err != nil {
		return m, err
	}
	if _, err := w.Desk().Apply(ctx, p, by); err != nil {
		return m, err
	}
	healers, err := w.Healers()
	if err != nil {
		return m, err
	}
	for _, act := range w.acts(healers, people, p) {
		if slices.Contains(without, act.name) {
			continue
		}
		c, err := w.cost(ctx, act.do)
		if err != nil {
			return m, fmt.Errorf("%s: %w", act.name, err)
		}
		// At once: whoever stops a long run has the figures of what was done.
		fmt.Fprintf(out, "%8d candidates: %-8s %8v %8v cpu (%v gc) %8v Redis %8d calls %9d commands %6.0f MB\n",
			candidates, act.name, about(c.took), about(c.cpu.own), about(c.cpu.gc), about(c.cpu.redis), c.calls, c.commands, c.peakMB)
		if c.act = act.name; !act.setUp {
			m.costs = append(m.costs, c)
		}
		if !act.writes {
			continue
		}
		held, err := w.weigh(ctx, act.name)
		if err != nil {
			return m, err
		}
		fmt.Fprintf(out, "%8d candidates: %d items, %.1f MB of the table, %.1f MB of Redis\n", candidates, held.items, mega(held.table), mega(held.redisBytes))
		m.holds = append(m.holds, held)
	}
	return m, nil
}

var by = operator.By{Actor: "operator:growth", Reason: "measurement"}

// act is one thing that is done to the sale.
type act struct {
	name   string
	setUp  bool // not measured: it is no act of an operator
	writes bool // what the stores hold grows
	do     func(context.Context) error
}

// acts are in their order. What finds something wrong is an error: a pass that
// has nothing to do where it should have is not measured.
func (w *world) acts(r *reaper.Reaper, people *rostergen.Roster, p sale.Sale) []act {
	rows := func() (iter.Seq2[sale.Row, error], error) {
		return func(yield func(sale.Row, error) bool) {
			for i := range people.Len() {
				row := people.Row(i)
				row.Levels = nil // any
				if !yield(row, nil) {
					return
				}
			}
		}, nil
	}
	return []act{
		{name: "import", writes: true, do: func(ctx context.Context) error {
			_, err := w.Desk().ImportRoster(ctx, saleID, rows, operator.ImportOptions{}, nil, by)
			return err
		}},
		{name: "fill", setUp: true, writes: true, do: func(ctx context.Context) error {
			if err := w.Desk().Open(ctx, saleID, by); err != nil {
				return err
			}
			return w.fill(ctx, people, p.TotalCap)
		}},
		{name: "status", do: func(ctx context.Context) error { return wants(p.TotalCap)(w.viewed(ctx)) }},
		{name: "sweep", do: func(ctx context.Context) error { _, err := r.Sweeper.Sweep(ctx, saleID); return err }},
		{name: "diff", do: func(ctx context.Context) error {
			d, err := r.Differ.Diff(ctx, saleID)
			if err == nil && !d.Clean() {
				err = fmt.Errorf("it is not clean: %+v", d)
			}
			return err
		}},
		{name: "audit", do: func(ctx context.Context) error {
			a, err := r.Auditor.Audit(ctx, saleID)
			if err == nil && !a.OK {
				err = fmt.Errorf("%d violations: %+v", len(a.Violations), a.Violations[:min(1, len(a.Violations))])
			}
			return err
		}},
		{name: "export", do: func(ctx context.Context) error {
			return wants(p.TotalCap)(w.Desk().Export(ctx, saleID, io.Discard, operator.ExportOptions{}))
		}},
		{name: "rebuild", do: func(ctx context.Context) error {
			_, err := r.Rebuilder.Rebuild(ctx, saleID, reaper.RebuildOptions{SkipDrain: true})
			return err
		}},
	}
}

func (w *world) viewed(ctx context.Context) (int, error) {
	v, err := w.Desk().View(ctx, saleID)
	return v.Bookings, err
}

// wants is an error unless there were so many.
func wants(n int) func(int, error) error {
	return func(got int, err error) error {
		if err == nil && got != n {
			err = fmt.Errorf("%d bookings, not %d", got, n)
		}
		return err
	}
}

// cost does something and says what it took.
func (w *world) cost(ctx context.Context, do func(context.Context) error) (cost, error) {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	calls := w.calls.n.Load()
	spent, err := w.spent(ctx)
	if err != nil {
		return cost{}, err
	}
	commands, err := w.commands(ctx)
	if err != nil {
		return cost{}, err
	}
	stop, most := make(chan struct{}), make(chan uint64)
	go func() { most <- peak(stop) }()
	began := time.Now()
	err = do(ctx)
	took := time.Since(began)
	close(stop)
	heap := <-most
	if err != nil {
		return cost{}, err
	}
	after, err := w.commands(ctx)
	if err != nil {
		return cost{}, err
	}
	all, err := w.spent(ctx)
	grown := max(0, int64(heap)-int64(before.HeapAlloc))
	return cost{took: took, cpu: all.minus(spent), calls: w.calls.n.Load() - calls, commands: after - commands, peakMB: float64(grown) / (1 << 20)}, err
}

// peak is the largest heap until stop, looked at ten times a second.
func peak(stop <-chan struct{}) (most uint64) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
		select {
		case <-stop:
			return most
		case <-tick.C:
		}
	}
}

package poller

import (
	"context"
	"sync"
	"time"
)

// stages are how far a stop has gone. The intake ends first, then, if it takes
// too long, the work, and last the tidying up behind it.
type stages struct {
	intake, work, tidy context.Context
}

// Run polls until ctx ends, which stops the intake only: what was taken is
// finished, or cut off after Grace and given back, and everything that is done
// is deleted before Run returns. Nothing runs on then. With a handler that ends
// when its context does, a stop takes at most Grace and five seconds. Run can be
// called once.
func (p *Poller) Run(ctx context.Context) {
	tidy, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	work, cut := context.WithCancel(tidy)
	defer cut()
	s := stages{intake: ctx, work: work, tidy: tidy}
	finished := make(chan struct{})
	var background, deleters, workers, pollers sync.WaitGroup
	background.Go(func() { p.limitStop(ctx, finished, cut, abandon) })
	background.Go(func() { p.keepHidden(tidy, finished) })
	for range p.cfg.Workers {
		workers.Go(func() { p.work(s) })
	}
	for range p.cfg.Pollers { // as many as there are polls: then deletes keep up with receives
		deleters.Go(func() { p.deleteDone(tidy) })
		pollers.Go(func() { p.poll(s) })
	}
	pollers.Wait()
	close(p.groups)
	workers.Wait()
	close(p.deletes)
	deleters.Wait()
	close(finished)
	background.Wait()
}

// limitStop ends the later stages when a stop takes too long.
func (p *Poller) limitStop(intake context.Context, finished <-chan struct{}, cut, abandon func()) {
	select {
	case <-intake.Done():
	case <-finished:
		return
	}
	for _, stage := range []struct {
		after time.Duration
		end   func()
	}{{p.cfg.Grace, cut}, {tidyTimeout, abandon}} {
		timer := time.NewTimer(stage.after)
		select {
		case <-timer.C:
			stage.end()
		case <-finished:
			timer.Stop()
			return
		}
	}
}

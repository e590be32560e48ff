package dynamo

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// parallel is how many parts of a listing or scan are read at once.
const parallel = 4

// fanOut reads parts at once and hands every row to each, from this goroutine
// alone. The first error, of reading or of each, stops all. When it returns,
// everything it started has ended.
func fanOut(ctx context.Context, parts int, read func(ctx context.Context, part int, emit func([]item) error) error, each func(item) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pages := make(chan []item)
	emit := func(page []item) error {
		select {
		case pages <- page:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	failed := make(chan error, 1)
	go func() {
		defer close(pages)
		var g errgroup.Group
		g.SetLimit(parallel)
		for part := range parts {
			g.Go(func() error {
				err := read(ctx, part, emit)
				if err != nil {
					cancel(err)
				}
				return err
			})
		}
		failed <- g.Wait()
	}()
	var stop error
	for page := range pages {
		for _, it := range page {
			if stop == nil {
				if stop = each(it); stop != nil {
					cancel(stop)
				}
			}
		}
	}
	if stop != nil {
		return stop
	}
	return <-failed
}

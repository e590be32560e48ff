package reaper

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
)

// pool bounds what is under way at once, over all steps of a pass that share it.
type pool struct {
	slots chan struct{}
	tools *tools
}

func (t *tools) pool() *pool { return &pool{slots: make(chan struct{}, t.Parallel), tools: t} }

// each calls do for every id, in no order, and waits for all of them; each call
// has its own deadline. It returns how many were left because ctx ended. Without
// an order two passes at once share the work instead of asking every gateway
// everything twice, side by side; and an id that hangs is not in front each time.
func each[T any](ctx context.Context, p *pool, ids []T, do func(ctx context.Context, id T)) (left int) {
	ids = slices.Clone(ids)
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, id := range ids {
		if ctx.Err() != nil {
			return len(ids) - i
		}
		select {
		case <-ctx.Done():
			return len(ids) - i
		case p.slots <- struct{}{}:
		}
		wg.Go(func() {
			defer func() { <-p.slots }()
			one, cancel := context.WithTimeout(ctx, p.tools.IDMax)
			defer cancel()
			do(one, id)
		})
	}
	return 0
}

// errEnough ends a listing whose limit is reached.
var errEnough = errors.New("reaper: enough for one pass")

// list collects distinct ids from a listing, limit at most; a longer list is
// the next pass's.
func list[T any, K comparable](limit int, key func(T) K, walk func(each func(T) error) error) ([]T, error) {
	var ids []T
	seen := map[K]bool{}
	err := walk(func(id T) error {
		if seen[key(id)] {
			return nil // a scan may repeat what it shows
		}
		if len(ids) == limit {
			return errEnough
		}
		seen[key(id)] = true
		ids = append(ids, id)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return ids, err
}

func itself[T any](v T) T { return v }

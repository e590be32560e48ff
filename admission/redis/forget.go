package redis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

var _ admission.Forgetter = (*Store)(nil)

// forgetWalks bounds the walks: one that finds keys, one that finds none, and as
// many again for failovers meanwhile.
const forgetWalks = 6

// ForgetRehearsal implements admission.Forgetter. It walks the keys of the
// primary that has the sale, a page at a time, so that a sale beside it hardly
// notices; UNLINK frees large hashes in the background. A cursor means nothing to
// another primary, so what counts in the end is a whole walk over one and the same
// primary that found no key of the sale.
func (s *Store) ForgetRehearsal(ctx context.Context, saleID string) (removed int, err error) {
	if !sale.IsRehearsal(saleID) {
		return 0, fmt.Errorf("sale %q is no rehearsal: its keys are never deleted", saleID)
	}
	k := saleKeys(saleID)
	for range forgetWalks {
		before, err := s.runID(ctx, k)
		if err != nil {
			return removed, err
		}
		found, gone, err := s.forgetWalk(ctx, k, func(string) bool { return false })
		removed += gone
		if err != nil {
			return removed, fmt.Errorf("redis: forget rehearsal %s: %w", saleID, err)
		}
		after, err := s.runID(ctx, k)
		if err != nil {
			return removed, err
		}
		if found == 0 && before == after {
			return removed, nil
		}
	}
	return removed, fmt.Errorf("redis: forget rehearsal %s: %d walks were not enough: somebody still writes to it, or the primary changes all the time; call it again", saleID, forgetWalks)
}

// forgetWalk deletes what one walk meets, but for the keys that stay. found is how
// many others it met, gone how many of them it is known to have deleted.
func (s *Store) forgetWalk(ctx context.Context, k keys, stays func(name string) bool) (found, gone int, err error) {
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		err := s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
			names, next, err := c.Scan(ctx, cursor, string(k)+"*", scanPage).Result()
			if err != nil {
				return err
			}
			names = slices.DeleteFunc(names, stays)
			if found += len(names); len(names) > 0 {
				n, err := c.Unlink(ctx, names...).Result()
				if gone += int(n); err != nil {
					return err
				}
			}
			cursor = next
			return nil
		})
		if err != nil {
			return found, gone, err
		}
	}
	return found, gone, nil
}

// runID names the process that serves the sale; each start of a server is another.
func (s *Store) runID(ctx context.Context, k keys) (id string, err error) {
	err = s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
		info, err := c.Info(ctx, "server").Result()
		if _, rest, found := strings.Cut(info, "run_id:"); found {
			id, _, _ = strings.Cut(rest, "\r")
		}
		return err
	})
	if err == nil && id == "" {
		err = malformed("info: no run_id")
	}
	return id, err
}

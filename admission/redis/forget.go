package redis

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

var _ admission.Forgetter = (*Store)(nil)

// ForgetRehearsal implements admission.Forgetter. It walks the keys of the
// primary that has the sale, a page at a time, so that a sale beside it hardly
// notices; UNLINK frees large hashes in the background.
func (s *Store) ForgetRehearsal(ctx context.Context, saleID string) (removed int, err error) {
	if !sale.IsRehearsal(saleID) {
		return 0, fmt.Errorf("sale %q is no rehearsal: its keys are never deleted", saleID)
	}
	k := saleKeys(saleID)
	cursor := uint64(0)
	for {
		err := s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
			names, next, err := c.Scan(ctx, cursor, string(k)+"*", scanPage).Result()
			if err == nil && len(names) > 0 {
				var n int64
				n, err = c.Unlink(ctx, names...).Result()
				removed += int(n)
			}
			if err == nil {
				cursor = next
			}
			return err
		})
		if err != nil {
			return removed, fmt.Errorf("redis: forget rehearsal %s: %w", saleID, err)
		}
		if cursor == 0 {
			return removed, nil
		}
	}
}

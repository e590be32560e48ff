package redis

import (
	"context"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// proof is no part of the sale: no script names it, and it goes by itself.
func (k keys) proof() string { return string(k) + "adm:proof" }

// proofLife is for how long the mark of Prove stays.
const proofLife = time.Minute

// Prove writes a mark in the sale's slot and waits until every required replica
// has it, which is what each admission has to get (protocol.md R4), and returns
// how long both took. The mark is not part of the sale and goes by itself. Too
// few replicas in time: admission.ErrUnacknowledged. Safe to call at any time.
func (s *Store) Prove(ctx context.Context, sale string) (time.Duration, error) {
	if !word(sale, maxName) {
		return 0, fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	key := saleKeys(sale).proof()
	var took time.Duration
	err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
		began := time.Now()
		if err := c.Set(ctx, key, 1, proofLife).Err(); err != nil {
			return err
		}
		ok, err := s.acknowledged(ctx, c)
		if err != nil {
			return err
		}
		if !ok {
			return admission.ErrUnacknowledged
		}
		took = time.Since(began)
		return nil
	})
	return took, err
}

package redis

import (
	"context"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// ownerSlot is the size of a slot in an owner table: a counted level's token of
// number n has the id of its booking, padded with zeros, at n*ownerSlot. Ids are
// at most that long (maxName).
const ownerSlot = 40

// maxToken is the highest number of a token: the table must stay below the
// longest string that Redis has, 512 MB.
const maxToken = 512<<20/ownerSlot - 1

const _ = uint(maxToken - sale.MaxToken) // operators are refused before the scripts have to

// ScanSeats walks the seat map: every token that somebody holds, with the
// booking that does. Pages may repeat an element; an error means that the walk
// is incomplete.
func (s *Store) ScanSeats(ctx context.Context, saleID string, each func(token, bookingID string) error) error {
	if err := s.scanPairs(ctx, saleID, saleKeys(saleID).seat(), each); err != nil {
		return err
	}
	levels, err := s.countedLevels(ctx, saleKeys(saleID))
	if err != nil {
		return err
	}
	for _, level := range levels {
		if err := s.scanOwners(ctx, saleKeys(saleID), level, each); err != nil {
			return err
		}
	}
	return nil
}

// countedLevels are those that cfg knows.
func (s *Store) countedLevels(ctx context.Context, k keys) ([]string, error) {
	names, err := s.fieldNames(ctx, k.cfg())
	if err != nil {
		return nil, err
	}
	var kinds, levels []string
	for _, f := range names {
		if level, found := strings.CutPrefix(f, "kind:"); found {
			kinds, levels = append(kinds, f), append(levels, level)
		}
	}
	if len(kinds) == 0 {
		return nil, nil
	}
	values, err := s.fields(ctx, k.cfg(), kinds)
	if err != nil {
		return nil, err
	}
	var counted []string
	for i, kind := range values {
		if kind == kindCounted {
			counted = append(counted, levels[i])
		}
	}
	return counted, nil
}

// scanOwners walks the owner table of a counted level.
func (s *Store) scanOwners(ctx context.Context, k keys, level string, each func(token, bookingID string) error) error {
	for first := 0; ; first += scanPage {
		var page string
		err := s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
			var slots *goredis.StringCmd
			err := reading(ctx, c, k, func(p goredis.Pipeliner) {
				slots = p.GetRange(ctx, k.owner(level), int64(first)*ownerSlot, int64(first+scanPage)*ownerSlot-1)
			})
			page = slots.Val()
			return err
		})
		if err != nil {
			return fmt.Errorf("redis: scan %s: %w", k.owner(level), err)
		}
		for i := 0; i*ownerSlot < len(page); i++ {
			slot := page[i*ownerSlot : min((i+1)*ownerSlot, len(page))]
			if owner := strings.TrimRight(slot, "\x00"); owner != "" {
				if err := each(sale.TokenName(level, first+i), owner); err != nil {
					return err
				}
			}
		}
		if len(page) < scanPage*ownerSlot {
			return nil
		}
	}
}

// ScanCandidates walks the admitted set: every candidate who holds a booking,
// with its id. Pages may repeat an element; an error means that the walk is
// incomplete.
func (s *Store) ScanCandidates(ctx context.Context, sale string, each func(candidate, bookingID string) error) error {
	return s.scanPairs(ctx, sale, saleKeys(sale).seen(), each)
}

func (s *Store) scanPairs(ctx context.Context, sale, key string, each func(field, value string) error) error {
	if !word(sale, maxName) {
		return fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	return s.scan(ctx, saleKeys(sale), key, func(pairs []string) error {
		for i := 0; i+1 < len(pairs); i += 2 {
			if err := each(pairs[i], pairs[i+1]); err != nil {
				return err
			}
		}
		return nil
	})
}

package redis

import (
	"context"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// scanPage is the COUNT of a scan: large enough to be quick, small enough to
// keep admissions waiting for well under a millisecond.
const scanPage = 500

// scan walks a hash of a sale. A page may repeat fields; an error means the walk is
// incomplete.
func (s *Store) scan(ctx context.Context, k keys, key string, page func(pairs []string) error) error {
	cursor := uint64(0)
	for {
		var pairs []string
		err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
			var found *goredis.ScanCmd
			err := reading(ctx, c, k, func(p goredis.Pipeliner) { found = p.HScan(ctx, key, cursor, "", scanPage) })
			if err == nil {
				pairs, cursor = found.Val()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("redis: scan %s: %w", key, err)
		}
		if err := page(pairs); err != nil {
			return err
		}
		if cursor == 0 {
			return nil
		}
	}
}

// ScanPending walks the admissions that are not known to be in the ledger, with
// their age by Redis TIME (protocol.md 3.8 sweep 1).
func (s *Store) ScanPending(ctx context.Context, sale string, each func(admission.Pending) error) error {
	if !word(sale, maxName) {
		return fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	k := saleKeys(sale)
	return s.scan(ctx, k, k.pending(), func(pairs []string) error {
		now, err := s.time(ctx, k.cfg())
		if err != nil {
			return err
		}
		return records(pairs, func(r admission.Record) error {
			return each(admission.Pending{Candidate: r.Candidate, BookingID: r.BookingID, Level: r.Level, Age: now.Sub(r.AdmittedAt)})
		})
	})
}

// records unpacks a page.
func records(pairs []string, each func(admission.Record) error) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		r, err := unpackRecord(pairs[i], pairs[i+1])
		if err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// time is the clock of the node that serves key.
func (s *Store) time(ctx context.Context, key string) (time.Time, error) {
	var now time.Time
	err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
		t, err := c.Time(ctx).Result()
		now = t
		return err
	})
	return now, err
}

// ScanRecords walks the records; pending says whether the booking is. A record
// that is found in bk is no longer pending: by protocol.md INV4 it is in the
// ledger or at stage S. Records only ever move from pending to bk, so this order
// of the two walks misses none; one that moves meanwhile may come twice.
func (s *Store) ScanRecords(ctx context.Context, sale string, each func(r admission.Record, pending bool) error) error {
	if !word(sale, maxName) {
		return fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	k := saleKeys(sale)
	for _, home := range []struct {
		key     string
		pending bool
	}{{k.pending(), true}, {k.bk(), false}} {
		err := s.scan(ctx, k, home.key, func(pairs []string) error {
			return records(pairs, func(r admission.Record) error { return each(r, home.pending) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

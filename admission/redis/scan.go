package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// scanPage is the COUNT of a scan: large enough to be quick, small enough to
// keep admissions waiting for well under a millisecond.
const scanPage = 500

// scan walks a hash. A page may repeat fields; an error means the walk is
// incomplete.
func (s *Store) scan(ctx context.Context, key string, page func(pairs []string) error) error {
	cursor := uint64(0)
	for {
		var pairs []string
		err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
			var next uint64
			var err error
			pairs, next, err = c.HScan(ctx, key, cursor, "", scanPage).Result()
			if err == nil {
				cursor = next
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
	return s.scan(ctx, k.pending(), func(pairs []string) error {
		now, err := s.time(ctx, k.cfg())
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			p, err := parsePending(pairs[i], pairs[i+1], now)
			if err != nil {
				return err
			}
			if err := each(p); err != nil {
				return err
			}
		}
		return nil
	})
}

func parsePending(candidate, value string, now time.Time) (admission.Pending, error) {
	f := strings.Split(value, "|")
	if len(f) != 3 {
		return admission.Pending{}, malformed("malformed pending entry of candidate %s", candidate)
	}
	ms, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return admission.Pending{}, malformed("pending entry of booking %s: time %q", f[0], f[2])
	}
	return admission.Pending{Candidate: candidate, BookingID: f[0], Level: f[1], Age: now.Sub(fromMillis(ms))}, nil
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

// ScanRecords walks the records; pending says whether the booking has a pending
// entry. The three reads are in this order so that "not pending" is a proof: the
// record was there before and after the pending entry was found missing, so the
// booking had none, and by protocol.md INV4 it is in the ledger or at stage S.
func (s *Store) ScanRecords(ctx context.Context, sale string, each func(r admission.Record, pending bool) error) error {
	if !word(sale, maxName) {
		return fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	k := saleKeys(sale)
	return s.scan(ctx, k.bk(), func(pairs []string) error {
		var records []admission.Record
		var candidates, ids []string
		for i := 0; i+1 < len(pairs); i += 2 {
			r, err := unpackRecord(pairs[i], pairs[i+1])
			if err != nil {
				return err
			}
			records, candidates, ids = append(records, r), append(candidates, r.Candidate), append(ids, r.BookingID)
		}
		if len(records) == 0 {
			return nil
		}
		entries, err := s.fields(ctx, k.pending(), candidates)
		if err != nil {
			return err
		}
		still, err := s.fields(ctx, k.bk(), ids)
		if err != nil {
			return err
		}
		for i, r := range records {
			entry, _ := entries[i].(string)
			pending := strings.HasPrefix(entry, r.BookingID+"|")
			if !pending && still[i] == nil {
				continue
			}
			if err := each(r, pending); err != nil {
				return err
			}
		}
		return nil
	})
}

package redis

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Record returns the record of a booking as Redis has it.
func (s *Store) Record(ctx context.Context, sale, bookingID string) (admission.Record, error) {
	var c check
	c.names(sale, bookingID)
	if c.err != nil {
		return admission.Record{}, c.err
	}
	raw, _, err := s.recordsOf(ctx, saleKeys(sale), []string{bookingID})
	if err != nil {
		return admission.Record{}, err
	}
	if raw[0] == "" {
		return admission.Record{}, admission.ErrNotFound
	}
	return unpackRecord(bookingID, raw[0])
}

// CandidateBooking returns the booking id that the candidate holds.
func (s *Store) CandidateBooking(ctx context.Context, sale, candidate string) (string, error) {
	var c check
	c.ok(word(sale, maxName), "sale", sale)
	c.ok(word(candidate, maxHash), "candidate", candidate)
	if c.err != nil {
		return "", c.err
	}
	k := saleKeys(sale)
	var id string
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		var held *goredis.StringCmd
		err := reading(ctx, conn, k, func(p goredis.Pipeliner) { held = p.HGet(ctx, k.seen(), candidate) })
		id = held.Val()
		return err
	})
	if errors.Is(err, goredis.Nil) {
		return "", admission.ErrNotFound
	}
	return id, err
}

// missingPage is how many booking ids Missing asks for at a time.
const missingPage = 500

// Missing returns those of the booking ids that have no record, in their order.
func (s *Store) Missing(ctx context.Context, sale string, bookingIDs []string) ([]string, error) {
	var c check
	c.ok(word(sale, maxName), "sale", sale)
	if c.err != nil {
		return nil, c.err
	}
	var missing []string
	for from := 0; from < len(bookingIDs); from += missingPage {
		page := bookingIDs[from:min(from+missingPage, len(bookingIDs))]
		values, _, err := s.recordsOf(ctx, saleKeys(sale), page)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if v == "" {
				missing = append(missing, page[i])
			}
		}
	}
	return missing, nil
}

// recordsOf reads packed records, "" where there is none, and Redis TIME, in one
// round trip. What is pending comes first: a record that moves in between is in bk
// by then.
func (s *Store) recordsOf(ctx context.Context, k keys, bookingIDs []string) (out []string, now time.Time, err error) {
	out = make([]string, len(bookingIDs))
	err = s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
		var pending, settled *goredis.SliceCmd
		var clock *goredis.TimeCmd
		err := reading(ctx, c, k, func(p goredis.Pipeliner) {
			pending, settled = p.HMGet(ctx, k.pending(), bookingIDs...), p.HMGet(ctx, k.bk(), bookingIDs...)
			clock = p.Time(ctx)
		})
		if err != nil {
			return err
		}
		now = clock.Val()
		for _, values := range [][]any{settled.Val(), pending.Val()} {
			if len(values) != len(out) {
				return malformed("hmget of records: %d values for %d fields", len(values), len(out))
			}
			for i, v := range values {
				if raw, ok := v.(string); ok {
					out[i] = raw
				}
			}
		}
		return nil
	})
	return out, now, err
}

// fields is HMGET: one value per field, nil where there is none.
func (s *Store) fields(ctx context.Context, key string, fields []string) ([]any, error) {
	args := make([]any, 0, 2+len(fields))
	args = append(args, "hmget", key)
	for _, f := range fields {
		args = append(args, f)
	}
	var out []any
	err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
		var err error
		if out, err = c.Do(ctx, args...).Slice(); err == nil && len(out) != len(fields) {
			err = malformed("hmget %s: %d values for %d fields", key, len(out), len(fields))
		}
		return err
	})
	return out, err
}

package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// rosterPage is how many rows one command writes.
const rosterPage = 500

// PutRoster writes rows. Until SetRosterVersion tells of them, no snapshot
// trusts them, and the scripts read them as they are.
func (s *Store) PutRoster(ctx context.Context, sale string, rows []admission.RosterEntry) error {
	var c check
	c.ok(word(sale, maxName), "sale", sale)
	pairs := make([]any, 0, 2*len(rows))
	for _, r := range rows {
		c.ok(word(r.Candidate, maxHash), "candidate", r.Candidate)
		c.ok(emailOrNone(r.EmailHash) && r.EmailHash != "", "e-mail hash", r.EmailHash)
		for _, l := range r.Levels {
			c.ok(word(l, maxName), "level", l)
		}
		pairs = append(pairs, r.Candidate, packRow(r))
	}
	if c.err != nil {
		return c.err
	}
	return s.pages(ctx, saleKeys(sale), "hset", pairs, 2*rosterPage)
}

// DropRoster removes rows. Bookings that live stay; only new ones are refused.
func (s *Store) DropRoster(ctx context.Context, sale string, candidates []string) error {
	var c check
	c.ok(word(sale, maxName), "sale", sale)
	fields := make([]any, len(candidates))
	for i, ch := range candidates {
		c.ok(word(ch, maxHash), "candidate", ch)
		fields[i] = ch
	}
	if c.err != nil {
		return c.err
	}
	return s.pages(ctx, saleKeys(sale), "hdel", fields, rosterPage)
}

// pages runs a variadic command on the roster in pieces. Repeating it does no harm.
func (s *Store) pages(ctx context.Context, k keys, command string, list []any, size int) error {
	key := k.roster()
	for from := 0; from < len(list); from += size {
		args := append([]any{command, key}, list[from:min(from+size, len(list))]...)
		err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
			if err := reading(ctx, c, k, func(goredis.Pipeliner) {}); err != nil {
				return err
			}
			return c.Do(ctx, args...).Err()
		})
		if err != nil {
			return fmt.Errorf("redis: %s %s: %w", command, key, err)
		}
	}
	return nil
}

func packRow(r admission.RosterEntry) string {
	if len(r.Levels) == 0 {
		return r.EmailHash
	}
	return r.EmailHash + "," + strings.Join(r.Levels, ",") + ","
}

func unpackRow(candidate, value string) (admission.RosterEntry, error) {
	if len(value) < emailHash {
		return admission.RosterEntry{}, malformed("malformed roster row of candidate %s", candidate)
	}
	r := admission.RosterEntry{Candidate: candidate, EmailHash: value[:emailHash]}
	if only := strings.Trim(value[emailHash:], ","); only != "" {
		r.Levels = strings.Split(only, ",")
	}
	return r, nil
}

// ScanRoster walks the roster; rows may repeat.
func (s *Store) ScanRoster(ctx context.Context, sale string, each func(admission.RosterEntry) error) error {
	if !word(sale, maxName) {
		return fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	return s.scan(ctx, saleKeys(sale), saleKeys(sale).roster(), func(pairs []string) error {
		for i := 0; i+1 < len(pairs); i += 2 {
			r, err := unpackRow(pairs[i], pairs[i+1])
			if err != nil {
				return err
			}
			if err := each(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetRosterVersion tells of a roster that is complete, and waits for the replicas.
func (s *Store) SetRosterVersion(ctx context.Context, sale string, gen int64, version string) error {
	if !word(version, maxName) {
		return fmt.Errorf("%w: roster version %q", admission.ErrInvalid, version)
	}
	_, err := s.control(ctx, sale, gen, false, "roster", version)
	return err
}

// SetOpen opens or closes the sale and waits for the replicas.
func (s *Store) SetOpen(ctx context.Context, sale string, gen int64, open bool) (int64, error) {
	return s.control(ctx, sale, gen, true, "open", flag(open))
}

// SetTimes moves the sale's times and waits for the replicas.
func (s *Store) SetTimes(ctx context.Context, sale string, gen int64, opensAt, closesAt time.Time) (int64, error) {
	if !opensAt.Before(closesAt) {
		return 0, fmt.Errorf("%w: opens %v, closes %v", admission.ErrInvalid, opensAt, closesAt)
	}
	return s.control(ctx, sale, gen, true, "opens_ms", millis(opensAt), "closes_ms", millis(closesAt))
}

// SetHold changes the hold of bookings to come and waits for the replicas.
func (s *Store) SetHold(ctx context.Context, sale string, gen int64, hold time.Duration) error {
	if hold < time.Millisecond {
		return fmt.Errorf("%w: hold %v", admission.ErrInvalid, hold)
	}
	_, err := s.control(ctx, sale, gen, false, "hold_ms", hold.Milliseconds())
	return err
}

func (s *Store) control(ctx context.Context, sale string, gen int64, public bool, fields ...any) (int64, error) {
	if !word(sale, maxName) {
		return 0, fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	return s.stepAcknowledged(ctx, controlScript, []string{saleKeys(sale).cfg()}, append([]any{gen, flag(public)}, fields...)...)
}

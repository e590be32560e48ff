package redis

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

var seatPlanScript = guarded("seatplan", 1)

var (
	_ admission.SeatEditor  = (*Store)(nil)
	_ admission.FreeScanner = (*Store)(nil)
)

// EditSeats changes the seats of a level by name.
func (s *Store) EditSeats(ctx context.Context, e admission.SeatEdit) (admission.SeatEditAnswer, error) {
	var c check
	c.ok(word(e.Sale, maxName), "sale", e.Sale)
	c.ok(word(e.Level, maxName), "level", e.Level)
	c.ok(len(e.Seats) <= admission.MaxSeatEdit, "number of seats", fmt.Sprint(len(e.Seats)))
	c.ok(knownEdit(e), "edit", string(e.Op))
	c.ok(e.Serial >= 0, "serial", fmt.Sprint(e.Serial))
	args := []any{e.Gen, e.Level, string(e.Op), e.Serial}
	for i, seat := range e.Seats {
		c.ok(word(seat, maxName), "seat", seat)
		if e.Op == admission.AddSeats && c.err == nil {
			args = append(args, e.Scores[i])
		}
		args = append(args, seat)
	}
	if c.err != nil {
		return admission.SeatEditAnswer{}, c.err
	}
	k := saleKeys(e.Sale)
	var a admission.SeatEditAnswer
	var refusal error
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := seatPlanScript.run(ctx, conn, []string{k.cfg(), k.level(e.Level), k.free(e.Level), k.seat()}, args...)
		if err != nil {
			return err
		}
		if a, refusal, err = parseSeatEdit(raw); err != nil || refusal != nil || a.Held != nil || readsOnly(e.Op) {
			return err
		}
		return s.mustAcknowledge(ctx, conn)
	})
	if a.Changed > 0 && e.Op == admission.AddSeats {
		s.freed(e.Sale)
	}
	return a, errors.Join(refusal, err)
}

func knownEdit(e admission.SeatEdit) bool {
	if e.Op == admission.AddSeats {
		return len(e.Scores) == len(e.Seats)
	}
	return e.Op == admission.DropSeats || readsOnly(e.Op)
}

func readsOnly(op admission.SeatEditOp) bool {
	return op == admission.CheckSeats || op == admission.MissingSeats
}

func parseSeatEdit(raw any) (a admission.SeatEditAnswer, refusal, err error) {
	p := newReply("seatplan", raw)
	switch name := p.str(); name {
	case "OK":
		a.Changed, a.Cap, a.Version = int(p.num()), int(p.num()), p.num()
	case "HELD":
		for p.more() {
			a.Held = append(a.Held, p.str())
		}
	case "MISSING":
		for a.Cap = int(p.num()); p.more(); {
			a.Missing = append(a.Missing, p.str())
		}
	case "LATE":
		refusal = admission.ErrMoved
	case "GEN":
		refusal = admission.ErrStaleGen
	case "NOLEVEL":
		refusal = admission.ErrNotFound
	case "CORRUPT":
		refusal = admission.ErrCorrupt
	default:
		return a, nil, p.unknown(name)
	}
	return a, refusal, p.end()
}

// ScanFree walks the free seats of a level.
func (s *Store) ScanFree(ctx context.Context, saleID, level string, each func(token string) error) error {
	if !word(saleID, maxName) || !word(level, maxName) {
		return fmt.Errorf("%w: sale %q, level %q", admission.ErrInvalid, saleID, level)
	}
	key := saleKeys(saleID).free(level)
	for cursor := uint64(0); ; {
		var page []string // tokens, each with its score
		err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
			var found *goredis.ScanCmd
			err := reading(ctx, c, saleKeys(saleID), func(p goredis.Pipeliner) { found = p.ZScan(ctx, key, cursor, "", scanPage) })
			if err == nil {
				page, cursor = found.Val()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("redis: scan %s: %w", key, err)
		}
		for i := 0; i+1 < len(page); i += 2 {
			if err := each(page[i]); err != nil {
				return err
			}
		}
		if cursor == 0 {
			return nil
		}
	}
}

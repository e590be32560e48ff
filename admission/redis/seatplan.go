package redis

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

var seatPlanScript = load("seatplan")

var _ admission.SeatEditor = (*Store)(nil)

// EditSeats changes the seats of a level by name.
func (s *Store) EditSeats(ctx context.Context, e admission.SeatEdit) (admission.SeatEditAnswer, error) {
	var c check
	c.ok(word(e.Sale, maxName), "sale", e.Sale)
	c.ok(word(e.Level, maxName), "level", e.Level)
	c.ok(len(e.Seats) <= admission.MaxSeatEdit, "number of seats", fmt.Sprint(len(e.Seats)))
	c.ok(e.Op == admission.CheckSeats || e.Op == admission.DropSeats || e.Op == admission.AddSeats && len(e.Scores) == len(e.Seats), "edit", string(e.Op))
	args := []any{e.Gen, e.Level, string(e.Op)}
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
		if a, refusal, err = parseSeatEdit(raw); err != nil || refusal != nil || a.Held != nil || e.Op == admission.CheckSeats {
			return err
		}
		return s.mustAcknowledge(ctx, conn)
	})
	if a.Changed > 0 && e.Op == admission.AddSeats {
		s.freed(e.Sale)
	}
	return a, errors.Join(refusal, err)
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

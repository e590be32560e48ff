package redis

import (
	"context"
	"maps"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

var paidScript = guarded("paid", 1)

var _ admission.PaidCorrector = (*Store)(nil)

// CorrectPaid implements admission.PaidCorrector. It waits for no replica: the
// number follows from the records, and is put right again if it is lost.
func (s *Store) CorrectPaid(ctx context.Context, sale string, gen int64, have, want admission.PaidCounts) (version int64, err error) {
	var c check
	c.ok(word(sale, maxName), "sale", sale)
	args := []any{gen, have.Total, want.Total}
	for _, level := range slices.Sorted(maps.Keys(have.Levels)) {
		c.ok(word(level, maxName), "level", level)
		args = append(args, level, have.Levels[level], want.Levels[level])
	}
	if c.err != nil {
		return 0, c.err
	}
	var refusal error
	key := saleKeys(sale).cfg()
	err = s.retry(ctx, key, func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := paidScript.run(ctx, conn, []string{key}, args...)
		if err != nil {
			return err
		}
		version, refusal, err = parsePaid(raw)
		return err
	})
	if err != nil {
		return 0, err
	}
	return version, refusal
}

func parsePaid(raw any) (version int64, refusal, err error) {
	p := newReply("paid", raw)
	switch name := p.str(); name {
	case "OK":
		version = p.num()
	case "MOVED":
		refusal = admission.ErrMoved
	case "GEN":
		refusal = admission.ErrStaleGen
	default:
		return 0, nil, p.unknown(name)
	}
	return version, refusal, p.end()
}

package redis

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// SetMark moves the sale's mark on and waits for the replicas. A generation that
// is not the primary's is admission.ErrStaleGen; the answer says all the same
// whether anybody follows this primary, asked on the same connection.
func (s *Store) SetMark(ctx context.Context, m admission.Mark) (admission.MarkAnswer, error) {
	var c check
	c.ok(word(m.Sale, maxName), "sale", m.Sale)
	c.ok(wordOrNone(m.Known, maxHash), "known mark", m.Known)
	c.ok(word(m.Next, maxHash), "next mark", m.Next)
	if c.err != nil {
		return admission.MarkAnswer{}, c.err
	}
	var answer admission.MarkAnswer
	var refusal error
	k := saleKeys(m.Sale)
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := markScript.run(ctx, conn, []string{k.cfg()}, m.Gen, m.Known, m.Next)
		if err != nil {
			return err
		}
		if answer.Mark, refusal, err = parseMark(raw); err != nil {
			return err
		}
		if refusal != nil {
			answer.Acknowledged, err = s.acknowledgedPast(ctx, conn, k) // this one answer comes without a write
		} else {
			answer.Acknowledged, err = s.acknowledged(ctx, conn)
		}
		return err
	})
	return answer, errors.Join(refusal, err)
}

func parseMark(raw any) (mark string, refusal, err error) {
	p := newReply("mark", raw)
	switch name := p.str(); name {
	case "OK":
		mark = p.str()
	case "NONE":
	case "GEN":
		refusal = admission.ErrStaleGen
	default:
		return "", nil, p.unknown(name)
	}
	return mark, refusal, p.end()
}

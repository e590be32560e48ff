package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// SetCap changes a level's cap or the sale's total (protocol.md 3.4 S9) and waits
// for the replicas.
func (s *Store) SetCap(ctx context.Context, ch admission.CapChange) (admission.CapAnswer, error) {
	var c check
	c.ok(word(ch.Sale, maxName), "sale", ch.Sale)
	c.ok(wordOrNone(ch.Level, maxName), "level", ch.Level)
	if c.err != nil {
		return admission.CapAnswer{}, c.err
	}
	var answer admission.CapAnswer
	k := saleKeys(ch.Sale)
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := capsScript.run(ctx, conn, []string{k.cfg(), k.total(), k.level(ch.Level), k.free(ch.Level)},
			ch.Gen, ch.Level, ch.Cap, ch.First, ch.Serial)
		if err != nil {
			return err
		}
		if answer, err = parseCaps(raw); err != nil || answer.Outcome != admission.CapSet {
			return err
		}
		s.freed(ch.Sale)
		answer.Acknowledged, err = s.acknowledged(ctx, conn)
		return err
	})
	return answer, err
}

func parseCaps(raw any) (a admission.CapAnswer, err error) {
	p := newReply("caps", raw)
	switch name := p.str(); name {
	case "OK":
		a.Outcome, a.Cap, a.Next, a.Version = admission.CapSet, int(p.num()), int(p.num()), p.num()
	case "USED":
		a.Outcome, a.Used, a.Cap = admission.CapUsed, int(p.num()), int(p.num())
	case "GEN":
		a.Outcome = admission.CapGen
	case "LATE":
		a.Outcome = admission.CapLate
	case "NOLEVEL":
		a.Outcome = admission.CapNoLevel
	case "SEATED":
		a.Outcome = admission.CapSeated
	case "CORRUPT":
		a.Outcome = admission.CapCorrupt
	case "BADARG":
		a.Outcome = admission.CapBad
	default:
		return a, p.unknown(name)
	}
	return a, p.end()
}

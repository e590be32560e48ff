package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Resume takes over a driver that has been silent for so long (protocol.md 3.4
// S10, 3.5). Without the acknowledgement the take-over could be lost and two
// drivers go on: then it is ErrUnacknowledged, and nobody drives until the
// silence has passed again. A lost answer ends the same way, as ResumeBusy.
func (s *Store) Resume(ctx context.Context, sale, bookingID, key, inputHash string, silent time.Duration) (admission.ResumeAnswer, error) {
	var c check
	c.names(sale, bookingID)
	c.ok(wordOrNone(key, maxHash), "key", key)
	c.ok(wordOrNone(inputHash, maxHash), "input hash", inputHash)
	if c.err != nil {
		return admission.ResumeAnswer{}, c.err
	}
	var answer admission.ResumeAnswer
	k := saleKeys(sale)
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := resumeScript.run(ctx, conn, []string{k.pending(), k.bk(), k.cfg()}, bookingID, key, inputHash, silent.Milliseconds())
		if err != nil {
			return err
		}
		if answer, err = parseResume(bookingID, raw); err != nil || answer.Outcome != admission.Resumed {
			return err
		}
		return s.mustAcknowledge(ctx, conn)
	})
	if err != nil {
		return admission.ResumeAnswer{}, err
	}
	return answer, nil
}

func parseResume(bookingID string, raw any) (a admission.ResumeAnswer, err error) {
	p := newReply("resume", raw)
	switch name := p.str(); name {
	case "OK":
		driver, packed := p.num(), p.str()
		if err := p.end(); err != nil {
			return a, err
		}
		rec, err := unpackRecord(bookingID, packed)
		if err != nil {
			return a, err
		}
		rec.Driver = int(driver)
		return admission.ResumeAnswer{Outcome: admission.Resumed, Stage: rec.Stage, Record: &rec}, nil
	case "BUSY":
		a.Outcome = admission.ResumeBusy
	case "HAVE":
		a.Outcome, a.Stage = admission.ResumeHave, p.stage()
	case "MISMATCH":
		a.Outcome = admission.ResumeMismatch
	case "GONE":
		a.Outcome = admission.ResumeGone
	default:
		return a, p.unknown(name)
	}
	return a, p.end()
}

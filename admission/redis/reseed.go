package redis

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Reseed puts a live booking of the ledger back (protocol.md 3.4 S4) and waits
// for the replicas. A reseed whose answer was lost finds its own record: HAVE.
func (s *Store) Reseed(ctx context.Context, sale string, r admission.Record) (admission.ReseedAnswer, error) {
	if err := validRecord(sale, &r); err != nil {
		return admission.ReseedAnswer{}, err
	}
	if r.Driver == 0 {
		r.Driver = firstDriver
	}
	r.PaymentID = s.paged(sale, &r)
	args := []any{r.BookingID, r.Candidate, r.Level, packRecord(&r), len(r.Tokens)}
	for i, token := range r.Tokens {
		args = append(args, token, r.Scores[i])
	}
	var answer admission.ReseedAnswer
	k := saleKeys(sale)
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
		raw, err := reseedScript.run(ctx, c, k.admit(r.Level), args...)
		if err != nil {
			return err
		}
		if answer, err = parseReseed(raw); err != nil || answer.Outcome != admission.Reseeded {
			return err
		}
		answer.Acknowledged, err = s.acknowledged(ctx, c)
		return err
	})
	return answer, err
}

func parseReseed(raw any) (a admission.ReseedAnswer, err error) {
	p := newReply("reseed", raw)
	switch name := p.str(); name {
	case "OK":
		a.Outcome, a.Retired, a.Version = admission.Reseeded, int(p.num()), p.num()
	case "HAVE":
		a.Outcome = admission.ReseedHave
	case "DEAD":
		a.Outcome = admission.ReseedDead
	case "CAND":
		a.Outcome, a.Other = admission.ReseedCandidate, p.str()
	case "SEAT":
		a.Outcome, a.Other = admission.ReseedSeat, p.str()
	case "NOFREE":
		a.Outcome = admission.ReseedNoFree
	case "CORRUPT":
		a.Outcome = admission.ReseedCorrupt
	default:
		return a, p.unknown(name)
	}
	return a, p.end()
}

// validRecord checks a record that comes from the ledger.
func validRecord(sale string, r *admission.Record) error {
	var c check
	c.names(sale, r.BookingID)
	c.ok(word(r.Candidate, maxHash), "candidate", r.Candidate)
	c.ok(word(r.Level, maxName), "level", r.Level)
	c.ok(wordOrNone(r.Key, maxHash), "key", r.Key)
	c.ok(wordOrNone(r.InputHash, maxHash), "input hash", r.InputHash)
	c.ok(emailOrNone(r.EmailHash), "e-mail hash", r.EmailHash)
	c.ok(r.PaymentID == "" || validPayment(r.PaymentID), "payment id", r.PaymentID)
	c.ok(currency(r.Currency), "currency", r.Currency)
	c.ok(r.AmountMinor >= 0, "amount", fmt.Sprint(r.AmountMinor))
	c.ok(r.Stage == admission.StageAttached || r.Stage == admission.StagePaid || r.Stage == admission.StageAdmitted, "stage", string(r.Stage))
	c.ok(len(r.Tokens) >= 1 && len(r.Tokens) <= maxSeats && len(r.Scores) == len(r.Tokens), "seats",
		fmt.Sprintf("%d with %d scores", len(r.Tokens), len(r.Scores)))
	seen := map[string]bool{}
	for i, token := range r.Tokens {
		c.ok(word(token, maxName) && !seen[token], "seat", token)
		c.ok(i >= len(r.Scores) || r.Scores[i] >= 0, "seat order", token)
		seen[token] = true
	}
	return c.err
}

package redis

import (
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// levelTokens lists a level's tokens with their order: the seat names as they
// stand, or the numbers just below Next. A rebuild after raises and cuts has
// gaps below: which numbers live bookings have, Reseed knows.
func levelTokens(l admission.LevelPlan) (tokens []string, scores []int64) {
	if l.Kind == kindSeated {
		for i, name := range l.Tokens {
			tokens, scores = append(tokens, name), append(scores, int64(i+1))
		}
		return tokens, scores
	}
	for n := l.Next - l.Cap; n < l.Next; n++ {
		tokens, scores = append(tokens, sale.TokenName(l.Name, n)), append(scores, int64(n))
	}
	return tokens, scores
}

const (
	kindCounted = string(sale.KindCounted)
	kindSeated  = string(sale.KindSeated)
)

func validPlan(p *admission.Plan) error {
	var c check
	c.ok(word(p.Sale, maxName), "sale", p.Sale)
	c.ok(p.Gen > 0, "generation", fmt.Sprint(p.Gen))
	c.ok(p.TotalCap >= 0, "total cap", fmt.Sprint(p.TotalCap))
	c.ok(p.Hold > 0, "hold", p.Hold.String())
	c.ok(wordOrNone(p.RosterVersion, maxName), "roster version", p.RosterVersion)
	c.ok(len(p.Levels) > 0, "levels", "none")
	seen := map[string]bool{}
	for _, l := range p.Levels {
		c.ok(word(l.Name, maxName) && !seen[l.Name], "level", l.Name)
		seen[l.Name] = true
		c.ok(l.Cap >= 0, "cap of "+l.Name, fmt.Sprint(l.Cap))
		switch l.Kind {
		case kindCounted:
			c.ok(l.Next > l.Cap && l.Next <= maxToken+1, "next number of "+l.Name, fmt.Sprint(l.Next))
			c.ok(word(sale.TokenName(l.Name, l.Next), maxName), "token", sale.TokenName(l.Name, l.Next))
		case kindSeated:
			c.ok(len(l.Tokens) == l.Cap, "seats of "+l.Name, fmt.Sprintf("%d for a cap of %d", len(l.Tokens), l.Cap))
			for _, t := range l.Tokens {
				c.ok(word(t, maxName) && !seen["seat "+t], "seat", t)
				seen["seat "+t] = true
			}
		default:
			c.ok(false, "kind of "+l.Name, l.Kind)
		}
	}
	return c.err
}

package redis

import (
	"context"
	"strings"

	"github.com/holdfast/holdfast/admission"
)

// bare are the vector form's answers without anything more to say, by their
// number less one (lua/admit_many.lua, BARE).
var bare = []admission.Outcome{
	admission.BadArgument, admission.StaleGen, admission.Dead, admission.Corrupt, admission.Mismatch,
	admission.UnknownCode, admission.EmailMismatch, admission.NotAllowed, admission.UnknownLevel,
	admission.LevelFull, admission.SoldOut,
}

// levelIndex numbers the levels of a batch, from 1, in the order of their first use.
type levelIndex struct {
	names []string
	at    map[string]int
}

func (x *levelIndex) of(level string) int {
	if n := x.at[level]; n > 0 {
		return n
	}
	if x.at == nil {
		x.at = map[string]int{}
	}
	x.names = append(x.names, level)
	x.at[level] = len(x.names)
	return len(x.names)
}

// levelKeys appends the keys of every level in the vector forms' order.
func (x *levelIndex) keys(k keys, fixed ...string) []string {
	for _, l := range x.names {
		fixed = append(fixed, k.level(l), k.free(l), k.soft(l))
	}
	return fixed
}

// head are the first arguments of a vector form.
func (x *levelIndex) head(rest []any) []any {
	args := make([]any, 0, 1+len(x.names)+len(rest))
	args = append(args, len(x.names))
	for _, l := range x.names {
		args = append(args, l)
	}
	return append(args, rest...)
}

// admitMany runs the vector form for requests of one sale.
func (s *Store) admitMany(ctx context.Context, c doer, reqs []*admission.Request) ([]admission.Answer, error) {
	var levels levelIndex
	args := make([]any, 0, 13*len(reqs))
	for _, r := range reqs {
		args = append(args, r.BookingID, r.Candidate, levels.of(r.Level), r.Gen, r.Key, r.InputHash, r.RosterVersion,
			r.EmailHash, r.AmountMinor, r.Currency, r.Count, len(r.Seats))
		for _, seat := range r.Seats {
			args = append(args, seat)
		}
	}
	k := saleKeys(reqs[0].Sale)
	all := levels.keys(k, k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.total(), k.seat(), k.roster(), k.last())
	raw, err := admitManyScript.run(ctx, c, all, levels.head(args)...)
	if err != nil {
		return nil, err
	}
	return parseMany(reqs, raw)
}

func parseMany(reqs []*admission.Request, raw any) ([]admission.Answer, error) {
	p := newReply("admit_many", raw)
	now, hold := fromMillis(p.num()), fromMillis(p.num())
	answers := make([]admission.Answer, len(reqs))
	for i, r := range reqs {
		switch v := p.next("answer").(type) {
		case string:
			answers[i] = admission.Answer{Outcome: admission.Admitted, BookingID: r.BookingID, Tokens: strings.Split(v, ","),
				Stage: admission.StageAdmitted, Driver: firstDriver, AdmittedAt: now, HoldUntil: hold}
		case int64:
			if v < 1 || int(v) > len(bare) {
				return nil, malformed("admit_many: unknown code %d", v)
			}
			answers[i] = admission.Answer{Outcome: bare[v-1], BookingID: r.BookingID}
		default:
			if p.err != nil {
				return nil, p.err
			}
			a, err := parseAnswer(r, v)
			if err != nil {
				return nil, err
			}
			answers[i] = a
		}
	}
	return answers, p.end()
}

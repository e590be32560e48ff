package redis

import (
	"slices"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis/resp"
)

// bare are the vector form's answers without anything more to say, by their
// number less one (lua/admit_many.lua, BARE).
var bare = []admission.Outcome{
	admission.BadArgument, admission.StaleGen, admission.Dead, admission.Corrupt, admission.Mismatch,
	admission.UnknownCode, admission.EmailMismatch, admission.NotAllowed, admission.UnknownLevel,
	admission.LevelFull, admission.SoldOut,
}

// levelIndex numbers the levels of a batch, from 1, in the order of their first use.
type levelIndex struct{ names []string }

func (x *levelIndex) of(level string) int {
	if at := slices.Index(x.names, level); at >= 0 {
		return at + 1
	}
	x.names = append(x.names, level)
	return len(x.names)
}

// keys appends the keys of every level in the vector forms' order.
func (x *levelIndex) keys(k keys, fixed ...string) []string {
	for _, l := range x.names {
		fixed = append(fixed, k.level(l), k.free(l), k.soft(l), k.owner(l))
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

// spec is what many requests of a batch have in common. It is sent once: every
// argument that the server doesn't have to take apart is time for an admission.
type spec struct {
	level        int
	gen          int64
	version      string
	amount       int64
	currency     string
	count, named int
}

// vector is a batch on its way to admit_many.
type vector struct {
	levels levelIndex
	specs  []spec
	of     []int // of each request, from 1
	args   resp.Packed
}

func newVector(reqs []*admission.Request) *vector {
	v, seats := &vector{of: make([]int, len(reqs))}, 0
	for i, r := range reqs {
		sp := spec{v.levels.of(r.Level), r.Gen, r.RosterVersion, r.AmountMinor, r.Currency, r.Count, len(r.Seats)}
		at := slices.Index(v.specs, sp)
		if at < 0 {
			at, v.specs = len(v.specs), append(v.specs, sp)
		}
		v.of[i] = at + 1
		seats += len(r.Seats)
	}
	v.pack(reqs, seats)
	return v
}

// pack puts the arguments of the script together, column by column
// (lua/admit_many.lua).
func (v *vector) pack(reqs []*admission.Request, seats int) {
	out := &v.args
	out.Reset(200 * len(reqs)) // with ids as long as ours 150
	out.Array(len(v.levels.names))
	for _, l := range v.levels.names {
		out.String(l)
	}
	out.Array(7 * len(v.specs))
	for _, sp := range v.specs {
		out.Int(sp.level)
		out.Decimal(sp.gen)
		out.String(sp.version)
		out.Decimal(sp.amount)
		out.String(sp.currency)
		out.Int(max(sp.count, 0)) // fewer than 1 are refused there
		out.Int(sp.named)
	}
	of := v.of
	if len(v.specs) == 1 {
		of = nil
	}
	out.Array(len(of))
	for _, spec := range of {
		out.Int(spec)
	}
	out.Array(seats)
	for _, r := range reqs {
		for _, seat := range r.Seats {
			out.String(seat)
		}
	}
	for _, r := range reqs {
		out.String(r.BookingID)
	}
	for _, r := range reqs {
		out.String(r.Candidate)
	}
	for _, r := range reqs {
		out.Joined('|', r.Key, r.InputHash, r.EmailHash)
	}
}

func (v *vector) send(out *resp.Writer, keys []string) {
	for _, key := range keys {
		out.String(key)
	}
	out.Packed(&v.args)
}

// admitMany runs the vector form for requests of one sale.
func (s *Store) admitMany(w *wire, reqs []*admission.Request) ([]admission.Answer, error) {
	v, k := newVector(reqs), saleKeys(reqs[0].Sale)
	keys := v.levels.keys(k, k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.total(), k.seat(), k.roster(), k.last())
	flat, err := w.script(admitManyScript, len(keys), 1, func(out *resp.Writer) { v.send(out, keys) }, s.ask())
	if err != nil {
		return nil, err
	}
	return parseMany(reqs, flat)
}

// parseMany reads the vector form's answers: two times, the tokens of those who
// were simply admitted, then what the others are told.
func parseMany(reqs []*admission.Request, flat []resp.Value) ([]admission.Answer, error) {
	if flat[0].Kind != resp.List || flat[0].Int < 3 || flat[1].Kind != resp.Int || flat[2].Kind != resp.Int || flat[3].Kind != resp.Text {
		return nil, malformed("admit_many: want two times and tokens")
	}
	now, hold, names, others := fromMillis(flat[1].Int), fromMillis(flat[2].Int), flat[3].Text, int(flat[0].Int)-3
	flat = flat[4:]
	answers, tokens := make([]admission.Answer, len(reqs)), make([]string, len(reqs))
	for i, r := range reqs {
		own, rest, more := strings.Cut(names, ";")
		if more != (i < len(reqs)-1) {
			return nil, malformed("admit_many: %d requests, other tokens", len(reqs))
		}
		if names = rest; own != "" {
			answers[i] = admission.Answer{Outcome: admission.Admitted, BookingID: r.BookingID, Tokens: splitTokens(own, tokens[i:i+1:i+1]),
				Stage: admission.StageAdmitted, Driver: firstDriver, AdmittedAt: now, HoldUntil: hold}
			continue
		}
		if others--; others < 0 {
			return nil, malformed("admit_many: no answer for request %d", i+1)
		}
		var err error
		if answers[i], flat, err = parseOther(r, flat); err != nil {
			return nil, err
		}
	}
	if others > 0 {
		return nil, malformed("admit_many: %d answers for nobody", others)
	}
	return answers, nil
}

// parseOther reads what somebody is told who was not simply admitted.
func parseOther(r *admission.Request, flat []resp.Value) (admission.Answer, []resp.Value, error) {
	if v := flat[0]; v.Kind == resp.Int {
		if v.Int < 1 || int(v.Int) > len(bare) {
			return admission.Answer{}, nil, malformed("admit_many: unknown code %d", v.Int)
		}
		return admission.Answer{Outcome: bare[v.Int-1], BookingID: r.BookingID}, flat[1:], nil
	}
	raw, flat := resp.Any(flat)
	a, err := parseAnswer(r, raw)
	return a, flat, err
}

// splitTokens splits names at commas; a single one goes into place.
func splitTokens(names string, place []string) []string {
	if strings.IndexByte(names, ',') >= 0 {
		return strings.Split(names, ",")
	}
	place[0] = names
	return place
}

package redis

import (
	"context"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis/resp"
)

// outcomes are the names that admit answers with.
var outcomes = map[string]admission.Outcome{
	"BADARG": admission.BadArgument, "GEN": admission.StaleGen, "DEAD": admission.Dead,
	"CORRUPT": admission.Corrupt, "MISMATCH": admission.Mismatch, "SAME": admission.Same,
	"DUP": admission.Duplicate, "RELEASED": admission.Released, "NOCODE": admission.UnknownCode,
	"EMAIL": admission.EmailMismatch, "NOTALLOWED": admission.NotAllowed, "CLOSED": admission.Closed,
	"NOLEVEL": admission.UnknownLevel, "TAKEN": admission.Taken, "LEVEL_FULL": admission.LevelFull,
	"FULL": admission.SoldOut,
}

// Admit sends one admission by itself (protocol.md 3.4 S1, 3.5). Use a Committer
// where many come at once.
func (s *Store) Admit(ctx context.Context, r admission.Request) (admission.Answer, error) {
	if validRequest(&r) != nil {
		return admission.Answer{Outcome: admission.BadArgument, BookingID: r.BookingID}, nil
	}
	var answer admission.Answer
	var err error
	s.commit(ctx, []*admission.Request{&r}, func(_ int, a admission.Answer, e error) bool {
		answer, err = a, e
		return true
	})
	return answer, err
}

// admitOne runs the single form.
func (s *Store) admitOne(w *wire, r *admission.Request) (admission.Answer, error) {
	flat, err := w.script(admitScript, admitKeys, 11+len(r.Seats), func(out *resp.Writer) {
		packAdmitKeys(out, r.Sale, r.Level)
		out.String(r.BookingID)
		out.String(r.Candidate)
		out.String(r.Level)
		out.Int(r.Gen)
		out.String(r.Key)
		out.String(r.InputHash)
		out.String(r.RosterVersion)
		out.String(r.EmailHash)
		out.Int(r.AmountMinor)
		out.String(r.Currency)
		out.Int(int64(r.Count))
		for _, seat := range r.Seats {
			out.String(seat)
		}
	}, s.ask())
	if err != nil {
		return admission.Answer{}, err
	}
	raw, _ := resp.Any(flat)
	return parseAnswer(r, raw)
}

// parseAnswer reads an answer of the single form, or a list of the vector form.
func parseAnswer(r *admission.Request, raw any) (admission.Answer, error) {
	p := newReply("admit", raw)
	name := p.str()
	switch name {
	case "OK":
		return parseAdmitted(admission.Admitted, r, p)
	case "REPLAY":
		return parseAdmitted(admission.Replayed, r, p)
	}
	outcome, known := outcomes[name]
	if !known {
		return admission.Answer{}, p.unknown(name)
	}
	a := admission.Answer{Outcome: outcome, BookingID: r.BookingID}
	switch outcome {
	case admission.Same:
		a.BookingID, a.Stage, a.HoldUntil = p.str(), p.stage(), fromMillis(p.num())
		if raw := p.str(); p.err == nil {
			rec, err := unpackRecord(a.BookingID, raw)
			if err != nil {
				return admission.Answer{}, err
			}
			a.Record = &rec
		}
	case admission.Duplicate:
		a.BookingID, a.Stage = p.str(), p.stage()
		a.EmailMatches = p.num() == 1
		a.HoldUntil, a.Level = fromMillis(p.num()), p.str()
	case admission.Released:
		a.BookingID = p.str()
	case admission.Taken:
		a.TakenSeat = p.str()
	case admission.Closed:
		if ms := p.strOrNone(); ms != "" {
			n, err := strconv.ParseInt(ms, 10, 64)
			if err != nil {
				return admission.Answer{}, malformed("admit: opens_ms %q", ms)
			}
			a.OpensAt = fromMillis(n)
		}
	}
	return a, p.end()
}

func parseAdmitted(outcome admission.Outcome, r *admission.Request, p *reply) (admission.Answer, error) {
	bid := p.str()
	a := admission.Answer{Outcome: outcome, BookingID: bid, Tokens: strings.Split(p.str(), ",")}
	a.Stage, a.Driver = p.stage(), int(p.num())
	a.AdmittedAt, a.HoldUntil, a.Version = fromMillis(p.num()), fromMillis(p.num()), p.num()
	if p.err == nil && bid != r.BookingID {
		return admission.Answer{}, malformed("admit: asked for booking %s, answered %s", r.BookingID, bid)
	}
	return a, p.end()
}

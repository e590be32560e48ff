package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Store keeps soft holds and reads seat maps.
var (
	_ admission.SoftHolder = (*Store)(nil)
	_ admission.SeatReader = (*Store)(nil)
)

var (
	holdScript    = guarded("hold", 1)
	extendScript  = guarded("extend", 1)
	promoteScript = guarded("promote", 1)
	demoteScript  = guarded("demote", 1)
	lapseScript   = guarded("lapse", 1)
)

// Hold takes named seats for a candidate who is choosing (protocol.md 3.4 S6). It
// waits for no replica: nothing is promised, and a promotion is acknowledged.
func (s *Store) Hold(ctx context.Context, r admission.HoldRequest) (admission.HoldAnswer, error) {
	if validHold(&r) != nil {
		return admission.HoldAnswer{Outcome: admission.BadArgument, HoldID: r.HoldID}, nil
	}
	var answer admission.HoldAnswer
	err := s.retry(ctx, saleKeys(r.Sale).cfg(), func(ctx context.Context, c *goredis.Conn) error {
		var err error
		answer, err = holdOnce(ctx, c, &r)
		return err
	})
	if err != nil {
		return admission.HoldAnswer{}, err
	}
	return answer, nil
}

// levelTries bounds how often a script is asked again with the keys of the level
// that it named: once for a guess that was wrong, once for a hold that moved to
// another level in between.
const levelTries = 3

func holdOnce(ctx context.Context, c doer, r *admission.HoldRequest) (admission.HoldAnswer, error) {
	k, present := saleKeys(r.Sale), r.Level
	args := []any{r.HoldID, r.Candidate, r.Level, r.Gen, r.Key, r.InputHash, r.EmailHash, r.AmountMinor, r.Currency,
		r.For.Milliseconds(), r.Max.Milliseconds(), flag(r.Change), ""}
	for _, seat := range r.Seats {
		args = append(args, seat)
	}
	for range levelTries {
		args[12] = present
		raw, err := holdScript.run(ctx, c, k.hold(r.Level, present), args...)
		if err != nil {
			return admission.HoldAnswer{}, err
		}
		answer, level, err := parseHold(r, raw)
		if err != nil || level == "" {
			return answer, err
		}
		if !word(level, maxName) {
			return admission.HoldAnswer{}, malformed("hold: level %q", level)
		}
		present = level
	}
	return admission.HoldAnswer{}, malformed("hold %s: the candidate's hold changes its level all the time", r.HoldID)
}

// hold lists the keys of hold.lua.
func (k keys) hold(level, present string) []string {
	return []string{k.cfg(), k.seen(), k.bk(), k.dead(), k.total(), k.seat(), k.roster(),
		k.level(level), k.free(level), k.soft(level), k.level(present), k.free(present), k.soft(present), k.pending()}
}

func validHold(r *admission.HoldRequest) error {
	var c check
	c.names(r.Sale, r.HoldID)
	c.ok(word(r.Candidate, maxHash), "candidate", r.Candidate)
	c.ok(word(r.Level, maxName), "level", r.Level)
	c.ok(wordOrNone(r.Key, maxHash), "key", r.Key)
	c.ok(wordOrNone(r.InputHash, maxHash), "input hash", r.InputHash)
	c.ok(len(r.EmailHash) == emailHash && word(r.EmailHash, emailHash), "e-mail hash", r.EmailHash)
	c.ok(r.AmountMinor >= 0, "amount", strconv.FormatInt(r.AmountMinor, 10))
	c.ok(currency(r.Currency), "currency", r.Currency)
	c.ok(len(r.Seats) >= 1 && len(r.Seats) <= maxSeats, "seats", strconv.Itoa(len(r.Seats)))
	for _, seat := range r.Seats {
		c.ok(word(seat, maxName), "seat", seat)
	}
	c.life(r.For, r.Max)
	return c.err
}

// maxSoftLife keeps every deadline exact in Lua's numbers.
const maxSoftLife = 366 * 24 * time.Hour

func (c *check) life(ttl, most time.Duration) {
	c.ok(ttl >= time.Millisecond && ttl <= maxSoftLife, "time to hold", ttl.String())
	c.ok(most >= time.Millisecond && most <= maxSoftLife, "longest time to hold", most.String())
}

// holdOutcomes are the answers of hold.lua that say nothing more.
var holdOutcomes = map[string]admission.Outcome{
	"BADARG": admission.BadArgument, "GEN": admission.StaleGen, "DEAD": admission.Dead, "CORRUPT": admission.Corrupt,
	"GONE": admission.HoldGone, "MISMATCH": admission.Mismatch, "NOCODE": admission.UnknownCode, "EMAIL": admission.EmailMismatch,
	"NOTALLOWED": admission.NotAllowed, "NOLEVEL": admission.UnknownLevel, "FULL": admission.SoldOut,
}

// parseHold reads an answer, or the level that the present hold has.
func parseHold(r *admission.HoldRequest, raw any) (a admission.HoldAnswer, level string, err error) {
	p := newReply("hold", raw)
	a.HoldID = r.HoldID
	switch name := p.str(); name {
	case "OK":
		a.Outcome = admission.Admitted
		err = readHeld(&a, r, p)
	case "SAME":
		a.Outcome, a.HoldID, a.Until = admission.Same, p.str(), fromMillis(p.num())
		a.Record, err = p.record(a.HoldID)
	case "LEVEL":
		level = p.str()
	case "DUP":
		a.Outcome, a.BookingID, a.Stage = admission.Duplicate, p.str(), p.stage()
		a.EmailMatches = p.num() == 1
		a.HoldUntil, a.Level = fromMillis(p.num()), p.str()
	case "CLOSED":
		a.Outcome = admission.Closed
		a.OpensAt, err = p.instant()
	case "TAKEN":
		a.Outcome = admission.Taken
		for p.more() {
			a.Taken = append(a.Taken, p.str())
		}
	default:
		outcome, known := holdOutcomes[name]
		if !known {
			return a, "", p.unknown(name)
		}
		a.Outcome = outcome
	}
	if err == nil {
		err = p.end()
	}
	return a, level, err
}

// readHeld reads what follows OK; the record is what we asked for.
func readHeld(a *admission.HoldAnswer, r *admission.HoldRequest, p *reply) error {
	hold, seats := p.str(), p.str()
	a.Until, a.First, a.Now, a.Version = fromMillis(p.num()), fromMillis(p.num()), fromMillis(p.num()), p.num()
	if p.err == nil && (hold != r.HoldID || seats != joined(r.Seats)) {
		return malformed("hold: asked for %s with %v, answered %s with %s", r.HoldID, r.Seats, hold, seats)
	}
	a.Record = &admission.Record{
		BookingID: r.HoldID, Candidate: r.Candidate, Level: r.Level, Tokens: append([]string(nil), r.Seats...), Key: r.Key,
		InputHash: r.InputHash, EmailHash: r.EmailHash, AdmittedAt: a.First, DriverAt: a.Now, Stage: admission.StageSoft, Driver: firstDriver,
		AmountMinor: r.AmountMinor, Currency: r.Currency, HoldUntil: a.Until, Gen: r.Gen,
	}
	return nil
}

// record reads a packed record.
func (r *reply) record(id string) (*admission.Record, error) {
	raw := r.str()
	if r.err != nil {
		return nil, r.err
	}
	rec, err := unpackRecord(id, raw)
	return &rec, err
}

// instant reads a time in milliseconds that may be absent.
func (r *reply) instant() (time.Time, error) {
	ms := r.strOrNone()
	if ms == "" {
		return time.Time{}, nil
	}
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}, malformed("%s: time %q", r.script, ms)
	}
	return fromMillis(n), nil
}

// Extend gives a soft hold more time (protocol.md 3.4 S7).
func (s *Store) Extend(ctx context.Context, e admission.Extension) (admission.HoldAnswer, error) {
	var c check
	c.names(e.Sale, e.HoldID)
	c.ok(word(e.Level, maxName), "level", e.Level)
	c.life(e.For, e.Max)
	if c.err != nil {
		return admission.HoldAnswer{}, c.err
	}
	k := saleKeys(e.Sale)
	var answer admission.HoldAnswer
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		for range levelTries {
			raw, err := extendScript.run(ctx, conn, []string{k.cfg(), k.bk(), k.soft(e.Level)},
				e.HoldID, e.Level, e.Gen, e.For.Milliseconds(), e.Max.Milliseconds())
			if err != nil {
				return err
			}
			var level string
			if answer, level, err = parseExtend(e.HoldID, raw); err != nil || level == "" {
				return err
			}
			e.Level = level
		}
		return malformed("extend %s: the hold changes its level all the time", e.HoldID)
	})
	if err != nil {
		return admission.HoldAnswer{}, err
	}
	return answer, nil
}

func parseExtend(holdID string, raw any) (a admission.HoldAnswer, level string, err error) {
	p := newReply("extend", raw)
	a.HoldID = holdID
	switch name := p.str(); name {
	case "OK":
		a.Outcome, a.Until, a.First, a.Now = admission.Admitted, fromMillis(p.num()), fromMillis(p.num()), fromMillis(p.num())
		a.Record, err = p.record(holdID)
		a.Version = p.num()
	case "GONE":
		a.Outcome = admission.HoldGone
	case "GEN":
		a.Outcome = admission.StaleGen
	case "LEVEL":
		if level = p.str(); !word(level, maxName) {
			return a, "", malformed("extend: level %q", level)
		}
	default:
		return a, "", p.unknown(name)
	}
	if err == nil {
		err = p.end()
	}
	return a, level, err
}

// Lapse releases expired soft holds of a level.
func (s *Store) Lapse(ctx context.Context, sale, level string, limit int) (n int, version int64, err error) {
	var c check
	c.ok(word(sale, maxName), "sale", sale)
	c.ok(word(level, maxName), "level", level)
	c.ok(limit > 0 && limit <= maxLapse, "limit", fmt.Sprint(limit))
	if c.err != nil {
		return 0, 0, c.err
	}
	k := saleKeys(sale)
	all := []string{k.cfg(), k.seen(), k.bk(), k.total(), k.seat(), k.level(level), k.free(level), k.soft(level)}
	err = s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := lapseScript.run(ctx, conn, all, limit)
		if err != nil {
			return err
		}
		p := newReply("lapse", raw)
		n, version = int(p.num()), p.num()
		return p.end()
	})
	if err == nil && n > 0 {
		s.freed(sale)
	}
	return n, version, err
}

// maxLapse keeps the script short (protocol.md 1.3).
const maxLapse = 1000

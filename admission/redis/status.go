package redis

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Status reads the sale and its version together, in one script (protocol.md 3.13).
func (s *Store) Status(ctx context.Context, sale string, levels []string) (admission.Status, error) {
	var c check
	c.ok(word(sale, maxName), "sale", sale)
	k := saleKeys(sale)
	all := []string{k.cfg(), k.total(), k.bk(), k.pending(), k.roster()}
	args := make([]any, len(levels))
	for i, l := range levels {
		c.ok(word(l, maxName), "level", l)
		all = append(all, k.level(l), k.free(l))
		args[i] = l
	}
	if c.err != nil {
		return admission.Status{}, c.err
	}
	var raw any
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		var err error
		raw, err = statusScript.run(ctx, conn, all, args...)
		return err
	})
	if errors.Is(err, goredis.Nil) {
		return admission.Status{}, admission.ErrNotFound
	}
	if err != nil {
		return admission.Status{}, err
	}
	return parseStatus(sale, levels, raw)
}

func parseStatus(sale string, levels []string, raw any) (admission.Status, error) {
	p := newReply("status", raw)
	st := admission.Status{Sale: sale, Now: fromMillis(p.num())}
	if err := parseCfg(&st, p.next("cfg")); err != nil && p.err == nil {
		p.err = err
	}
	st.Used, st.Bookings, st.Pending, st.RosterSize = int(p.num()), int(p.num()), int(p.num()), int(p.num())
	st.Paid = int(p.num())
	for _, l := range levels {
		st.Levels = append(st.Levels, admission.LevelStatus{Name: l, Kind: p.str(), Cap: int(p.num()), Used: int(p.num()), Free: int(p.num()), Paid: int(p.num())})
	}
	return st, p.end()
}

func parseCfg(st *admission.Status, raw any) error {
	p := newReply("status cfg", raw)
	var f fieldParser
	st.Gen, st.Version = f.number(p.str()), f.optional(p.strOrNone())
	st.Open = p.strOrNone() == "1"
	st.OpensAt, st.ClosesAt = fromMillis(f.optional(p.strOrNone())), fromMillis(f.optional(p.strOrNone()))
	st.Hold = time.Duration(f.optional(p.strOrNone())) * time.Millisecond
	st.TotalCap, st.RosterVersion = int(f.optional(p.strOrNone())), p.strOrNone()
	if f.err != nil {
		return malformed("status: %w", f.err)
	}
	return p.end()
}

// optional reads a number that may be absent.
func (p *fieldParser) optional(s string) int64 {
	if s == "" {
		return 0
	}
	return p.number(s)
}

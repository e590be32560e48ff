package redis

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// SeatVersion reads generation and version of a sale.
func (s *Store) SeatVersion(ctx context.Context, sale string) (gen, version int64, err error) {
	if !word(sale, maxName) {
		return 0, 0, fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	values, err := s.fields(ctx, saleKeys(sale).cfg(), []string{"gen", shownField, layoutField})
	if err != nil {
		return 0, 0, err
	}
	return parseSeatVersion(values)
}

func parseSeatVersion(values []any) (gen, version int64, err error) {
	if err := judgeLayout(textAt(values, 2), textAt(values, 1)); err != nil {
		return 0, 0, fmt.Errorf("redis: cfg: %w", err)
	}
	p := newReply("cfg", values)
	var f fieldParser
	text := p.strOrNone()
	if p.err == nil && text == "" {
		return 0, 0, admission.ErrNotFound
	}
	gen, version = f.number(text), f.optional(p.strOrNone())
	if f.err != nil {
		return 0, 0, malformed("cfg: %w", f.err)
	}
	p.strOrNone() // the layout
	return gen, version, p.end()
}

// Seats reads the records of a sale with its version and Redis TIME: one
// transaction, one round trip. No script takes part: handing 20,700 strings to
// Lua and back would cost the server three times what sending them does.
func (s *Store) Seats(ctx context.Context, sale string, levels []string) (admission.SeatMap, error) {
	if !word(sale, maxName) {
		return admission.SeatMap{}, fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	k := saleKeys(sale)
	var m admission.SeatMap
	var missing error
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
		p := c.TxPipeline()
		now := p.Time(ctx)
		cfg := p.HMGet(ctx, k.cfg(), "gen", shownField, layoutField)
		// Not HGETALL: a map of the reply would cost more than the reply.
		settled, pending := p.Do(ctx, "hgetall", k.bk()), p.Do(ctx, "hgetall", k.pending())
		_, failed := p.Exec(ctx)
		gen, version, err := parseSeatVersion(cfg.Val())
		if failed != nil && !errors.Is(err, admission.ErrLayout) { // which explains keys of another type
			return failed
		}
		if errors.Is(err, admission.ErrNotFound) {
			missing = err // an answer: nothing to try again
			return nil
		}
		if err != nil {
			return err
		}
		m = admission.SeatMap{Gen: gen, Version: version, Now: now.Val().UTC()}
		if m.Holders, err = parseHolders(nil, settled.Val(), levels); err != nil {
			return err
		}
		m.Holders, err = parseHolders(m.Holders, pending.Val(), levels)
		return err
	})
	return m, errors.Join(missing, err)
}

// parseHolders adds the records of seated levels to list.
func parseHolders(list []admission.Holder, raw any, levels []string) ([]admission.Holder, error) {
	flat, ok := raw.([]any)
	if !ok || len(flat)%2 != 0 {
		return nil, malformed("hgetall of the records: %T", raw)
	}
	seated := make(map[string]bool, len(levels))
	for _, l := range levels {
		seated[l] = true
	}
	for i := 0; i < len(flat); i += 2 {
		id, ok1 := flat[i].(string)
		packed, ok2 := flat[i+1].(string)
		if !ok1 || !ok2 {
			return nil, malformed("hgetall of the records: %T and %T", flat[i], flat[i+1])
		}
		if !seated[levelOf(packed)] {
			continue
		}
		r, err := unpackRecord(id, packed)
		if err != nil {
			return nil, err
		}
		list = append(list, admission.Holder{ID: id, Level: r.Level, Stage: r.Stage, Until: r.HoldUntil, Seats: r.Tokens})
	}
	return list, nil
}

// levelOf finds the level in a packed record without unpacking it.
func levelOf(packed string) string {
	field, from := 0, 0
	for i := 0; i < len(packed); i++ {
		if packed[i] != '|' {
			continue
		}
		if field == 6 {
			return packed[from:i]
		}
		field, from = field+1, i+1
	}
	return ""
}

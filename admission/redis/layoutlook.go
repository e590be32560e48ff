package redis

import (
	"context"
	"fmt"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis/resp"
)

// reading runs commands that only read a sale's keys, and a look at its layout, in
// one round trip. What they answered counts for nothing if it is another.
func reading(ctx context.Context, c *goredis.Conn, k keys, add func(p goredis.Pipeliner)) error {
	p := c.Pipeline()
	cfg := p.HMGet(ctx, k.cfg(), layoutField, shownField)
	add(p)
	_, err := p.Exec(ctx)
	values, refused := cfg.Result()
	if refused == nil {
		refused = judgeLayout(textAt(values, 0), textAt(values, 1))
	}
	if refused != nil {
		return refused
	}
	return err
}

// textAt is one of the values of HMGET, "" where there is none.
func textAt(values []any, i int) string {
	if i >= len(values) {
		return ""
	}
	text, _ := values[i].(string)
	return text
}

// packLayout is the look at the layout on a wire, layoutReply its answer.
func (w *wire) packLayout(cfg string) {
	w.out.Command(4)
	w.out.String("HMGET")
	w.out.String(cfg)
	w.out.String(layoutField)
	w.out.String(shownField)
}

func layoutReply(flat []resp.Value, err error) (refused, fault error) {
	if err != nil {
		return nil, err
	}
	if flat[0].Kind != resp.List || len(flat) != 3 {
		return nil, malformed("want 2 values")
	}
	return judgeLayout(flat[1].Text, flat[2].Text), nil
}

// checkLayout refuses a sale of another layout.
func (s *Store) checkLayout(ctx context.Context, k keys) error {
	return s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
		return reading(ctx, c, k, func(goredis.Pipeliner) {})
	})
}

// laidOut refuses admissions to a sale of another layout. Their scripts carry no
// guard, the first second waits for them: they compare the generation, which no
// two installs of a sale share, so one look for each generation says as much.
func (s *Store) laidOut(w *wire, sale string, reqs []*admission.Request) error {
	s.mu.Lock()
	known := s.laid[sale]
	s.mu.Unlock()
	asked := false
	for _, r := range reqs {
		asked = asked || r.Gen != known
	}
	if !asked {
		return nil
	}
	fields, values := [...]string{layoutField, shownField, "gen"}, [3]string{}
	err := w.fields("", []string{saleKeys(sale).cfg()}, len(fields), func(i int) string { return fields[i] }, func(_ int, v []resp.Value) {
		for i := range values {
			values[i] = v[i].Text
		}
	})
	if err != nil {
		return err
	}
	if err := judgeLayout(values[0], values[1]); err != nil {
		return fmt.Errorf("redis: admit: %w", err)
	}
	if gen, err := strconv.ParseInt(values[2], 10, 64); err == nil { // none: the script says so
		s.mu.Lock()
		s.laid[sale] = gen
		s.mu.Unlock()
	}
	return nil
}

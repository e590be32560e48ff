package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// installTries is how often the last step asks for its acknowledgement. Nobody is
// in a hurry, and a replica that has just started may need seconds.
const installTries = 25

// installPage is how many tokens one call adds.
const installPage = 1000

// Install creates the sale's keys from the plan, calls rebuild (nil: nothing to
// put back) and opens last: until cfg has its generation every admission answers
// StaleGen. Of two installs at once the later one wins and the other fails. It
// may be repeated after any error; after a success it is admission.ErrInstalled.
// Keys of another layout are cleared like all others. ErrUnacknowledged, after some tries, says that the sale is installed on the
// primary but may be lost with it: a repeat answers ErrInstalled, and the next
// acknowledged change of the sale covers it.
func (s *Store) Install(ctx context.Context, p admission.Plan, rebuild func(ctx context.Context) error) error {
	if err := validPlan(&p); err != nil {
		return err
	}
	forget, err := s.keepPages(ctx, p.Sale)
	if err != nil {
		return err
	}
	defer forget()
	owner := rand.Text()
	if err := s.installBegin(ctx, &p, owner); err != nil {
		return err
	}
	for _, l := range p.Levels {
		if err := s.installLevel(ctx, p.Sale, owner, l); err != nil {
			return err
		}
	}
	if rebuild != nil {
		if err := rebuild(ctx); err != nil {
			return fmt.Errorf("redis: rebuild of %s: %w", p.Sale, err)
		}
	}
	return s.installFinish(ctx, &p, owner)
}

// installBegin clears the keys of the plan's levels and of those that an older
// generation had. Where they were of another layout it also clears the keys that
// only that one has; execute guards are of no layout, and stay.
func (s *Store) installBegin(ctx context.Context, p *admission.Plan, owner string) error {
	k := saleKeys(p.Sale)
	levels, known := []string{}, map[string]bool{}
	add := func(l string) {
		if !known[l] {
			known[l] = true
			levels = append(levels, l)
		}
	}
	for _, l := range p.Levels {
		add(l.Name)
	}
	old, err := s.fieldNames(ctx, k.cfg())
	if err != nil {
		return err
	}
	for _, f := range old {
		if l, found := strings.CutPrefix(f, "kind:"); found {
			add(l)
		}
	}
	foreign, err := s.step(ctx, installBeginScript, k.all(levels), p.Gen, owner, layout)
	if err != nil || foreign == 0 {
		return err
	}
	s.cfg.Log.Warn("the sale's keys were of another layout: whatever else has its name goes", "sale", p.Sale)
	_, _, err = s.forgetWalk(ctx, k, func(name string) bool {
		return name == k.proof() || strings.HasPrefix(name, k.execute("")) || slices.Contains(k.all(levels), name)
	})
	return err
}

func (s *Store) fieldNames(ctx context.Context, key string) ([]string, error) {
	var names []string
	err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
		var err error
		names, err = c.HKeys(ctx, key).Result()
		return err
	})
	return names, err
}

// installLevel adds the level's tokens, page by page.
func (s *Store) installLevel(ctx context.Context, sale, owner string, l admission.LevelPlan) error {
	k := saleKeys(sale)
	tokens, scores := levelTokens(l)
	for from := 0; from == 0 || from < len(tokens); from += installPage {
		args := []any{owner, layout, l.Name, l.Kind, l.Cap, l.Next}
		for i := from; i < min(from+installPage, len(tokens)); i++ {
			args = append(args, scores[i], tokens[i])
		}
		if _, err := s.step(ctx, installLevelScript, []string{k.cfg(), k.free(l.Name)}, args...); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) installFinish(ctx context.Context, p *admission.Plan, owner string) error {
	k := saleKeys(p.Sale)
	all := []string{k.cfg(), k.total()}
	args := []any{owner, p.Gen, flag(p.Open), millis(p.OpensAt), millis(p.ClosesAt), p.Hold.Milliseconds(), p.TotalCap, p.RosterVersion}
	for _, l := range p.Levels {
		all = append(all, k.level(l.Name), k.free(l.Name))
		args = append(args, l.Name)
	}
	for attempt := 1; ; attempt++ {
		_, err := s.stepAcknowledged(ctx, installFinishScript, all, args...)
		if attempt == installTries || !errors.Is(err, admission.ErrUnacknowledged) {
			return err
		}
	}
}

// step runs a script of the install or control family and returns its version.
func (s *Store) step(ctx context.Context, sc *script, keys []string, args ...any) (int64, error) {
	return s.runStep(ctx, false, sc, keys, args...)
}

func (s *Store) stepAcknowledged(ctx context.Context, sc *script, keys []string, args ...any) (int64, error) {
	return s.runStep(ctx, true, sc, keys, args...)
}

func (s *Store) runStep(ctx context.Context, ack bool, sc *script, keys []string, args ...any) (version int64, err error) {
	var refusal error
	err = s.retry(ctx, keys[0], func(ctx context.Context, c *goredis.Conn) error {
		raw, err := sc.run(ctx, c, keys, args...)
		if err != nil {
			return err
		}
		if version, refusal, err = parseStep(sc.name, raw); err != nil || refusal != nil || !ack {
			return err
		}
		return s.mustAcknowledge(ctx, c)
	})
	return version, errors.Join(refusal, err)
}

// parseStep reads {OK ver}, {OK}, or a refusal.
func parseStep(name string, raw any) (version int64, refusal, err error) {
	p := newReply(name, raw)
	switch word := p.str(); word {
	case "OK":
		if p.more() {
			version = p.num()
		}
	case "GEN":
		refusal = admission.ErrStaleGen
	case "HAVE":
		refusal = fmt.Errorf("%w (generation %d)", admission.ErrInstalled, p.num())
	case "LOST":
		refusal = errors.New("redis: install: somebody else has begun an install of this sale: let it finish")
	case "LEVEL":
		refusal = fmt.Errorf("redis: install: level %s has %d used and %d free seats, cap %d: mend the plan or the rebuild", p.str(), p.num(), p.num(), p.num())
	case "TOTAL":
		refusal = fmt.Errorf("redis: install: total is %d, the levels have %d used seats", p.num(), p.num())
	default:
		return 0, nil, p.unknown(word)
	}
	return version, refusal, p.end()
}

package fault

import (
	"math/rand/v2"
	"sync"
)

// Script is a Plan that a test writes down: the first rule that matches and is not used up decides. The zero Script has no rules and no faults. It is safe for concurrent use.
type Script struct {
	mu    sync.Mutex
	rules []*rule
	fired map[Kind]int
}

type rule struct {
	match Point
	after int
	times int
	v     Verdict
}

// Inject adds a rule: after letting `after` matching calls pass, give the next `times` calls (negative: all) the verdict v. Empty fields of match match anything.
func (s *Script) Inject(match Point, after, times int, v Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, &rule{match: match, after: after, times: times, v: v})
}

// Once makes the next matching call suffer v.
func (s *Script) Once(match Point, v Verdict) { s.Inject(match, 0, 1, v) }

// Heal removes every rule.
func (s *Script) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// Fired returns how many calls got a verdict of this kind, so that a test can prove that its fault happened.
func (s *Script) Fired(k Kind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fired[k]
}

// Decide implements Plan.
func (s *Script) Decide(p Point) Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		if r.times == 0 || !r.matches(p) {
			continue
		}
		if r.after > 0 {
			r.after--
			continue
		}
		if r.times > 0 {
			r.times--
		}
		if s.fired == nil {
			s.fired = map[Kind]int{}
		}
		s.fired[r.v.Kind]++
		return r.v
	}
	return Verdict{}
}

func (r *rule) matches(p Point) bool {
	ok := func(want, got string) bool { return want == "" || want == got }
	return ok(r.match.Service, p.Service) && ok(r.match.Op, p.Op) && ok(r.match.Resource, p.Resource)
}

// Chance is one line of a Random plan: verdict V befalls a call with probability P.
type Chance struct {
	P float64
	V Verdict
}

// Random is a seeded Plan: the same source and the same order of calls give the same faults. It is safe for concurrent use, but only a single caller gets a repeatable order.
type Random struct {
	mu      sync.Mutex
	rng     *rand.Rand
	chances []Chance
}

// NewRandom returns a plan that draws one number per call; the chances are tried in order and must not add up to more than 1.
func NewRandom(src rand.Source, chances ...Chance) *Random {
	return &Random{rng: rand.New(src), chances: chances}
}

// Decide implements Plan.
func (r *Random) Decide(Point) Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.rng.Float64()
	for _, c := range r.chances {
		if x < c.P {
			return c.V
		}
		x -= c.P
	}
	return Verdict{}
}

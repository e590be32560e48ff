package model

import "fmt"

// Model is a configuration with its rules, and what was learnt about it. It
// serves one search at a time.
type Model struct {
	cfg   Config
	rules Rules

	writes map[question]written
	audits map[audited][]string
	healed map[rest][]string
	calm   steps
	slow   int
}

// New returns a model of the protocol without the rules that r leaves out.
func New(c Config, r Rules) *Model {
	return &Model{cfg: c, rules: r, writes: map[question]written{}, audits: map[audited][]string{}, healed: map[rest][]string{}}
}

func (m *Model) candidate(b bid) uint8 {
	if m.cfg.OneCandidate {
		return 0
	}
	return uint8(b.attempt())
}

// Result is what a search found.
type Result struct {
	States, Transitions int
	Healed              int      // distinct remains that were healed and audited
	Slow                int      // those of them that had to wait for a dead mark to run out
	Depth               int      // steps to the farthest state
	Exhausted           bool     // every reachable state was seen
	Violations          []string // of the first bad state; nil: none is reachable
	Trace               []string // a shortest way to it
}

// visit remembers how a state was reached first.
type visit struct {
	from uint32 // index of the state before
	nth  uint8  // which of its steps
}

// Search walks breadth first from an empty sale until a promise is broken,
// everything was seen, or limit states were.
func (m *Model) Search(limit int) Result {
	start := world{redis: m.unsold()}
	seen, visits := newHashes(), []visit{{}}
	seen.add(start.hash())
	r := Result{States: 1}
	level, ids := []world{start}, []uint32{0}
	var next []world
	var nextIDs []uint32
	var s steps
	for len(level) > 0 {
		next, nextIDs = next[:0], nextIDs[:0]
		for i := range level {
			s = s[:0]
			m.all(&level[i], &s)
			r.Transitions += len(s)
			for j := range s {
				m.canonical(&s[j].world)
				if isNew := seen.add(s[j].hash()); !isNew && s[j].broken == "" {
					continue // a step that breaks a promise is judged wherever it leads
				}
				visits = append(visits, visit{ids[i], uint8(j)})
				next, nextIDs = append(next, s[j].world), append(nextIDs, uint32(len(visits)-1))
				if found := m.judge(&s[j]); len(found) > 0 {
					r.Violations, r.Trace = found, m.trace(visits)
					r.Depth++
					return m.sum(r, len(visits))
				}
			}
			if len(visits) >= limit {
				return m.sum(r, len(visits))
			}
		}
		if len(next) > 0 {
			r.Depth++
		}
		level, next, ids, nextIDs = next, level, nextIDs, ids
	}
	r.Exhausted = true
	return m.sum(r, len(visits))
}

func (m *Model) sum(r Result, states int) Result {
	r.States, r.Healed, r.Slow = states, len(m.healed), m.slow
	return r
}

func (m *Model) judge(s *step) []string {
	if s.broken != "" {
		return []string{s.broken}
	}
	if found := m.audit(&s.world); len(found) > 0 {
		return found
	}
	var all []string
	for _, v := range m.heal(&s.world) {
		all = append(all, "after healing: "+v)
	}
	return all
}

// canonical sorts workers and reapers: which of two did something does not
// matter.
func (m *Model) canonical(w *world) {
	for _, i := range []int{firstWorker, firstReaper} {
		if a, b := &w.procs[i], &w.procs[i+1]; b.rank() > a.rank() {
			*a, *b = *b, *a
		}
	}
}

func (p *proc) rank() uint64 {
	return uint64(p.pc)<<32 | uint64(p.b)<<24 | uint64(p.msg)<<16 | uint64(p.driver)<<8 | uint64(p.pos)
}

// trace tells how the last of the visited states is reached.
func (m *Model) trace(visits []visit) []string {
	var path []visit
	for i := uint32(len(visits) - 1); i != 0; i = visits[i].from {
		path = append(path, visits[i])
	}
	w := world{redis: m.unsold()}
	var told []string
	for i := len(path) - 1; i >= 0; i-- {
		var s steps
		m.all(&w, &s)
		chosen := s[path[i].nth]
		m.canonical(&chosen.world)
		told = append(told, fmt.Sprintf("%2d. %s", len(told)+1, m.tell(&w, &chosen)))
		w = chosen.world
	}
	return told
}

// tell names the step, who takes it and on what.
func (m *Model) tell(before *world, s *step) string {
	if s.proc == nobody {
		return s.name
	}
	q := before.procs[s.proc]
	if q.pc == idle {
		q = s.procs[s.proc]
	}
	switch {
	case s.proc < firstResumer:
		return fmt.Sprintf("driver of %s: %s", bidNames[s.proc], s.name)
	case s.proc < firstWorker:
		return fmt.Sprintf("resumer %d of %s: %s", s.proc-firstResumer+1, bidNames[0], s.name)
	case s.proc < firstReaper:
		return fmt.Sprintf("worker on %s (%s): %s", messageNames[q.msg], bidNames[q.b], s.name)
	}
	return fmt.Sprintf("reaper on %s: %s", bidNames[q.b], s.name)
}

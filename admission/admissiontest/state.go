package admissiontest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// state is all keys. A written state is never changed: the next write forks it.
type state struct{ sales map[string]*saleState }

func newState() *state { return &state{sales: map[string]*saleState{}} }

// fork is a copy in which the sale may be written.
func (s *state) fork(sale string) *state {
	c := &state{sales: maps.Clone(s.sales)}
	c.sales[sale] = s.sale(sale).clone()
	return c
}

func (s *state) sale(id string) *saleState {
	if found, ok := s.sales[id]; ok {
		return found
	}
	return newSaleState()
}

// config is cfg. gen 0 stands for a missing cfg.
type config struct {
	gen             int64
	open            bool
	opensMS, closes int64
	holdMS          int64
	cap             int
	roster          string
	ver, replays    int64
	change          int64 // serial of the last cap change
	edit            int64 // serial of the last edit of named seats
	mark, marked    string
	levels          map[string]levelConfig
}

type levelConfig struct {
	cap, next int
	kind      string
}

type pending struct {
	bid, level string
	ms         int64
}

type lastReleased struct{ bid, key, input string }

type stash struct {
	url string
	end int64
}

type guard struct {
	bid string
	end int64
}

type token struct {
	score int64
	name  string
}

// saleState are the keys of one sale (protocol.md 3.2).
type saleState struct {
	cfg     config
	roster  map[string]admission.RosterEntry
	seen    map[string]string
	bk      map[string]admission.Record
	pending map[string]pending
	dead    map[string]int64
	total   int
	level   map[string]int
	free    map[string][]token // sorted by score, then name
	seat    map[string]string
	last    map[string]lastReleased
	soft    map[string]map[string]int64
	stash   map[string]stash
	guards  map[string]guard
	was     map[string]admission.Record // booking id -> the soft hold that it was made of
	without Rules
}

func newSaleState() *saleState {
	return &saleState{
		cfg:    config{levels: map[string]levelConfig{}},
		roster: map[string]admission.RosterEntry{}, seen: map[string]string{}, bk: map[string]admission.Record{},
		pending: map[string]pending{}, dead: map[string]int64{}, level: map[string]int{}, free: map[string][]token{},
		seat: map[string]string{}, last: map[string]lastReleased{}, soft: map[string]map[string]int64{},
		stash: map[string]stash{}, guards: map[string]guard{}, was: map[string]admission.Record{},
	}
}

func (s *saleState) clone() *saleState {
	c := *s
	c.cfg.levels = maps.Clone(s.cfg.levels)
	c.roster, c.seen, c.bk, c.pending = maps.Clone(s.roster), maps.Clone(s.seen), maps.Clone(s.bk), maps.Clone(s.pending)
	c.dead, c.level, c.seat, c.last = maps.Clone(s.dead), maps.Clone(s.level), maps.Clone(s.seat), maps.Clone(s.last)
	c.stash, c.guards, c.was = maps.Clone(s.stash), maps.Clone(s.guards), maps.Clone(s.was)
	c.free, c.soft = make(map[string][]token, len(s.free)), make(map[string]map[string]int64, len(s.soft))
	for l, f := range s.free {
		c.free[l] = slices.Clone(f)
	}
	for l, f := range s.soft {
		c.soft[l] = maps.Clone(f)
	}
	return &c
}

func byScore(a, b token) int {
	return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name))
}

// put is ZADD of a token that is not in the set.
func (s *saleState) put(level string, t token) {
	i, _ := slices.BinarySearchFunc(s.free[level], t, byScore)
	s.free[level] = slices.Insert(s.free[level], i, t)
}

// find is ZSCORE.
func (s *saleState) find(level, name string) (token, bool) {
	i := slices.IndexFunc(s.free[level], func(t token) bool { return t.name == name })
	if i < 0 {
		return token{}, false
	}
	return s.free[level][i], true
}

// take is ZREM.
func (s *saleState) take(level, name string) {
	s.free[level] = slices.DeleteFunc(s.free[level], func(t token) bool { return t.name == name })
}

// raise is HINCRBY cfg ver 1.
func (s *saleState) raise() int64 {
	s.cfg.ver++
	return s.cfg.ver
}

// release gives the seats of a record back to the level and returns how many
// were its own.
func (s *saleState) release(bid string, r admission.Record) int {
	n := 0
	for i, name := range r.Tokens {
		if s.seat[name] == bid {
			delete(s.seat, name)
			s.put(r.Level, token{r.Scores[i], name})
			n++
		}
	}
	s.total -= n
	s.level[r.Level] -= n
	return n
}

// paid counts the paid seats of a level, or of all. The scripts keep the number.
func (s *saleState) paid(level string) int {
	n := 0
	for _, rec := range s.bk {
		if rec.Stage == admission.StagePaid && (level == "" || rec.Level == level) {
			n += len(rec.Tokens)
		}
	}
	return n
}

func copyRecord(r admission.Record) admission.Record {
	r.Tokens, r.Scores = slices.Clone(r.Tokens), slices.Clone(r.Scores)
	return r
}

func fromMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func toMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

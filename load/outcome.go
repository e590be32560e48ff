package load

import (
	"maps"
	"sync"
	"time"
)

// Outcome is how a request ended, as a client sees it: "201", "200", or the
// problem's code, or "error" for no answer.
type Outcome string

// Tally counts outcomes and latencies by kind of request and by second, in
// memory that does not grow with the number of requests. Safe for concurrent
// use.
type Tally struct {
	mu     sync.Mutex
	counts map[Kind]map[Outcome]int
	took   map[Kind]*Histogram
	sent   int
	start  time.Time
	second map[int]*second
}

// second is what became of the requests that were due in one second.
type second struct {
	sent     int
	outcomes map[Outcome]int
	took     Histogram
	used     int // seats at the last look; -1: none
}

func newTally(start time.Time) *Tally {
	return &Tally{counts: map[Kind]map[Outcome]int{}, took: map[Kind]*Histogram{}, start: start, second: map[int]*second{}}
}

// add counts an answer; due is when its request was due.
func (t *Tally) add(k Kind, o Outcome, due time.Time, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts[k] == nil {
		t.counts[k], t.took[k] = map[Outcome]int{}, &Histogram{}
	}
	t.counts[k][o]++
	t.sent++
	t.took[k].Add(took)
	s := t.at(due)
	s.sent++
	s.outcomes[o]++
	if k != Honeypot {
		s.took.Add(took)
	}
}

// look notes how many seats were in use.
func (t *Tally) look(at time.Time, used int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at(at).used = used
}

func (t *Tally) at(when time.Time) *second {
	i := max(0, int(when.Sub(t.start)/time.Second))
	if t.second[i] == nil {
		t.second[i] = &second{outcomes: map[Outcome]int{}, used: -1}
	}
	return t.second[i]
}

// Figures are a tally at one instant.
type Figures struct {
	Requests  int                      `json:"requests"`
	ByOutcome map[Outcome]int          `json:"by_outcome"`
	ByKind    map[Kind]map[Outcome]int `json:"by_kind"`
	// Latency counts from the instant at which a request was due. All leaves the
	// honeypots out: their answers wait on purpose.
	Latency map[Kind]Latency `json:"latency"`
	All     Latency          `json:"latency_all"`
}

// Latency are quantiles in milliseconds.
type Latency struct {
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}

// Figures returns a copy of the counts with the quantiles of all latencies.
func (t *Tally) Figures() Figures {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := Figures{Requests: t.sent, ByOutcome: map[Outcome]int{}, ByKind: map[Kind]map[Outcome]int{}, Latency: map[Kind]Latency{}}
	var all Histogram
	for k, m := range t.counts {
		f.ByKind[k] = maps.Clone(m)
		for o, n := range m {
			f.ByOutcome[o] += n
		}
		f.Latency[k] = t.took[k].latency()
		if k != Honeypot {
			all.Merge(t.took[k])
		}
	}
	f.All = all.latency()
	return f
}

// Point is one second of a run, for plots.
type Point struct {
	Second   int             `json:"second"`
	Sent     int             `json:"sent"` // requests that were due in it
	Outcomes map[Outcome]int `json:"outcomes,omitempty"`
	Latency  Latency         `json:"latency"`
	Used     int             `json:"used"` // seats in use at the last look; -1: nobody looked
}

// Series is the run second by second, from the first one to the last in which
// something was seen.
func (t *Tally) Series() []Point {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := -1
	for i := range t.second {
		last = max(last, i)
	}
	points := make([]Point, last+1)
	for i := range points {
		points[i] = Point{Second: i, Used: -1}
		if s := t.second[i]; s != nil {
			points[i] = Point{Second: i, Sent: s.sent, Outcomes: maps.Clone(s.outcomes), Latency: s.took.latency(), Used: s.used}
		}
	}
	return points
}

package load

import (
	"slices"
	"sync"
	"time"
)

// Outcome is how a request ended, as a client sees it: "201", "200", or the
// problem's code, or "error" for no answer.
type Outcome string

// Tally counts outcomes by kind of request and keeps every latency. Safe for
// concurrent use.
type Tally struct {
	mu        sync.Mutex
	counts    map[Kind]map[Outcome]int
	latencies map[Kind][]time.Duration
	sent      int
	started   time.Time
}

func newTally(now time.Time) *Tally {
	return &Tally{counts: map[Kind]map[Outcome]int{}, latencies: map[Kind][]time.Duration{}, started: now}
}

func (t *Tally) add(k Kind, o Outcome, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts[k] == nil {
		t.counts[k] = map[Outcome]int{}
	}
	t.counts[k][o]++
	t.sent++
	t.latencies[k] = append(t.latencies[k], took)
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
	f := Figures{Requests: t.sent, ByOutcome: map[Outcome]int{}, ByKind: map[Kind]map[Outcome]int{}}
	for k, m := range t.counts {
		f.ByKind[k] = map[Outcome]int{}
		for o, n := range m {
			f.ByKind[k][o] = n
			f.ByOutcome[o] += n
		}
	}
	f.Latency = map[Kind]Latency{}
	var all []time.Duration
	for k, list := range t.latencies {
		f.Latency[k] = latencyOf(slices.Clone(list))
		if k != Honeypot {
			all = append(all, list...)
		}
	}
	f.All = latencyOf(all)
	return f
}

// latencyOf sorts its argument.
func latencyOf(all []time.Duration) Latency {
	slices.Sort(all)
	return Latency{P50MS: quantile(all, .50), P99MS: quantile(all, .99), MaxMS: quantile(all, 1)}
}

// quantile of sorted durations in milliseconds; 0 of none.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := min(int(q*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[i].Microseconds()) / 1000
}

package console

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Figures are what all ingresses of the deployment did for the sale per second,
// of late. Each of them puts its counts into the ledger every two seconds, so
// the figures are the same on every console, and right after a reconnect.
type Figures struct {
	Outcomes     map[string]float64 `json:"outcomes"`     // booking requests per second
	Requests     float64            `json:"requests"`     // of all outcomes
	Unavailable  float64            `json:"unavailable"`  // answers with 503, try again, per second
	AdmitP99     float64            `json:"admit_p99_ms"` // upper bound of the bucket; 0: nothing was admitted
	Slower       bool               `json:"slower"`       // than AdmitP99, the last bound
	Ingresses    int                `json:"ingresses"`    // that counted anything in the last two minutes
	WindowSecond float64            `json:"window_seconds"`
}

// back is how far a reading looks: a process that hangs may put a minute's last
// state down late.
const back = 2 * time.Minute

// slot is one process in one minute.
type slot struct {
	at      int64
	process string
}

// reading is everything that the watch has seen counted, up to one instant. It
// only rises.
type reading struct {
	at        time.Time
	outcomes  map[string]int
	admits    ledger.Latency
	ingresses int
}

// counter adds up what the minutes of a sale grow by.
type counter struct {
	known map[slot]ledger.Minute
	total reading
}

// minutes is what a reading is made from.
type minutes func(ctx context.Context, saleID string, since time.Time, each func(ledger.Minute) error) error

// read looks at the last minutes. The first reading is where counting begins.
func (c *counter) read(ctx context.Context, list minutes, saleID string, now time.Time) (reading, error) {
	first, seen, processes := c.known == nil, map[slot]ledger.Minute{}, map[string]bool{}
	sum := reading{at: now, outcomes: map[string]int{}, admits: c.total.admits}
	for name, n := range c.total.outcomes {
		sum.outcomes[name] = n
	}
	err := list(ctx, saleID, now.Add(-back).Truncate(time.Minute), func(m ledger.Minute) error {
		k := slot{m.At.UnixMilli(), m.Process}
		old := c.known[k]
		seen[k], processes[m.Process] = m, true
		if first {
			return nil
		}
		for name, n := range m.Answers {
			sum.outcomes[name] += n - old.Answers[name]
		}
		sum.admits = sum.admits.Plus(m.Admit.Minus(old.Admit))
		return nil
	})
	if err != nil {
		return reading{}, err
	}
	sum.ingresses = len(processes)
	c.known, c.total = seen, sum
	return sum, nil
}

// tryAgain are the outcomes that say 503 though nobody closed the sale.
var tryAgain = []string{"unavailable", "payment_unavailable"}

// since is what happened between an older reading and this one.
func (r reading) since(old reading) Figures {
	f := Figures{Outcomes: map[string]float64{}, Ingresses: r.ingresses, WindowSecond: r.at.Sub(old.at).Seconds()}
	if f.WindowSecond <= 0 {
		return f
	}
	for name, n := range r.outcomes {
		if d := n - old.outcomes[name]; d > 0 {
			f.Outcomes[name] = float64(d) / f.WindowSecond
			f.Requests += float64(d) / f.WindowSecond
		}
	}
	for _, name := range tryAgain {
		f.Unavailable += f.Outcomes[name]
	}
	bound, over := r.admits.Minus(old.admits).Quantile(.99)
	f.AdmitP99, f.Slower = float64(bound)/float64(time.Millisecond), over
	return f
}

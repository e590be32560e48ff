package ledger

import (
	"context"
	"time"
)

// LatencyBounds are the upper bounds of a Minute's latency buckets; a last
// bucket holds what was slower.
var LatencyBounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Latency counts durations by bucket: up to each of LatencyBounds, then slower.
type Latency [len(LatencyBounds) + 1]int

// Count is how many durations there are.
func (l Latency) Count() int {
	n := 0
	for _, c := range l {
		n += c
	}
	return n
}

// Plus is both together.
func (l Latency) Plus(o Latency) Latency {
	for i, n := range o {
		l[i] += n
	}
	return l
}

// Minus is what came on top of an older state of the same counts.
func (l Latency) Minus(old Latency) Latency {
	for i, n := range old {
		l[i] -= n
	}
	return l
}

// Quantile is the upper bound of the bucket that holds the q-th part. over says
// that it is slower than that, the last bound. Zero without any durations.
func (l Latency) Quantile(q float64) (bound time.Duration, over bool) {
	seen, all := 0, l.Count()
	if all == 0 {
		return 0, false
	}
	for i, b := range LatencyBounds {
		if seen += l[i]; float64(seen) >= q*float64(all) {
			return b, false
		}
	}
	return LatencyBounds[len(LatencyBounds)-1], true
}

// Minute is what one process of the ingress answered for a sale within one
// minute. It outlives the process, for the console of any other one and for the
// report after the sale. It is evidence and no proof: a process that is killed
// takes the last seconds of its counts with it.
type Minute struct {
	At      time.Time      // when the minute began
	Process string         // who counted
	Answers map[string]int // booking requests by outcome, the code of the public API; "created" for 201
	Admit   Latency        // admission with its replica acknowledgement
	Created Latency        // whole requests that were answered 201
	Refused Latency        // whole requests that were answered otherwise
}

// MinuteStore keeps the minutes of each sale. Both methods are safe to repeat.
type MinuteStore interface {
	// PutMinute replaces what the same process has put for the same minute.
	PutMinute(ctx context.Context, saleID string, m Minute) error
	// Minutes calls each for the minutes that began at or after since, the oldest
	// first.
	Minutes(ctx context.Context, saleID string, since time.Time, each func(Minute) error) error
}

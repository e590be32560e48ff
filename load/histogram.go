package load

import (
	"math/bits"
	"time"
)

// Resolution of a Histogram: each power of two of microseconds is cut into
// fine parts, so a quantile is at most 1/fine too high.
const (
	fineBits = 5
	fine     = 1 << fineBits
	octaves  = 27 // up to 2^31 µs, 35 minutes; what is longer counts as that
)

// Histogram counts durations in a fixed amount of memory, however many there
// are. The zero value is empty.
type Histogram struct {
	count [fine * (octaves + 1)]uint32
	n     int
	most  time.Duration
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	h.count[slot(d)]++
	h.n++
	h.most = max(h.most, d)
}

// Count is how many were added.
func (h *Histogram) Count() int { return h.n }

// Merge adds everything of another one.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.count {
		h.count[i] += n
	}
	h.n += o.n
	h.most = max(h.most, o.most)
}

// Quantile is an upper bound of the q-th part, exact to 1/32; 0 of none.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank, seen := int(q*float64(h.n)), 0
	for i, n := range h.count {
		seen += int(n)
		if seen > rank && n > 0 {
			return min(upper(i), h.most)
		}
	}
	return h.most
}

// latency is the histogram in numbers.
func (h *Histogram) latency() Latency {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return Latency{P50MS: ms(h.Quantile(.50)), P99MS: ms(h.Quantile(.99)), MaxMS: ms(h.most)}
}

// slot is where a duration is counted: microseconds below fine each by itself,
// then by the power of two and the next fineBits digits.
func slot(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	if us < fine {
		return int(us)
	}
	octave := bits.Len64(us) - 1 - fineBits
	if octave >= octaves {
		return fine*(octaves+1) - 1
	}
	return fine*(octave+1) + int(us>>octave)&(fine-1)
}

// upper is the longest duration that is counted in a slot.
func upper(i int) time.Duration {
	if i < fine {
		return time.Duration(i) * time.Microsecond
	}
	octave := i/fine - 1
	us := (uint64(fine+i%fine)+1)<<octave - 1
	return time.Duration(us) * time.Microsecond
}

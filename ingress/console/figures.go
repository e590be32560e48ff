package console

import (
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Figures are what this ingress did per second, of late. Other ingresses of the
// fleet have figures of their own.
type Figures struct {
	Outcomes     map[string]float64 `json:"outcomes"`     // booking requests per second
	Requests     float64            `json:"requests"`     // of all outcomes
	Unavailable  float64            `json:"unavailable"`  // answers with 503, per second
	AdmitP99     float64            `json:"admit_p99_ms"` // upper bound of the bucket; 0: nothing was admitted
	WindowSecond float64            `json:"window_seconds"`
}

// reading is the process's counters at one instant.
type reading struct {
	at       time.Time
	outcomes map[string]float64
	failed   float64
	admits   map[float64]float64 // cumulative, by upper bound in seconds
}

func readFigures(g prometheus.Gatherer, at time.Time) (reading, error) {
	r := reading{at: at, outcomes: map[string]float64{}, admits: map[float64]float64{}}
	families, err := g.Gather()
	for _, f := range families {
		switch f.GetName() {
		case "holdfast_ingress_bookings_total":
			for _, m := range f.GetMetric() {
				r.outcomes[label(m, "outcome")] += m.GetCounter().GetValue()
			}
		case "holdfast_ingress_requests_total":
			for _, m := range f.GetMetric() {
				if label(m, "status") == "503" && !strings.Contains(label(m, "route"), "/admin/") {
					r.failed += m.GetCounter().GetValue()
				}
			}
		case "holdfast_ingress_admission_seconds":
			for _, m := range f.GetMetric() {
				for _, b := range m.GetHistogram().GetBucket() {
					r.admits[b.GetUpperBound()] += float64(b.GetCumulativeCount())
				}
				r.admits[math.Inf(1)] += float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return r, err
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// since is what happened between an older reading and this one.
func (r reading) since(old reading) Figures {
	f := Figures{Outcomes: map[string]float64{}, WindowSecond: r.at.Sub(old.at).Seconds()}
	if f.WindowSecond <= 0 {
		return f
	}
	for name, n := range r.outcomes {
		if d := n - old.outcomes[name]; d > 0 {
			f.Outcomes[name] = d / f.WindowSecond
			f.Requests += d / f.WindowSecond
		}
	}
	f.Unavailable = (r.failed - old.failed) / f.WindowSecond
	f.AdmitP99 = r.quantile(old, .99) * 1000
	return f
}

// quantile is the upper bound of the bucket that holds it.
func (r reading) quantile(old reading, q float64) float64 {
	all := r.admits[math.Inf(1)] - old.admits[math.Inf(1)]
	if all <= 0 {
		return 0
	}
	best, largest := math.Inf(1), 0.0
	for bound, n := range r.admits {
		if math.IsInf(bound, 1) {
			continue
		}
		largest = max(largest, bound)
		if n-old.admits[bound] >= q*all {
			best = min(best, bound)
		}
	}
	if math.IsInf(best, 1) {
		return largest // slower than the last bound: at least that
	}
	return best
}

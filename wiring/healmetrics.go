package wiring

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/reaper"
)

// healMetrics are the figures of the reaper's passes.
type healMetrics struct {
	passes  *prometheus.CounterVec
	took    *prometheus.HistogramVec
	healed  *prometheus.CounterVec
	left    *prometheus.GaugeVec
	ages    *prometheus.GaugeVec
	breaker *prometheus.GaugeVec
	drift   *prometheus.GaugeVec
	audit   *prometheus.GaugeVec

	gatewayUp *prometheus.GaugeVec
}

func newHealMetrics() *healMetrics {
	return &healMetrics{
		passes:  counter("holdfast_passes_total", "Passes of the reaper, by kind and result.", "pass", "result"),
		took:    prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "holdfast_pass_seconds", Help: "Duration of a pass.", Buckets: prometheus.ExponentialBuckets(.01, 4, 8)}, []string{"pass"}),
		healed:  counter("holdfast_swept_total", "What sweeps brought to an end, by kind.", "sale", "kind"),
		left:    gauge("holdfast_sweep_left", "What the last sweep could not bring to an end.", "sale"),
		ages:    gauge("holdfast_pending_age_seconds", "The oldest admission that the ledger does not know, by Redis TIME.", "sale"),
		breaker: gauge("holdfast_breaker_open", "1 while attached orphans are left alone (protocol.md 3.8).", "sale"),
		drift:   gauge("holdfast_drift", "Differences between Redis and the ledger in the last diff, by kind.", "sale", "kind"),
		audit:   gauge("holdfast_audit_violations", "Violations of the last audit.", "sale"),

		gatewayUp: gauge("holdfast_gateway_up", "1 if the payment gateway answered the last question, else 0.", "gateway"),
	}
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func (m *healMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.passes, m.took, m.healed, m.left, m.ages, m.breaker, m.drift, m.audit, m.gatewayUp}
}

func (m *healMetrics) pass(kind string, seconds float64, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.passes.WithLabelValues(kind, result).Inc()
	m.took.WithLabelValues(kind).Observe(seconds)
}

// Swept implements reaper.Metrics.
func (m *healMetrics) Swept(r reaper.SweepResult, err error) {
	m.pass("sweep", r.Took.Seconds(), err)
	for kind, n := range map[string]int{"pending": r.Pending.Done, "holds": r.Holds.Done, "undos": r.Undos.Done, "refunds": r.Refunds.Done, "replayed": r.Replayed} {
		m.healed.WithLabelValues(r.Sale, kind).Add(float64(n))
	}
	m.left.WithLabelValues(r.Sale).Set(float64(r.Left() + r.Failed()))
	m.ages.WithLabelValues(r.Sale).Set(r.OldestPending.Seconds())
	open := 0.0
	if r.Breaker != "" {
		open = 1
	}
	m.breaker.WithLabelValues(r.Sale).Set(open)
}

// Diffed implements reaper.Metrics.
func (m *healMetrics) Diffed(r reaper.DiffResult, err error) {
	m.pass("diff", r.Took.Seconds(), err)
	for kind, d := range r.Drift {
		m.drift.WithLabelValues(r.Sale, string(kind)).Set(float64(d.Count))
	}
}

// Audited implements reaper.Metrics.
func (m *healMetrics) Audited(r reaper.AuditResult, err error) {
	m.pass("audit", r.Took.Seconds(), err)
	m.audit.WithLabelValues(r.Sale).Set(float64(len(r.Violations)))
}

// Rebuilt implements reaper.Metrics.
func (m *healMetrics) Rebuilt(r reaper.RebuildResult, err error) {
	m.pass("rebuild", r.Took.Seconds(), err)
}

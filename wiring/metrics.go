package wiring

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/holdfast/holdfast/workers/delivery"
)

// Metrics are the figures of a process that no door registers for itself, and
// the registry that all of them share.
type Metrics struct {
	*healMetrics
	Registry *prometheus.Registry

	alarms    *prometheus.CounterVec
	handled   *prometheus.CounterVec
	age       prometheus.Histogram
	handling  prometheus.Histogram
	polls     *prometheus.CounterVec
	tidyFails *prometheus.CounterVec
}

// ages reach from a healthy queue to one that the breaker would open for.
var ages = []float64{.005, .02, .1, .5, 2, 10, 30, 60, 300, 900, 3600}

func newMetrics() *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(), healMetrics: newHealMetrics(),
		alarms:    counter("holdfast_alarms_total", "Facts that a person has to look at, by kind.", "kind"),
		handled:   counter("holdfast_events_handled_total", "Deliveries of events, by type and verdict.", "type", "verdict"),
		age:       prometheus.NewHistogram(prometheus.HistogramOpts{Name: "holdfast_event_age_seconds", Help: "From sending an event to its verdict.", Buckets: ages}),
		handling:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "holdfast_event_handling_seconds", Help: "Handling one delivery.", Buckets: prometheus.ExponentialBuckets(.001, 4, 8)}),
		polls:     counter("holdfast_queue_polls_total", "Polls of the queue, by result.", "result"),
		tidyFails: counter("holdfast_queue_tidy_failures_total", "Deliveries whose delete, release or extension failed; they come again.", "op"),
	}
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.alarms, m.handled, m.age, m.handling, m.polls, m.tidyFails)
	m.Registry.MustRegister(m.collectors()...)
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (m *Metrics) alarm(kind string) { m.alarms.WithLabelValues(kind).Inc() }

// Handled implements poller.Observer.
func (m *Metrics) Handled(r delivery.Report) {
	kind := string(r.Type)
	if kind == "" {
		kind = "undecodable"
	}
	m.handled.WithLabelValues(kind, string(r.Verdict)).Inc()
	m.age.Observe(r.Age.Seconds())
	m.handling.Observe(r.Took.Seconds())
}

// Polled implements poller.Observer.
func (m *Metrics) Polled(messages int, err error) {
	result := "messages"
	switch {
	case err != nil:
		result = "error"
	case messages == 0:
		result = "empty"
	}
	m.polls.WithLabelValues(result).Inc()
}

// TidyFailed implements poller.Observer.
func (m *Metrics) TidyFailed(op string, n int) { m.tidyFails.WithLabelValues(op).Add(float64(n)) }

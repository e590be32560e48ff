package ingress

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/tally"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
)

// seconds are the buckets of every latency here: from a local refusal to a
// driver's deadline.
var seconds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15}

// metrics of an ingress. No label holds anything that a caller chose.
type metrics struct {
	now func() time.Time

	bookings   *prometheus.CounterVec // by verdict
	took       *prometheus.HistogramVec
	requests   *prometheus.CounterVec // by route and status class
	inFlight   prometheus.Gauge
	admissions *prometheus.CounterVec
	admitTook  prometheus.Histogram
	gates      *prometheus.CounterVec
	published  *prometheus.CounterVec
	publishing prometheus.Histogram
	payments   *prometheus.CounterVec
	creating   prometheus.Histogram
	withdrawn  *prometheus.CounterVec
	limited    *prometheus.CounterVec
	notices    *prometheus.CounterVec
	panics     prometheus.Counter

	tally tally.Tally // by sale, for the ledger

	// For readiness: when replicas last acknowledged, and last did not.
	acked, short atomic.Int64
}

func newMetrics(r prometheus.Registerer, now func() time.Time) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "holdfast", Subsystem: "ingress", Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "holdfast", Subsystem: "ingress", Name: name, Help: help, Buckets: seconds}
	}
	m := &metrics{
		now:        now,
		bookings:   counter("bookings_total", "Booking requests by what they came to.", "outcome"),
		took:       prometheus.NewHistogramVec(histogram("booking_seconds", "From the last byte of a booking request to its answer."), []string{"outcome"}),
		requests:   counter("requests_total", "Requests by route and status.", "route", "status"),
		inFlight:   prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "holdfast", Subsystem: "ingress", Name: "in_flight", Help: "Booking requests under way."}),
		admissions: counter("admissions_total", "Answers of the admission script, and failures.", "outcome"),
		admitTook:  prometheus.NewHistogram(histogram("admission_seconds", "Admission with its replica acknowledgement.")),
		gates:      counter("gate_decisions_total", "Requests that the local gates refused.", "outcome"),
		published:  counter("published_total", "Attempts to queue an event.", "result"),
		publishing: prometheus.NewHistogram(histogram("publish_seconds", "One attempt to queue an event.")),
		payments:   counter("payment_creates_total", "Attempts to create a payment.", "gateway", "result"),
		creating:   prometheus.NewHistogram(histogram("payment_create_seconds", "One attempt to create a payment.")),
		withdrawn:  counter("withdrawals_total", "Bookings given up by their driver.", "reason", "result"),
		limited:    counter("rate_limited_total", "Requests refused by a rate limit.", "limit"),
		notices:    counter("notices_total", "Payment notices by gateway, source and result.", "gateway", "source", "result"),
		panics:     prometheus.NewCounter(prometheus.CounterOpts{Namespace: "holdfast", Subsystem: "ingress", Name: "panics_total", Help: "Panics that a handler recovered from."}),
	}
	r.MustRegister(m.bookings, m.took, m.requests, m.inFlight, m.admissions, m.admitTook, m.gates, m.published, m.publishing,
		m.payments, m.creating, m.withdrawn, m.limited, m.notices, m.panics)
	return m
}

// Admitted implements booking.Observer.
func (m *metrics) Admitted(saleID string, outcome admission.Outcome, took time.Duration, err error) {
	name := outcome.String()
	switch {
	case errors.Is(err, admission.ErrUnacknowledged):
		name = "unacknowledged"
		m.short.Store(m.now().UnixNano())
	case errors.Is(err, admission.ErrLayout):
		name = "layout"
	case errors.Is(err, admission.ErrUnavailable):
		name = "unavailable"
	case err != nil:
		name = "unknown"
	case outcome == admission.Admitted || outcome == admission.Replayed:
		if m.short.Load() != 0 { // else nobody asks when it was
			m.acked.Store(m.now().UnixNano())
		}
	}
	m.admissions.WithLabelValues(name).Inc()
	m.admitTook.Observe(took.Seconds())
	m.tally.Admitted(saleID, took)
}

// GateDecided implements booking.Observer.
func (m *metrics) GateDecided(_ string, outcome admission.Outcome) {
	m.gates.WithLabelValues(outcome.String()).Inc()
}

// Published implements booking.Observer.
func (m *metrics) Published(took time.Duration, err error) {
	result := "ok"
	switch {
	case errors.Is(err, events.ErrNotQueued):
		result = "not_queued"
	case errors.Is(err, events.ErrInvalid):
		result = "invalid"
	case err != nil:
		result = "ambiguous"
	}
	m.published.WithLabelValues(result).Inc()
	m.publishing.Observe(took.Seconds())
}

// PaymentCreated implements booking.Observer.
func (m *metrics) PaymentCreated(gateway string, took time.Duration, err error) {
	result := "ok"
	switch {
	case errors.Is(err, payment.ErrRefused):
		result = "refused"
	case err != nil:
		result = "unknown"
	}
	m.payments.WithLabelValues(gateway, result).Inc()
	m.creating.Observe(took.Seconds())
}

// Withdrawn implements booking.Observer.
func (m *metrics) Withdrawn(_ string, why ledger.Reason, outcome lifecycle.WithdrawOutcome, err error) {
	result := map[lifecycle.WithdrawOutcome]string{lifecycle.Withdrawn: "done", lifecycle.WithdrawOwed: "owed", lifecycle.WithdrawLive: "live"}[outcome]
	if err != nil {
		result = "uncertain"
	}
	m.withdrawn.WithLabelValues(string(why), result).Inc()
}

// shortFor is how long a missing acknowledgement keeps a process unready. It
// ends by itself: without traffic nothing would show that the replica is back.
const shortFor = 10 * time.Second

// acknowledging says whether the replicas acknowledged when last asked, or that
// was long ago.
func (m *metrics) acknowledging() bool {
	short := m.short.Load()
	return short == 0 || m.acked.Load() > short || m.now().Sub(time.Unix(0, short)) > shortFor
}

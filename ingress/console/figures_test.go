package console

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestFiguresAreWhatHappenedInBetween(t *testing.T) {
	r := prometheus.NewRegistry()
	bookings := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "holdfast_ingress_bookings_total"}, []string{"outcome"})
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "holdfast_ingress_requests_total"}, []string{"route", "status"})
	admits := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "holdfast_ingress_admission_seconds", Buckets: []float64{.01, .1, 1}})
	r.MustRegister(bookings, requests, admits)
	read := func(at time.Time) reading {
		got, err := readFigures(r, at)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	start := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	bookings.WithLabelValues("created").Add(100)
	admits.Observe(5) // before: it must not count
	old := read(start)
	bookings.WithLabelValues("created").Add(20)
	bookings.WithLabelValues("sold_out").Add(80)
	requests.WithLabelValues("POST /sales/:sale/bookings", "503").Add(10)
	requests.WithLabelValues("GET /admin/sales/:sale/drift", "503").Add(10)
	for range 98 {
		admits.Observe(.005)
	}
	admits.Observe(.05)
	admits.Observe(.05)
	f := read(start.Add(10 * time.Second)).since(old)
	if f.Requests != 10 || f.Outcomes["created"] != 2 || f.Outcomes["sold_out"] != 8 || f.Unavailable != 1 || f.AdmitP99 != 100 {
		t.Errorf("%+v", f)
	}
	if still := read(start).since(read(start)); still.Requests != 0 || math.IsNaN(still.Unavailable) || still.AdmitP99 != 0 {
		t.Errorf("nothing happened: %+v", still)
	}
}

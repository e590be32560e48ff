package invariant

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// report collects the violations of one invariant.
type report struct {
	invariant string
	found     []Violation
}

func (r *report) add(id, format string, args ...any) {
	r.found = append(r.found, Violation{r.invariant, id, fmt.Sprintf(format, args...)})
}

// sorted walks a map in the order of its keys, so that reports can be compared.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// live walks the bookings that are held or paid.
func live(s Snapshot) iter.Seq2[string, ledger.Booking] {
	return func(yield func(string, ledger.Booking) bool) {
		for id, b := range sorted(s.Bookings) {
			if b.State.Live() && !yield(id, b) {
				return
			}
		}
	}
}

// standing is a booking's state for a report.
func standing(s Snapshot, id string) string {
	b, ok := s.Bookings[id]
	if !ok {
		return "unknown to the ledger"
	}
	return string(b.State)
}

func or(s, empty string) string {
	if s == "" {
		return empty
	}
	return s
}

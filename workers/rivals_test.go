package workers

import (
	"slices"
	"testing"

	"github.com/holdfast/holdfast/ledger"
)

// TestConflictIsSettledInOneOrder: whom a group of seats collides with comes out
// once each and in one order, or a simulated run could not be replayed.
func TestConflictIsSettledInOneOrder(t *testing.T) {
	b := ledger.Booking{ID: "b"}
	f := ledger.Found{Candidate: "z", Seats: map[string]string{"A1": "y", "A2": "x", "A3": "y", "A4": "b", "A5": "w", "A6": "z"}}
	for range 50 { // a map's order is drawn anew for each walk
		if got := rivalsOf(b, f); !slices.Equal(got, []string{"w", "x", "y", "z"}) {
			t.Fatalf("rivals %v", got)
		}
	}
	if got := rivalsOf(b, ledger.Found{Candidate: "b", Seats: map[string]string{"A1": "b"}}); len(got) != 0 {
		t.Errorf("a booking is its own rival: %v", got)
	}
}

package ingress_test

import (
	"net/http"
	"testing"
)

// However seats come to be booked, they cost what their sections say. What the
// plan does not have has no price, and is not booked for another one's: the plan
// of this process may be older than that of Redis.
func TestNamedSeatsCostWhatTheirSectionsSay(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	book := func(i int, seats string, status int, problem string) answer {
		t.Helper()
		a := w.do(http.MethodPost, "/sales/"+theHall+"/bookings", chooses(i, "Hall", `"seats":`+seats), "Content-Type", "application/json")
		w.wants(a, status, problem)
		return a
	}
	costs := func(id string, want int64) {
		t.Helper()
		r, err := w.redis.Record(t.Context(), theHall, id)
		if err != nil || r.AmountMinor != want || r.Currency != "BDT" {
			t.Errorf("%d %s, %v; want %d BDT", r.AmountMinor, r.Currency, err, want)
		}
	}
	costs(book(1, `["A3","X1"]`, 201, "").text("booking_id"), 14_000)
	hold := w.hold(chooses(2, "Hall", `"seats":["X2","A1","A2"]`), 201, "").text("hold_id")
	costs(w.bookHold(2, hold, 201, "").text("booking_id"), 19_000)
	a := book(3, `["A4","Z9"]`, 400, "invalid_request")
	if fields := a.doc["fields"]; fields == nil {
		t.Errorf("the seat is not named: %s", a.raw)
	}
	book(3, `["A4"]`, 201, "")
}

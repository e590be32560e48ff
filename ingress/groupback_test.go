package ingress_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// groupBooked books three seats from a hold of a minute. The booking has the
// sale's own time to pay, however little the hold had left.
func groupBooked(t *testing.T, w *world) (id, paymentID string) {
	t.Helper()
	hold := w.hold(chooses(1, "Hall", `"seats":["A1","A2","X1"],"seconds":60`), 201, "")
	w.later(50 * time.Second)
	a := w.bookHold(1, hold.text("hold_id"), 201, "")
	until, err := time.Parse(time.RFC3339, a.text("hold_until"))
	if err != nil || until.Before(w.Now().Add(10*time.Minute)) {
		t.Errorf("time to pay until %v, %v; now is %v", until, err, w.Now())
	}
	return a.text("booking_id"), w.pay.Payments()[0].PaymentID
}

// The owner of a group gives it back: the payment is cancelled, and every seat is
// free, whether or not the ledger knew the booking.
func TestGroupIsGivenBackWhole(t *testing.T) {
	for name, known := range map[string]bool{"known to the ledger": true, "in Redis only": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.openHall()
			id, _ := groupBooked(t, w)
			if known {
				w.work()
			}
			for range 2 { // safe to repeat
				w.wants(w.do("DELETE", "/bookings/"+id, ""), 200, "")
			}
			w.work()
			if n := w.hallUsed(); n != 0 {
				t.Errorf("%d seats are still taken", n)
			}
			if s := w.pay.Payments()[0].Status; s != payment.StatusCancelled {
				t.Errorf("payment %q", s)
			}
			w.hold(chooses(2, "Hall", `"seats":["A1","A2","X1"]`), 201, "")
		})
	}
}

// A payment that was faster wins: all seats are sold.
func TestGroupThatIsPaidIsNotGivenBack(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	id, paymentID := groupBooked(t, w)
	w.work()
	if _, err := w.pay.Act(paymentID, engine.ActPay, 0); err != nil {
		t.Fatal(err)
	}
	w.wants(w.do("DELETE", "/bookings/"+id, ""), 409, "already_paid")
	w.work()
	if m := w.seatMap(); !slices.Equal(m.Sold, []string{"A1", "A2", "X1"}) {
		t.Errorf("map %+v", m)
	}
}

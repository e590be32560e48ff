package reaper_test

import (
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// A group's hold runs out: all its seats are free after one sweep. Its payment
// comes late: all of them again, or all the money back, and nothing is left that
// a sweep or an audit would find.
func TestGroupExpiresAndIsPaidLate(t *testing.T) {
	for name, c := range map[string]struct {
		rival string // takes this seat in between
		free  int    // of the hall's five, at the end
		want  ledger.Resolution
	}{
		"all seats are free":    {"", 2, ledger.Applied},
		"one seat went on":      {"B1", 4, ledger.Refund},
		"another one went away": {"S3", 1, ledger.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigOf(t, lifecycletest.NewHall(t))
			b := r.Book("c1", "Hall", r.Page, "S1", "B1", "B2")
			r.handle(b.Held)
			r.free("Hall", 2)
			r.Advance(holdIsOver)
			if res := r.sweep(); res.Holds.Done != 1 {
				t.Fatalf("holds %+v", res.Holds)
			}
			r.state(b, ledger.Released)
			r.free("Hall", 5)
			if c.rival != "" {
				rival := r.Book("c2", "Hall", r.Page, c.rival)
				r.Page.Pay(rival.PaymentID)
				r.handle(rival.Held)
				r.handle(rival.Captured(r.Now()))
			}
			r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.Status, p.CapturedAt = payment.StatusCompleted, r.Now() })
			r.handle(b.Notice(r.Now()))
			r.sweep()
			r.work()
			if p := r.Payment(b.Key); p.Resolution != c.want {
				t.Errorf("the payment is %q", p.Resolution)
			}
			if late := r.World.Booking(sale.LateBookingID(b.ID)); (late.State == ledger.Paid) != (c.want == ledger.Applied) || late.State == ledger.Paid && len(late.Seats) != 3 {
				t.Errorf("late booking %+v", late)
			}
			r.free("Hall", c.free)
			r.restful()
		})
	}
}

// Paid in the last moment, found by the reaper: the whole group is paid in one
// transition.
func TestGroupThatWasPaidInTimeIsNotReleased(t *testing.T) {
	r := rigOf(t, lifecycletest.NewHall(t))
	b := r.Book("c1", "Hall", r.Page, "S2", "S3", "B2")
	r.handle(b.Held)
	r.Page.Pay(b.PaymentID)
	r.Advance(holdIsOver)
	if res := r.sweep(); res.Holds.Captured != 1 {
		t.Errorf("holds %+v", res.Holds)
	}
	r.work()
	r.state(b, ledger.Paid)
	r.free("Hall", 2)
	r.restful()
}

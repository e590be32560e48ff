package ingress_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// A booking that came to nothing gives its seats back to the hold: whoever tries
// again within its deadline still has them.
func TestAFailedBookingOfAHoldCostsNoSeat(t *testing.T) {
	for name, fault := range map[string]struct {
		set    func(w *world)
		status int
		code   string
	}{
		"no replica has it":   {func(w *world) { w.redis.Fault = onceOn("Promote", admissiontest.ShortWait) }, 503, "unavailable"},
		"the answer is lost":  {func(w *world) { w.redis.Fault = onceOn("Promote", admissiontest.LoseAnswer) }, 503, "unavailable"},
		"the gateway refuses": {func(w *world) { w.refuseOnce() }, 503, "payment_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.openHall()
			a := w.hold(chooses(1, "Hall", `"seats":["A1","X1"],"seconds":300`), 201, "")
			hold, until := a.text("hold_id"), a.text("hold_until")
			fault.set(w)
			w.bookHold(1, hold, fault.status, fault.code, "Idempotency-Key", "k")
			w.hold(chooses(2, "Hall", `"seats":["A1"]`), 409, "seat_taken")
			shown := w.do(http.MethodGet, "/holds/"+hold, "")
			w.wants(shown, 200, "")
			if shown.text("hold_until") != until {
				t.Errorf("held until %s, it was %s", shown.text("hold_until"), until)
			}
			w.bookHold(1, hold, 201, "", "Idempotency-Key", "k")
		})
	}
}

func (w *world) refuseOnce() {
	if err := w.pay.SetFaults("page", engine.Faults{RefuseCreate: 1}); err != nil {
		w.Fatal(err)
	}
}

// onceOn makes the next call of op go wrong.
func onceOn(op string, f admissiontest.Fault) func(string) admissiontest.Fault {
	var done atomic.Bool
	return func(called string) admissiontest.Fault {
		if called == op && done.CompareAndSwap(false, true) {
			return f
		}
		return admissiontest.NoFault
	}
}

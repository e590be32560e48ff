package booking_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

// wakings are what an old driver meets when it goes on after its successor.
var wakings = map[string]func(w *world, f *lifecycletest.Faults){
	"all is well": func(*world, *lifecycletest.Faults) {},
	"gateway refuses": func(w *world, _ *lifecycletest.Faults) {
		w.gateway.fail = func(int) (bool, error) { return false, errRefused }
	},
	"gateway is mute": func(w *world, _ *lifecycletest.Faults) {
		w.gateway.fail = func(int) (bool, error) { return true, errLost }
	},
	"Redis fails":      func(_ *world, f *lifecycletest.Faults) { f.Inject = redisOnly(lifecycletest.FailBefore) },
	"Redis is mute":    func(_ *world, f *lifecycletest.Faults) { f.Inject = redisOnly(lifecycletest.LoseAnswer) },
	"queue fails":      func(w *world, _ *lifecycletest.Faults) { w.queue.fail = refuse(events.ErrNotQueued) },
	"queue is mute":    func(w *world, _ *lifecycletest.Faults) { w.queue.fail = refuse(events.ErrAmbiguous) },
	"all but ledger":   func(w *world, f *lifecycletest.Faults) { failAll(w, f) },
	"its process dies": func(_ *world, f *lifecycletest.Faults) { f.CrashAt(1, false) },
}

func refuse(err error) func(int, events.Event) (bool, error) {
	return func(int, events.Event) (bool, error) { return false, err }
}

func redisOnly(fault lifecycletest.Fault) func(string) lifecycletest.Fault {
	return func(op string) lifecycletest.Fault {
		if len(op) > 5 && op[:5] == "redis" {
			return fault
		}
		return lifecycletest.NoFault
	}
}

func failAll(w *world, f *lifecycletest.Faults) {
	w.gateway.fail = func(int) (bool, error) { return true, errLost }
	w.queue.fail = refuse(events.ErrAmbiguous)
	f.Inject = redisOnly(lifecycletest.LoseAnswer)
}

// A driver stands still before any of its calls, its candidate's retry takes the
// booking over and stops at any of its own, or ends; then the old one goes on,
// into every kind of failure. Who was told that the seat is theirs keeps it.
func TestOldDriverNeverEndsItsSuccessorsBooking(t *testing.T) {
	for name, wake := range wakings {
		t.Run(name, func(t *testing.T) {
			resumed := 0
			for stop := 1; ; stop++ {
				asleep := false
				for k, crashed := 0, true; crashed; k++ { // k = 0: the successor does not crash
					for _, after := range []bool{false, true} {
						synctest.Test(t, func(t *testing.T) {
							r := &rivals{world: newWorld(t), stop: stop, k: k, after: after, wake: wake}
							r.run()
							asleep, crashed = asleep || r.asleep, r.crashed || k == 0
							if r.second.Verdict == booking.Created {
								resumed++
							}
						})
					}
				}
				if !asleep {
					break
				}
			}
			if resumed == 0 {
				t.Error("no successor was ever answered: is anybody resumed at all?")
			}
		})
	}
}

// rivals are two drivers of one booking.
type rivals struct {
	*world
	stop, k       int
	after         bool
	wake          func(*world, *lifecycletest.Faults)
	asleep        bool // the old driver got as far as its call number stop
	crashed       bool // and the successor as far as its own number k
	first, second booking.Answer
	calls         int
	sleepsAt      string
}

func (r *rivals) run() {
	r.driver.Resume, r.driver.ResumeAfter = r.Redis, 3*time.Second
	r.Faults.Inject = func(op string) lifecycletest.Fault { r.reached(op); return lifecycletest.NoFault }
	r.gateway.hook = func() { r.reached("the answer of create") }
	r.gateway.fail = func(n int) (bool, error) {
		if r.reached("create"); r.asleep && r.gateway.fail != nil { // another one by now
			return r.gateway.fail(n)
		}
		return true, nil
	}
	r.queue.fail = func(n int, e events.Event) (bool, error) {
		if r.reached("publish"); r.asleep && r.queue.fail != nil {
			return r.queue.fail(n, e)
		}
		return true, nil
	}
	r.first = r.book("c1", "N1", "k1")
	r.calm()
	r.Check()
	r.work()
	r.keeps(r.first)
	r.keeps(r.second)
	r.Check()
	r.heal()
	if r.used() != 0 {
		r.T.Errorf("stop %d, k %d: %d seats are lost", r.stop, r.k, r.used())
	}
}

// reached lets the successor pass while the old driver stands before its call.
func (r *rivals) reached(op string) {
	if r.calls++; r.calls != r.stop {
		return
	}
	r.calm()
	r.asleep, r.sleepsAt = true, op
	r.Advance(4 * time.Second)
	if r.k > 0 {
		r.Faults.CrashAt(r.k, r.after)
	}
	r.second = r.book("c1", "N1", "k1")
	r.crashed, _ = r.Faults.Crashed()
	r.Faults.Restart()
	r.wake(r.world, r.Faults)
}

func (r *rivals) calm() {
	r.Faults.Restart()
	r.Faults.Inject, r.gateway.hook, r.gateway.fail, r.queue.fail = nil, nil, nil, nil
}

// keeps: an answered booking is in the ledger once the worker has come, whether
// it was answered as new or as a repeat.
func (r *rivals) keeps(a booking.Answer) {
	if a.Verdict != booking.Created && a.Verdict != booking.Repeated {
		return
	}
	if b := r.Booking(a.BookingID); b.State != ledger.Held {
		r.T.Errorf("the old driver stopped at %s, the successor at %d: promised, and the ledger has %s (%s)",
			r.sleepsAt, r.k, b.State, b.Reason)
	}
}

// A driver whose payment is refused while somebody has taken its booking over
// hears SUPERSEDED, and stops: its number is not the booking's any more.
func TestRefusedDriverLeavesItsSuccessorAlone(t *testing.T) {
	w := newWorld(t)
	w.gateway.fail = func(int) (bool, error) {
		w.Advance(4 * time.Second)
		r := w.gateway.creates[0]
		if a, err := w.Redis.Resume(t.Context(), lifecycletest.Sale, r.BookingID, "k1", "in-N1", time.Second); err != nil || a.Outcome != admission.Resumed {
			t.Errorf("resume: %+v, %v", a, err)
		}
		return false, errRefused
	}
	w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
	if id := w.gateway.creates[0].BookingID; w.used() != 1 || w.Booking(id).State != ledger.None {
		t.Errorf("%d used, %+v", w.used(), w.Booking(id))
	}
	w.gateway.fail = nil
	w.heal()
}

// Who has taken a booking over gives nothing back when its own payment is
// refused: an attach that it can't see may have been made, and lost since
// (docs/model.md, M15b). The next retry goes on with it.
func TestRefusedSuccessorLeavesTheBookingPending(t *testing.T) {
	w := newWorld(t)
	w.driver.Resume, w.driver.ResumeAfter = w.Redis, 3*time.Second
	w.Faults.CrashAt(2, false) // at the gateway
	w.want(w.book("c1", "N1", "k1"), booking.PaymentUnavailable)
	w.Faults.Restart()
	w.Advance(4 * time.Second)
	w.gateway.fail = func(int) (bool, error) { return false, errRefused }
	w.want(w.book("c1", "N1", "k1"), booking.PaymentUnavailable)
	if w.used() != 1 {
		t.Errorf("%d used", w.used())
	}
	w.gateway.fail = nil
	w.want(w.book("c1", "N1", "k1"), booking.InProgress)
	w.Advance(4 * time.Second)
	w.want(w.book("c1", "N1", "k1"), booking.Created)
	w.heal()
}

package booking_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
)

// situations are the ways through the driver that crashes are tried on.
var situations = map[string]func(w *world){
	"success": func(*world) {},
	"gateway refuses": func(w *world) {
		w.gateway.fail = func(int) (bool, error) { return false, errRefused }
	},
	"create is unknown": func(w *world) { w.gateway.fail = func(int) (bool, error) { return true, errLost } },
	"event is lost": func(w *world) {
		w.queue.fail = func(int, events.Event) (bool, error) { return false, events.ErrNotQueued }
	},
	"event is sent, its answer lost": func(w *world) {
		w.queue.fail = func(int, events.Event) (bool, error) { return true, events.ErrAmbiguous }
	},
	"the same key again": func(w *world) { w.want(w.book("c1", "N1", "k1"), booking.Created) },
}

// The process stops at the k-th call, before or after it is done, for every k
// on every way. Whatever is left, the invariants hold at once; the candidate's
// own retry gets a seat or a clear answer; and in the end nothing is owed.
func TestCrashAtEveryStep(t *testing.T) {
	for name, prepare := range situations {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/after=%t", name, after), func(t *testing.T) {
				for k := 1; ; k++ {
					crashed := false
					synctest.Test(t, func(t *testing.T) { crashed = crashOnce(t, prepare, k, after) })
					if !crashed {
						if k < 3 { // at the least an admission and its undo
							t.Errorf("the driver makes only %d calls: is it run at all?", k-1)
						}
						return
					}
				}
			})
		}
	}
}

func crashOnce(t *testing.T, prepare func(*world), k int, after bool) bool {
	w := newWorld(t)
	prepare(w)
	w.Faults.CrashAt(k, after)
	a := w.book("c1", "N1", "k1")
	crashed, ops := w.Faults.Crashed()
	w.Faults.Restart()
	w.gateway.fail, w.queue.fail = nil, nil
	w.Check()
	if crashed && a.Verdict == booking.Created && !after {
		// A call that was not done must not have been needed for a promise, unless
		// somebody else had done it.
		w.work()
		if w.Booking(a.BookingID).State != ledger.Held {
			t.Errorf("k=%d (%v): promised, and the ledger has %+v", k, ops, w.Booking(a.BookingID))
		}
	}
	retry := w.book("c1", "N1", "k1")
	switch retry.Verdict {
	case booking.Created, booking.Repeated, booking.InProgress:
	default:
		t.Errorf("k=%d (%v): the candidate's retry heard %q", k, ops, retry.Verdict)
	}
	w.Check()
	w.heal()
	if w.used() != 0 {
		t.Errorf("k=%d (%v): %d seats are lost", k, ops, w.used())
	}
	w.want(w.book("c1", "N1", "k9"), booking.Created)
	return crashed
}

// One call fails, or its answer is lost, and everything else works: the driver
// deals with it itself.
func TestOneFaultAtEveryCall(t *testing.T) {
	for name, prepare := range situations {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/lost=%t", name, lost), func(t *testing.T) {
				for k := 1; ; k++ {
					hit := false
					synctest.Test(t, func(t *testing.T) { hit = faultOnce(t, prepare, k, lost) })
					if !hit {
						return
					}
				}
			})
		}
	}
}

func faultOnce(t *testing.T, prepare func(*world), k int, lost bool) bool {
	w := newWorld(t)
	prepare(w)
	f := &oneFault{at: k, lost: lost}
	f.install(w)
	a := w.book("c1", "N1", "k1")
	f.stop()
	w.Check()
	w.work()
	if a.Verdict == booking.Created || a.Verdict == booking.Repeated {
		if b := w.Booking(a.BookingID); b.State != ledger.Held {
			t.Errorf("k=%d %s: promised, and the ledger has %+v", k, f.op, b)
		}
	}
	w.gateway.fail, w.queue.fail = nil, nil
	w.heal()
	if w.used() != 0 {
		t.Errorf("k=%d %s: %d seats are lost", k, f.op, w.used())
	}
	return f.op != ""
}

// oneFault makes one call of any port go wrong.
type oneFault struct {
	mu   sync.Mutex
	at   int
	lost bool
	n    int
	off  bool
	op   string // the call that was hit
}

func (f *oneFault) next(op string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.off {
		return false
	}
	f.n++
	if f.n == f.at {
		f.op = op
		return true
	}
	return false
}

func (f *oneFault) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = true
}

func (f *oneFault) install(w *world) {
	w.Store.Fault = func(op string) ledgertest.Fault {
		switch hit := f.next(op); {
		case hit && f.lost:
			return ledgertest.LoseAnswer
		case hit:
			return ledgertest.FailBefore
		}
		return ledgertest.NoFault
	}
	w.Redis.Fault = func(op string) admissiontest.Fault {
		switch hit := f.next(op); {
		case hit && f.lost:
			return admissiontest.LoseAnswer
		case hit:
			return admissiontest.FailBefore
		}
		return admissiontest.NoFault
	}
	create, publish := w.gateway.fail, w.queue.fail
	w.gateway.fail = func(n int) (bool, error) {
		if f.next("create") {
			return f.lost, errLost
		}
		if create != nil {
			return create(n)
		}
		return true, nil
	}
	w.queue.fail = func(n int, e events.Event) (bool, error) {
		if f.next("publish") {
			return f.lost, events.ErrAmbiguous
		}
		if publish != nil {
			return publish(n, e)
		}
		return true, nil
	}
}

// A gateway that hangs must not keep the seat longer than the driver lives.
func TestHangingGatewayIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.hang = true
		start := time.Now()
		w.want(w.book("c1", "N1", "k1"), booking.PaymentUnavailable)
		if took := time.Since(start); took > w.Plan.Ages.RequestMax {
			t.Errorf("took %v", took)
		}
		if w.used() != 0 {
			t.Error("the seat is not back")
		}
	})
}

package booking_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
)

func TestBookingIsHeldAndThenPersisted(t *testing.T) {
	w := newWorld(t)
	a := w.want(w.book("c1", "N1", "k1"), booking.Created)
	if a.PaymentURL == "" || len(a.Seats) != 1 || !a.HoldUntil.Equal(w.Now().Add(w.Plan.Hold)) || !booking.ValidID(a.BookingID) {
		t.Fatalf("answer %+v", a)
	}
	if reads := w.Store.Reads(); reads != 0 {
		t.Errorf("%d ledger reads on the way", reads)
	}
	w.work()
	b := w.Booking(a.BookingID)
	if b.State != ledger.Held || b.Seats[0].Token != a.Seats[0] || b.Seats[0].Score == 0 || b.Price.AmountMinor != 10000 {
		t.Fatalf("ledger has %+v", b)
	}
	w.Check()
}

// Scenario 4: the first reply was lost; the same key gets the same booking.
func TestScenario04_SameKeyGetsTheSameBooking(t *testing.T) {
	w := newWorld(t)
	first := w.want(w.book("c1", "N1", "k1"), booking.Created)
	sent := w.queue.count()
	again := w.want(w.book("c1", "N1", "k1"), booking.Repeated)
	if again.BookingID != first.BookingID || again.PaymentURL != first.PaymentURL || again.State != booking.Held {
		t.Fatalf("again %+v, first %+v", again, first)
	}
	if w.queue.count() != sent+1 {
		t.Error("booking.held was not sent again")
	}
	if w.queue.sent[0].DedupID() != w.queue.sent[1].DedupID() {
		t.Error("the second event is not a duplicate of the first")
	}
	w.want(w.book("c1", "N2", "k1"), booking.IdempotencyMismatch)

	w.work()
	w.Page.Pay(payID(first))
	w.pay(first)
	paid := w.want(w.book("c1", "N1", "k1"), booking.Repeated)
	if paid.State != booking.Paid || paid.PaymentURL != "" {
		t.Fatalf("paid: %+v", paid)
	}
	if w.gateway.count() != 1 {
		t.Errorf("%d payments were created", w.gateway.count())
	}
}

func TestScenario04_SameKeyAfterARelease(t *testing.T) {
	w := newWorld(t)
	first := w.want(w.book("c1", "N1", "k1"), booking.Created)
	w.work()
	if err := w.driver.GiveBack(t.Context(), first.BookingID, ""); err != nil {
		t.Fatal(err)
	}
	a := w.want(w.book("c1", "N1", "k1"), booking.Repeated)
	if a.State != booking.Released || a.BookingID != first.BookingID {
		t.Fatalf("%+v", a)
	}
	w.want(w.book("c1", "N1", "k2"), booking.Created)
}

// Scenario 5: the first is still at the gateway.
func TestScenario05_InProgressWhileAtTheGateway(t *testing.T) {
	w := newWorld(t)
	var same, other booking.Answer
	w.gateway.hook = func() {
		w.gateway.hook = nil
		same, other = w.book("c1", "N1", "k1"), w.book("c1", "N1", "k2")
	}
	w.want(w.book("c1", "N1", "k1"), booking.Created)
	for _, a := range []booking.Answer{same, other} {
		w.want(a, booking.InProgress)
		if a.RetryAfter < 2*time.Second || a.RetryAfter > 3*time.Second {
			t.Errorf("retry after %v", a.RetryAfter)
		}
	}
	if w.gateway.count() != 1 {
		t.Errorf("%d payments", w.gateway.count())
	}
}

// Scenario 5 with resume: the first driver has died at the gateway; its own
// candidate's retry goes on with the same payment. The old driver, should it
// wake up, finds that payment attached.
func TestScenario05_SilentDriverIsResumed(t *testing.T) {
	w := newWorld(t)
	w.driver.Resume, w.driver.ResumeAfter = w.Redis, 3*time.Second
	var early, resumed, mismatch booking.Answer
	w.gateway.hook = func() { // the first driver is here for ever
		w.gateway.hook = nil
		early = w.book("c1", "N1", "k1")
		w.Advance(4 * time.Second)
		mismatch = w.book("c1", "N2", "k1")
		resumed = w.book("c1", "N1", "k1")
	}
	if old := w.want(w.book("c1", "N1", "k1"), booking.Created); old.BookingID != resumed.BookingID || old.PaymentURL != resumed.PaymentURL {
		t.Errorf("old %+v, resumed %+v", old, resumed)
	}
	w.want(early, booking.InProgress)
	w.want(mismatch, booking.IdempotencyMismatch)
	w.want(resumed, booking.Created)
	if w.gateway.creates[0] != w.gateway.creates[1] {
		t.Errorf("other payments: %+v", w.gateway.creates)
	}
	w.work()
	if b := w.Booking(resumed.BookingID); b.State != ledger.Held || b.Payment.ID != payID(resumed) {
		t.Fatalf("%+v", b)
	}
	w.Check()
}

// A driver that hears SUPERSEDED stops there: no tombstone, no undo, and the
// payment is its successor's too.
func TestSupersededDriverStops(t *testing.T) {
	w := newWorld(t)
	w.gateway.hook = func() {
		w.Advance(4 * time.Second)
		r := w.gateway.creates[0]
		a, err := w.Redis.Resume(t.Context(), lifecycletest.Sale, r.BookingID, "k1", "in-N1", time.Second)
		if err != nil || a.Outcome != admission.Resumed {
			t.Errorf("resume: %+v, %v", a, err)
		}
	}
	w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
	id := w.gateway.creates[0].BookingID
	if w.used() != 1 || w.Booking(id).State != ledger.None || w.queue.count() != 0 {
		t.Errorf("%d used, %+v, %d events", w.used(), w.Booking(id), w.queue.count())
	}
	if s := w.Page.Status("pay-" + id); s != payment.StatusOpen {
		t.Errorf("the payment of both is %q", s)
	}
	w.gateway.hook = nil
	w.heal()
}

// Scenario 6: another key.
func TestScenario06_DuplicateGetsItsOwnPaymentBack(t *testing.T) {
	w := newWorld(t)
	first := w.want(w.book("c1", "N1", "k1"), booking.Created)
	before := w.Store.Reads()
	dup := w.want(w.book("c1", "N2", "k2"), booking.Duplicate)
	if dup.PaymentURL != first.PaymentURL || dup.BookingID != first.BookingID || dup.Level != "N1" || !dup.HoldUntil.Equal(first.HoldUntil) {
		t.Fatalf("%+v", dup)
	}
	wrong := order("c1", "N1", "k3")
	wrong.EmailHash = "fedcba9876543210"
	a := w.want(w.driver.Book(t.Context(), w.plan, wrong), booking.EmailMismatch)
	if a.BookingID != "" || a.PaymentURL != "" || !a.HoldUntil.IsZero() {
		t.Errorf("a stranger learns %+v", a)
	}
	if n := w.Store.Reads() - before; n != 0 {
		t.Errorf("%d ledger reads", n)
	}
	w.Advance(w.Plan.Hold - w.Plan.Ages.URLMinLeft + time.Second)
	if late := w.want(w.book("c1", "N1", "k4"), booking.Duplicate); late.PaymentURL != "" {
		t.Error("a URL is given out seconds before the hold ends")
	}
	w.work()
	w.Page.Pay(payID(first))
	w.pay(first)
	if paid := w.want(w.book("c1", "N1", "k5"), booking.Duplicate); paid.State != booking.Paid || paid.PaymentURL != "" {
		t.Errorf("%+v", paid)
	}
}

func TestScenario07_ShortWaitIsUndone(t *testing.T) {
	w := newWorld(t)
	w.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "Admit" {
			return admissiontest.ShortWait
		}
		return admissiontest.NoFault
	}
	a := w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
	if a.RetryAfter <= 0 || w.used() != 0 || w.gateway.count() != 0 {
		t.Fatalf("%+v, %d used", a, w.used())
	}
	w.Redis.Fault = nil
	w.want(w.book("c1", "N1", "k1"), booking.Created) // after a 503 the same key starts anew
}

// The outcome of the admission can't be learned: the driver undoes it at once,
// so that the seat does not wait for the reaper.
func TestUnknownAdmissionIsUndoneAtOnce(t *testing.T) {
	w := newWorld(t)
	w.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "Admit" {
			return admissiontest.LoseAnswer
		}
		return admissiontest.NoFault
	}
	w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
	if w.used() != 0 || w.gates.undone != 1 {
		t.Errorf("%d used, %d undone", w.used(), w.gates.undone)
	}
	w.Quiet()
}

// A repeated key promises the booking again, so its event must be in the queue.
func TestRepeatedKeyNeedsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.want(w.book("c1", "N1", "k1"), booking.Created)
		w.queue.fail = func(int, events.Event) (bool, error) { return false, events.ErrNotQueued }
		w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
		if w.used() != 1 {
			t.Error("somebody else's booking was undone")
		}
	})
}

// Scenario 15: the gateway says no.
func TestScenario15_GatewayRefuses(t *testing.T) {
	w := newWorld(t)
	w.gateway.fail = func(int) (bool, error) { return false, payment.ErrRefused }
	a := w.want(w.book("c1", "N1", "k1"), booking.PaymentUnavailable)
	if a.RetryAfter <= 0 || w.used() != 0 || w.gateway.count() != 1 || w.queue.count() != 0 {
		t.Fatalf("%+v, %d used, %d creates", a, w.used(), w.gateway.count())
	}
	if b := w.Booking(w.gateway.creates[0].BookingID); b.State != ledger.None {
		t.Errorf("nothing was sent, and the ledger has %+v", b)
	}
	w.gateway.fail = nil
	w.want(w.book("c1", "N1", "k1"), booking.Created)
}

// Scenario 16: the create timed out, but the payment exists.
func TestScenario16_CreateIsUnknown(t *testing.T) {
	w := newWorld(t)
	w.gateway.fail = func(int) (bool, error) { return true, errLost }
	w.want(w.book("c1", "N1", "k1"), booking.PaymentUnavailable)
	if w.gateway.count() < 2 {
		t.Error("an unknown outcome is repeated under the same key")
	}
	for _, r := range w.gateway.creates {
		if r.BookingID != w.gateway.creates[0].BookingID {
			t.Error("repeated under another key")
		}
	}
	if w.used() != 0 {
		t.Error("the seat is not back")
	}
	w.heal()
	w.gateway.fail = func(n int) (bool, error) {
		if w.gateway.creates[n-1].BookingID == w.gateway.creates[max(0, n-2)].BookingID {
			return true, nil
		}
		return true, errLost
	}
	w.want(w.book("c1", "N1", "k1"), booking.Created) // lost once, found by the same key
}

// Scenario 17: the event was sent, its answer lost, and nobody comes again: the
// booking stays as it is. The worker makes it a hold, which runs out unpaid.
func TestScenario17_AmbiguousSendIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.queue.fail = func(int, events.Event) (bool, error) { return true, events.ErrAmbiguous }
		start := time.Now()
		w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
		if took := time.Since(start); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("sent again for %v, want about 5 s", took)
		}
		id := w.queue.sent[0].BookingID
		if w.used() != 1 || w.Booking(id).State != ledger.None {
			t.Fatalf("%d used, %+v", w.used(), w.Booking(id))
		}
		w.queue.fail = nil
		w.work()
		if w.Booking(id).State != ledger.Held {
			t.Errorf("the event was sent, and the ledger has %+v", w.Booking(id))
		}
		w.heal()
		if w.used() != 0 {
			t.Error("the seat is not back")
		}
	})
}

// Scenario 18: the event was sent or not, its answer lost, and the same key comes
// again, before the worker or after it: it is answered with the seat.
func TestScenario18_AmbiguousSendIsRepeated(t *testing.T) {
	for _, sent := range []bool{false, true} {
		for _, worked := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.queue.fail = func(int, events.Event) (bool, error) { return sent, events.ErrAmbiguous }
				w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
				w.queue.fail = nil
				if worked {
					w.work()
				}
				a := w.want(w.book("c1", "N1", "k1"), booking.Repeated)
				w.work()
				if w.Booking(a.BookingID).State != ledger.Held || w.used() != 1 {
					t.Fatalf("sent %t, worked %t: %+v", sent, worked, w.Booking(a.BookingID))
				}
				w.Quiet()
			})
		}
	}
}

// TestNoDriverWithdrawsWhatARepeatWasPromised: a driver's own event can't be sent,
// and while it tries its candidate's repeat sends it and is answered. The driver
// must not end that booking (docs/model.md, M23).
func TestNoDriverWithdrawsWhatARepeatWasPromised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var repeat booking.Answer
		w.queue.fail = func(n int, _ events.Event) (bool, error) {
			if n == 1 {
				w.queue.fail = func(n int, _ events.Event) (bool, error) { return n == 2, nil }
				repeat = w.book("c1", "N1", "k1")
				w.queue.fail = func(int, events.Event) (bool, error) { return false, events.ErrNotQueued }
			}
			return false, events.ErrNotQueued
		}
		w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
		w.want(repeat, booking.Repeated)
		w.work()
		if b := w.Booking(repeat.BookingID); b.State != ledger.Held {
			t.Errorf("promised, and the ledger has %s (%s)", b.State, b.Reason)
		}
	})
}

// TestUnsentBookingIsTheReapers: an event that is not sent, and nobody who comes
// again: the seat comes back.
func TestUnsentBookingIsTheReapers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.queue.fail = func(int, events.Event) (bool, error) { return false, events.ErrNotQueued }
		w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
		if w.used() != 1 {
			t.Error("something was undone, and a retry may have been promised it")
		}
		w.queue.fail = nil
		w.heal()
		if w.used() != 0 {
			t.Error("the reaper did not get the seat back")
		}
	})
}

// Before its payment is attached nobody has been told of a booking, so nobody
// can see it or give it back.
func TestUnattachedBookingIsNotShown(t *testing.T) {
	w := newWorld(t)
	w.gateway.hook = func() {
		id := w.gateway.creates[0].BookingID
		if v, err := w.driver.Show(t.Context(), id, ""); !errors.Is(err, booking.ErrNotFound) {
			t.Errorf("shown: %+v, %v", v, err)
		}
		if err := w.driver.GiveBack(t.Context(), id, ""); !errors.Is(err, booking.ErrNotFound) {
			t.Errorf("given back: %v", err)
		}
	}
	w.want(w.book("c1", "N1", "k1"), booking.Created)
	w.Check()
}

func TestReapedMeanwhileStopsAtAttach(t *testing.T) {
	w := newWorld(t)
	w.gateway.hook = func() {
		w.Advance(5 * time.Minute)
		if err := w.Reap(w.Now(), time.Minute); err != nil {
			t.Error(err)
		}
	}
	w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
	if w.used() != 0 || w.queue.count() != 0 {
		t.Errorf("%d used, %d events", w.used(), w.queue.count())
	}
	if s := w.Page.Status("pay-" + w.gateway.creates[0].BookingID); s != payment.StatusCancelled {
		t.Errorf("payment %q", s)
	}
	w.gateway.hook = nil
	w.heal()
}

// A driver past its time never answers success, even if all went well.
func TestLateDriverNeverAnswersSuccess(t *testing.T) {
	w := newWorld(t)
	w.gateway.hook = func() { w.Advance(w.Plan.Ages.RequestMax) }
	w.want(w.book("c1", "N1", "k1"), booking.Unavailable)
	w.gateway.hook = nil
	w.want(w.book("c1", "N1", "k1"), booking.Repeated) // the retry finds it
}

// The client's going away stops nothing.
func TestBookingOutlivesItsRequest(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := contextWithCancel(t)
	w.gateway.hook = cancel
	w.want(w.driver.Book(ctx, w.plan, order("c1", "N1", "k1")), booking.Created)
	w.work()
	w.Check()
}

func TestRefusalsOfTheScript(t *testing.T) {
	for _, c := range []struct {
		name  string
		order booking.Order
		prep  func(w *world)
		want  booking.Verdict
	}{
		{"unknown code", order("nobody", "N1", "k"), nil, booking.InvalidCode},
		{"e-mail", func() booking.Order { o := order("c1", "N1", "k"); o.EmailHash = "fedcba9876543210"; return o }(), nil, booking.EmailMismatch},
		{"unknown level", order("c1", "N9", "k"), nil, booking.InvalidRequest},
		{"names in a counted level", func() booking.Order { o := order("c1", "N1", "k"); o.Seats = []string{"N1-1"}; return o }(), nil, booking.InvalidRequest},
		{"closed", order("c1", "N1", "k"), func(w *world) { w.Advance(48 * time.Hour) }, booking.Closed},
		{"old generation", order("c1", "N1", "k"), func(w *world) { w.plan.Gen = 7 }, booking.Unavailable},
		{"level full", order("c1", "N2", "k"), func(w *world) { w.want(w.book("c2", "N2", ""), booking.Created) }, booking.LevelFull},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.prep != nil {
				c.prep(w)
			}
			used := w.used()
			a := w.want(w.driver.Book(t.Context(), w.plan, c.order), c.want)
			if w.used() != used || a.BookingID != "" {
				t.Errorf("%d used, %+v", w.used(), a)
			}
			if needsRetry := c.want == booking.Closed || c.want == booking.Unavailable; needsRetry != (a.RetryAfter > 0) {
				t.Errorf("retry after %v", a.RetryAfter)
			}
		})
	}
}

// 1,000 duplicates and 10,000 unknown codes: not one read of the ledger.
func TestDuplicatesAndStrangersNeverReachTheLedger(t *testing.T) {
	w := newWorld(t)
	w.want(w.book("c1", "N1", "k"), booking.Created)
	before := fmt.Sprint(w.Store.Calls())
	for i := range 1000 {
		w.want(w.book("c1", "N1", fmt.Sprint("k", i)), booking.Duplicate)
	}
	for i := range 10_000 {
		w.want(w.book(fmt.Sprint("x", i), "N1", ""), booking.InvalidCode)
	}
	if after := fmt.Sprint(w.Store.Calls()); after != before {
		t.Errorf("calls of the ledger: %s, before %s", after, before)
	}
}

func payID(a booking.Answer) string { return a.PaymentURL[strings.LastIndexByte(a.PaymentURL, '/')+1:] }

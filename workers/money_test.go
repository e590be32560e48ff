package workers_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

func parked(err error) bool {
	_, ok := events.ParkReason(err)
	return ok
}

func TestCase_D12_MismatchIsFlaggedAndNeverPaid(t *testing.T) {
	for name, change := range map[string]func(*payment.Payment){
		"short amount": func(p *payment.Payment) { p.AmountMinor-- },
		"currency":     func(p *payment.Payment) { p.Currency = "USD" },
		"payee":        func(p *payment.Payment) { p.Payee = "them" },
		"test mode":    func(p *payment.Payment) { p.Live = false },
		"refunded":     func(p *payment.Payment) { p.RefundedMinor = 1 },
	} {
		for _, before := range []string{"held", "pending", "released"} {
			t.Run(name+" "+before, func(t *testing.T) {
				r := newRig(t)
				b := r.Book("c1", "N1", r.Page)
				if before != "pending" {
					r.done(b.Held)
				}
				if before == "released" {
					r.release(b)
				}
				r.payLate(r.Page, b)
				r.Page.Edit(b.PaymentID, change)
				r.done(r.notice(b), r.notice(b))
				r.resolution(b, ledger.Review, ledger.NoRefund)
				r.alarmed(string(lifecycle.AlarmMismatch))
				if got := r.Booking(b.ID).State; got == ledger.Paid {
					t.Error("paid")
				}
				if got := r.Booking(sale.LateBookingID(b.ID)).State; got != ledger.None {
					t.Error("re-admitted")
				}
				r.Check()
			})
		}
	}
}

func TestCase_D12_TheReaperFlagsWhatItFindsCaptured(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.Live = false })
	r.Advance(r.Plan.Hold)
	if out, err := r.Steps.Expire(t.Context(), b.ID, r.Now()); err != nil || out != lifecycle.AlreadyPaid {
		t.Fatal(out, err)
	}
	if len(r.Queued()) != 0 {
		t.Error("queued as captured")
	}
	r.resolution(b, ledger.Review, ledger.NoRefund)
}

func TestCase_C17_SecondPaymentGoesBackInFull(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	second := r.secondPayment(b)
	for range 3 {
		r.done(r.notice(second))
	}
	r.resolution(b, ledger.Applied, ledger.NoRefund)
	r.resolution(second, ledger.Refund, ledger.RefundDone)
	if r.Page.Refunds(second.PaymentID) != 1 || r.Page.Refunds(b.PaymentID) != 0 {
		t.Error("the wrong money went back")
	}
	r.Quiet()
}

func TestLate_TwoPaymentsOfOneReleasedBookingGetOneSeat(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.release(b)
	second := r.secondPayment(b)
	r.payLate(r.Page, b)
	r.done(r.notice(b), r.notice(second), r.notice(b), r.notice(second))
	r.resolution(b, ledger.Applied, ledger.NoRefund)
	r.resolution(second, ledger.Refund, ledger.RefundDone)
	r.Quiet()
}

func TestCase_C26_PaymentWithoutABookingIsKept(t *testing.T) {
	for name, meta := range map[string]payment.Metadata{
		"no metadata":              {},
		"booking nobody knows":     {Sale: lifecycletest.Sale, BookingID: "NOBODY"},
		"price of no level":        {Sale: lifecycletest.Sale, BookingID: "NOBODY", Candidate: "c1"},
		"event's word is no proof": {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			other := r.Book("c2", "N1", r.Page)
			r.done(other.Held)
			r.Page.Edit("stray", func(p *payment.Payment) {
				p.Metadata, p.AmountMinor, p.Currency = meta, 777, "BDT"
				complete(r.Now())(p)
			})
			e := other.Notice(r.Now())
			e.Notice.PaymentID = "stray"
			r.done(e, e)
			r.alarmed(string(lifecycle.AlarmUnattached))
			items := 0
			err := r.Store.Parked(t.Context(), lifecycletest.Sale, func(it ledger.InboxItem) error {
				items++
				if it.Payment.ID != "stray" || it.Reason != "payment_unattached" {
					t.Errorf("item %+v", it)
				}
				return nil
			})
			if err != nil || items != 1 {
				t.Errorf("%d items, %v", items, err)
			}
			r.state(other.ID, ledger.Held)
			r.Check()
		})
	}
}

func TestForeignPaymentStaysWhoseItIs(t *testing.T) {
	r := newRig(t)
	first, second := r.Book("c1", "N1", r.Page), r.Book("c2", "N1", r.Page)
	r.done(first.Held, second.Held)
	r.Page.Pay(first.PaymentID)
	forged := first.Captured(r.Now()) // names the first one's payment and the second one's booking
	forged.BookingID, forged.Candidate = second.ID, "c2"
	r.done(forged)
	r.alarmed(string(lifecycle.AlarmForeign))
	r.state(second.ID, ledger.Held)
	r.resolution(first, ledger.Open, ledger.NoRefund)

	forged.Captured.AmountMinor++ // and a wrong amount must not put it to review either
	r.done(forged)
	r.resolution(first, ledger.Open, ledger.NoRefund)

	r.done(r.notice(first))
	r.state(first.ID, ledger.Paid)
	r.Check()
}

func TestHeld_WithAPaymentOfAnotherBooking(t *testing.T) {
	r := newRig(t)
	first, second := r.Book("c1", "N1", r.Page), r.Book("c2", "N1", r.Page)
	r.done(first.Held)
	second.Held.Held.PaymentID = first.PaymentID
	r.done(second.Held)
	r.alarmed(string(lifecycle.AlarmForeign))
	r.state(second.ID, ledger.Released)
	r.state(first.ID, ledger.Held)
	r.Check()
}

func TestHeld_AfterItsPaymentWasResolved(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(b ledger.Booking, m ledger.Capture, now time.Time) ledger.Transition
		alarms string
		refund ledger.RefundStep
	}{
		{"review", func(b ledger.Booking, m ledger.Capture, now time.Time) ledger.Transition {
			return ledger.Flag(b, m, "x", now)
		}, "", ledger.NoRefund},
		{"refund", func(b ledger.Booking, m ledger.Capture, now time.Time) ledger.Transition {
			return ledger.RefundLate(b, m, "x", now)
		}, "", ledger.RefundDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N1", r.Page)
			r.Page.Pay(b.PaymentID)
			m := ledger.Capture{Key: b.Key, AmountMinor: 10000, Currency: "BDT", At: r.Now()}
			if err := r.Store.Apply(t.Context(), c.make(lifecycle.BookingFromHeld(b.Held), m, r.Now())); err != nil {
				t.Fatal(err)
			}
			r.done(b.Held)
			r.state(b.ID, ledger.Released)
			r.alarmed(c.alarms)
			if got := r.Payment(b.Key).Refund; got != c.refund {
				t.Errorf("refund %q, want %q", got, c.refund)
			}
			r.Check()
		})
	}
}

func TestScenario11_FirstIsRestoredSecondIsWithdrawn(t *testing.T) {
	r := newRig(t)
	first, second := r.soldTwice()
	r.Page.Pay(second.PaymentID)
	r.done(second.Held)
	r.alarmed(string(lifecycle.AlarmConflict))
	r.Check()             // R1 holds again, without the diff
	r.done(r.Queued()...) // what the withdrawal found captured
	r.state(first.ID, ledger.Paid)
	r.resolution(second, ledger.Refund, ledger.RefundDone)
	r.Quiet()
}

func TestScenario30_AbandonedReadmissionFreesItsSeatAtOnce(t *testing.T) {
	for name, before := range map[string]func(r *rig, b lifecycletest.Booked, late ledger.Booking, c ledger.Capture) ledger.Transition{
		"tombstoned": func(r *rig, _ lifecycletest.Booked, late ledger.Booking, _ ledger.Capture) ledger.Transition {
			tr, err := ledger.Tombstone(late, ledger.ReasonOrphan, "reaper", r.Now())
			if err != nil {
				t.Fatal(err)
			}
			return tr
		},
		"refunded by another worker": func(r *rig, b lifecycletest.Booked, _ ledger.Booking, c ledger.Capture) ledger.Transition {
			return ledger.RefundLate(r.Booking(b.ID), c, "sold out a moment ago", r.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N2", r.Page)
			r.done(b.Held)
			r.release(b)
			r.payLate(r.Page, b)
			done := false
			r.Faults.Yield = func(op string) { // between the admission and its write
				if op == "ledger Apply:late-apply" && !done {
					done = true
					rec, err := r.Redis.Record(t.Context(), lifecycletest.Sale, sale.LateBookingID(b.ID))
					if err != nil {
						t.Error(err)
					}
					c := ledger.Capture{Key: b.Key, AmountMinor: 15000, Currency: "BDT", At: r.Now()}
					if err := r.Store.Apply(t.Context(), before(r, b, lifecycle.BookingFromRecord(lifecycletest.Sale, rec), c)); err != nil {
						t.Error(err)
					}
				}
			}
			r.done(r.notice(b))
			r.resolution(b, ledger.Refund, ledger.RefundDone)
			if s, err := r.Redis.Status(t.Context(), lifecycletest.Sale, nil); !done || err != nil || s.Bookings != 0 {
				t.Errorf("%d bookings are left in Redis, %v", s.Bookings, err)
			}
			r.Quiet()
		})
	}
}

func TestUnheldPaymentWhosePriceFitsTwoLevelsIsKept(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.rebuilt(2)
	r.Control(func(c *ledger.Control) { c.Plan.Levels[0].Price = c.Plan.Levels[1].Price })
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	r.alarmed(string(lifecycle.AlarmUnattached))
	r.state(b.ID, ledger.None)
	r.Check()
}

func TestUnheldPaymentIsAdmittedAgainUnderTheCaps(t *testing.T) {
	r := newRig(t)
	first := r.Book("c1", "N2", r.Page)
	r.rebuilt(2) // and the booking is lost, its event too
	second := r.Book("c2", "N2", r.Page)
	r.done(second.Held)
	r.Page.Pay(first.PaymentID)
	r.done(r.notice(first))
	r.state(first.ID, ledger.Released)
	r.resolution(first, ledger.Refund, ledger.RefundDone)
	r.Check()
}

func TestUnheldPaymentAfterCloseStillGetsItsSeat(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.rebuilt(2)
	r.Advance(25 * time.Hour) // closed; what the event proves needs no roster and no times
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	r.state(b.ID, ledger.Paid)
	r.Quiet()
}

func TestLatePaymentAfterCloseIsRefunded(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.release(b)
	r.Advance(25 * time.Hour)
	r.payLate(r.Page, b)
	r.done(r.notice(b))
	r.resolution(b, ledger.Refund, ledger.RefundDone)
	r.Quiet()
}

func TestUnknownSaleGatewayAndPayloadAreParked(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	for name, change := range map[string]func(*events.Event){
		"unknown_sale":    func(e *events.Event) { e.Sale = "autumn" },
		"unknown_gateway": func(e *events.Event) { e.Notice.Gateway = "nobody" },
		"invalid_event":   func(e *events.Event) { e.Notice = nil },
	} {
		e := r.notice(b)
		change(&e)
		if reason, ok := events.ParkReason(r.deliver(e, 1)); !ok || reason != name {
			t.Errorf("%s: reason %q", name, reason)
		}
	}
}

func TestRefundThatFailsIsLeftToTheSweep(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	r.done(r.notice(b))
	second := r.secondPayment(b)
	e := second.Captured(r.Now())
	r.Page.Down = true
	r.done(e)
	r.resolution(second, ledger.Refund, ledger.RefundDue)
	r.Page.Down = false
	r.heal()
	r.resolution(second, ledger.Refund, ledger.RefundDone)
	r.Quiet()
}

func TestHoldWhosePaymentGoesBackFromReviewIsReleased(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.Page.Pay(b.PaymentID)
	r.Page.Edit(b.PaymentID, func(p *payment.Payment) { p.AmountMinor-- })
	r.done(r.notice(b))
	r.heal() // the hold is over; the money is here, so nothing is released
	r.state(b.ID, ledger.Held)
	if err := r.Store.Apply(t.Context(), ledger.RefundReviewed(r.Payment(b.Key), "operator", r.Now())); err != nil {
		t.Fatal(err)
	}
	r.heal()
	r.state(b.ID, ledger.Released)
	r.resolution(b, ledger.Refund, ledger.RefundDone)
	r.Quiet()
}

func TestReadmissionThatLostToARefundIsNotHeldForEver(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N2", r.Page)
	r.done(b.Held)
	r.release(b)
	r.payLate(r.Page, b)
	r.Faults.Inject = func(op string) lifecycletest.Fault { // dies between the admission and its write
		if op == "ledger Apply:late-apply" {
			return lifecycletest.FailBefore
		}
		return lifecycletest.NoFault
	}
	if r.deliver(r.notice(b), 1) == nil {
		t.Fatal("the crash did not show")
	}
	r.Faults.Inject = nil
	c := ledger.Capture{Key: b.Key, AmountMinor: 15000, Currency: "BDT", At: r.Now()}
	if err := r.Store.Apply(t.Context(), ledger.RefundLate(r.Booking(b.ID), c, "sold out for another worker", r.Now())); err != nil {
		t.Fatal(err)
	}
	r.done(r.notice(b))
	r.heal()
	r.resolution(b, ledger.Refund, ledger.RefundDone)
	r.Quiet()
}

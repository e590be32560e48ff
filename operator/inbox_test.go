package operator_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/operator"
)

// reviewed is a captured payment that differs from its booking.
func (b *bench) reviewed(candidate string) lifecycletest.Booked {
	b.t.Helper()
	k := b.held(candidate, "N1")
	b.Page.Pay(k.PaymentID)
	booking := b.World.Booking(k.ID)
	c := ledger.Capture{Key: k.Key, AmountMinor: 9999, Currency: "BDT", At: b.World.Now()}
	b.must(b.World.Store.Apply(b.ctx, ledger.Flag(booking, c, "amount: got 9999, want 10000", b.World.Now())))
	return k
}

func (b *bench) park(id string, key ledger.PaymentKey) {
	b.t.Helper()
	b.must(b.World.Store.Park(b.ctx, ledger.InboxItem{Sale: spring, ID: id, Payment: key, Reason: "unattached", At: b.World.Now()}))
}

func (b *bench) inbox() map[string]bool {
	b.t.Helper()
	done := map[string]bool{}
	b.must(b.Inbox(b.ctx, spring, func(it ledger.InboxItem) error { done[it.ID] = it.Done; return nil }))
	return done
}

func TestResolveClosesAnItemAndRepeatsWell(t *testing.T) {
	b := newBench(t)
	b.park("i1", ledger.PaymentKey{})
	b.park("i2", ledger.PaymentKey{})
	for range 2 {
		b.must(b.Resolve(b.ctx, spring, "i1", false, ann))
	}
	if diff := cmp.Diff(map[string]bool{"i1": true, "i2": false}, b.inbox()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"inbox resolve i1: unattached -> resolved (operator:ann, because)"}, b.springTrail()); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
	refused(t, b.Resolve(b.ctx, spring, "i9", false, ann), operator.CodeUnknownItem)
	refused(t, b.Resolve(b.ctx, spring, "i2", true, ann), operator.CodeNotInReview)
	if b.inbox()["i2"] {
		t.Error("an item was closed by a refund that is not possible")
	}
}

func TestResolveRefundsAReviewedPayment(t *testing.T) {
	b := newBench(t)
	k := b.reviewed("c1")
	b.park("i1", k.Key)
	money, err := b.OpenPayments(b.ctx, spring)
	b.must(err)
	if len(money) != 1 || money[0].Payment.Key != k.Key || money[0].Why != "in review: amount: got 9999, want 10000" {
		t.Errorf("open money %+v", money)
	}
	for range 2 {
		b.must(b.Resolve(b.ctx, spring, "i1", true, ann))
	}
	if p := b.World.Payment(k.Key); p.Resolution != ledger.Refund || p.Refund != ledger.RefundDone || b.Page.Refunds(k.PaymentID) != 1 {
		t.Errorf("payment %+v, refunded %d times", p, b.Page.Refunds(k.PaymentID))
	}
	if money, err = b.OpenPayments(b.ctx, spring); err != nil || len(money) != 0 {
		t.Errorf("open money %+v, %v", money, err)
	}
}

func TestRefundOfAPaymentByItsName(t *testing.T) {
	b := newBench(t)
	k := b.reviewed("c1")
	applied := b.paid("c2", "N2")
	b.must(b.RefundReviewed(b.ctx, spring, k.Key, ann))
	b.must(b.RefundReviewed(b.ctx, spring, k.Key, ann))
	if b.Page.Refunds(k.PaymentID) != 1 || len(b.springTrail()) != 1 {
		t.Errorf("refunded %d times, trail %q", b.Page.Refunds(k.PaymentID), b.springTrail())
	}
	refused(t, b.RefundReviewed(b.ctx, spring, applied.Key, ann), operator.CodeNotInReview)
	refused(t, b.RefundReviewed(b.ctx, spring, ledger.PaymentKey{Gateway: "page", ID: "none"}, ann), operator.CodeUnknownItem)
	refused(t, b.RefundReviewed(b.ctx, "another", k.Key, ann), operator.CodeUnknownItem)
}

// Case C07: money on a booking that is over, or on none, is seen.
func TestOpenPaymentsSeesMoneyWithoutABooking(t *testing.T) {
	b := newBench(t)
	b.paid("c1", "N2")
	if money, err := b.OpenPayments(b.ctx, spring); err != nil || len(money) != 0 {
		t.Fatalf("money that rests is listed: %+v, %v", money, err)
	}
	k := b.held("c2", "N1")
	_, err := b.ReleaseHold(b.ctx, k.ID, ann)
	b.must(err)
	late := ledger.RefundLate(b.World.Booking(k.ID), ledger.Capture{Key: k.Key, AmountMinor: 10000, Currency: "BDT", At: b.World.Now()}, "late", b.World.Now())
	b.must(b.World.Store.Apply(b.ctx, late))
	money, err := b.OpenPayments(b.ctx, spring)
	b.must(err)
	if len(money) != 1 || money[0].Payment.Key != k.Key || money[0].Why != "refund under way: late" {
		t.Errorf("open money %+v", money)
	}
}

func TestAcceptedPaymentPaysItsBooking(t *testing.T) {
	b := newBench(t)
	k := b.reviewed("c1")
	for range 2 {
		b.must(b.AcceptReviewed(b.ctx, spring, k.Key, ann))
	}
	if got := b.World.Booking(k.ID); got.State != ledger.Paid || got.Payment != k.Key {
		t.Errorf("booking %+v", got)
	}
	want := []string{"accept " + k.Key.String() + ": in review: amount: got 9999, want 10000 -> pays booking " + k.ID + " (operator:ann, because)"}
	if diff := cmp.Diff(want, b.springTrail()); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
	refused(t, b.RefundReviewed(b.ctx, spring, k.Key, ann), operator.CodeNotInReview)
}

func TestPaymentThatCanNotBeAccepted(t *testing.T) {
	b := newBench(t)
	k := b.reviewed("c1")
	refused(t, b.AcceptReviewed(b.ctx, spring, ledger.PaymentKey{Gateway: "page", ID: "none"}, ann), operator.CodeUnknownItem)
	b.must(b.RefundReviewed(b.ctx, spring, k.Key, ann))
	err := b.AcceptReviewed(b.ctx, spring, k.Key, ann)
	refused(t, err, operator.CodeNotAcceptable)
	if !errors.Is(err, lifecycle.ErrNotAcceptable) || b.World.Booking(k.ID).State == ledger.Paid {
		t.Errorf("%v, booking %s", err, b.World.Booking(k.ID).State)
	}
}

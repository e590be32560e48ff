package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/workers"
)

func TestPurgeAsksTwiceAndAuditStillPasses(t *testing.T) {
	x := newTown(t)
	k := x.paid("c1", "N2")
	x.fails(exitUsage, "purge", "spring")
	x.fails(exitUsage, "purge", "spring", "--yes", "--dry-run")
	if err := x.fails(exitRefused, "purge", "spring", "--yes"); !strings.Contains(err, "sale spring is open until") {
		t.Errorf("%s", err)
	}
	x.done("sale", "close", "spring")
	if out := x.done("purge", "spring", "--dry-run"); !strings.Contains(out, "9 roster rows, the people of 1 bookings and the details of 0 inbox items would be forgotten") {
		t.Errorf("%s", out)
	}
	if x.Booking(k.ID).Candidate != "c1" {
		t.Error("a dry run forgot somebody")
	}
	x.Advance(time.Minute)
	r := x.run("purge", "spring", "--yes", "--reason", "retention is over")
	if b := x.Booking(k.ID); r.code != exitDone || b.Personal() || !strings.Contains(r.out, "forgotten") {
		t.Errorf("%+v: %+v", r, b)
	}
	x.done("audit", lifecycletest.Sale)
	if out := x.done("sale", "trail", "spring"); !strings.Contains(out, "retention is over") {
		t.Errorf("%s", out)
	}
	if out := x.done("purge", "spring", "--yes"); !strings.Contains(out, "nobody is known") {
		t.Errorf("%s", out)
	}
}

// TestLatePaymentAfterPurge: the gateway captures for a booking that was given
// up before the purge. Its webhook still names the candidate; the money goes
// back, nobody gets a seat for it, and the candidate is not known again.
func TestLatePaymentAfterPurge(t *testing.T) {
	x := newTown(t)
	k := x.held("c1", "N1")
	x.done("hold", "release", k.ID)
	x.done("sale", "close", "spring")
	x.done("reap", "--once")
	if r := x.run("purge", "spring", "--yes"); r.code != exitDone {
		t.Fatalf("%+v", r)
	}
	x.Page.Edit(k.PaymentID, func(p *payment.Payment) { p.Status, p.CapturedAt = payment.StatusCompleted, x.Now() })
	worker := &workers.Handler{Steps: x.Steps}
	if err := worker.Handle(t.Context(), k.Notice(x.Now()), events.Meta{ReceiveCount: 1, SentAt: x.Now()}); err != nil {
		t.Fatal(err)
	}
	x.done("reap", "--once")
	if p, err := x.Store.Payment(t.Context(), k.Key); err != nil || p.Resolution != ledger.Refund || p.Refund != ledger.RefundDone || x.Page.Refunds(k.PaymentID) != 1 {
		t.Errorf("the money: %+v, %v, refunded %d times", p, err, x.Page.Refunds(k.PaymentID))
	}
	if id, err := x.Store.CandidateBooking(t.Context(), lifecycletest.Sale, "c1"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("c1 has booking %q again, %v", id, err)
	}
	if b := x.Booking(k.ID); b.Personal() || b.State != ledger.Released || b.Successor != "" {
		t.Errorf("the booking is %+v", b)
	}
	x.done("audit", "spring")
}

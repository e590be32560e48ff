package workers_test

import (
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/sale"
)

// duplicate is what S1 says to the candidate's next request with that e-mail.
func (r *rig) duplicate(candidate, email string) admission.Answer {
	r.T.Helper()
	a, err := r.Redis.Admit(r.T.Context(), admission.Request{Sale: lifecycletest.Sale, BookingID: "AGAIN", Candidate: candidate, Level: "N2",
		Gen: 1, Key: "another", RosterVersion: "r1", EmailHash: email, AmountMinor: 1, Currency: "BDT", Count: 1})
	if err != nil || a.Outcome != admission.Duplicate {
		r.T.Fatalf("%v, %v; want a duplicate", a.Outcome, err)
	}
	return a
}

// A late re-admission is the same person's: the next request of the candidate
// is a duplicate and no e-mail mismatch.
func TestLate_ReadmissionKnowsItsCandidatesEmail(t *testing.T) {
	for name, rosterEmail := range map[string]string{"unchanged": lifecycletest.Email, "roster has another e-mail now": "fedcba9876543210"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N2", r.Page)
			r.done(b.Held)
			r.release(b)
			err := r.Redis.PutRoster(t.Context(), lifecycletest.Sale, []admission.RosterEntry{{Candidate: "c1", EmailHash: rosterEmail}})
			if err != nil {
				t.Fatal(err)
			}
			r.payLate(r.Page, b)
			r.done(r.notice(b))
			late := sale.LateBookingID(b.ID)
			r.state(late, ledger.Paid) // whoever has paid is refused by no e-mail
			if a := r.duplicate("c1", lifecycletest.Email); rosterEmail == lifecycletest.Email && !a.EmailMatches {
				t.Error("the candidate's own duplicate is an e-mail mismatch")
			}
			if got := r.Booking(late).EmailHash; got != lifecycletest.Email {
				t.Errorf("e-mail hash %q in the ledger", got)
			}
			r.Quiet()
		})
	}
}

// R4 for whoever finds an admission instead of making one: nothing is written
// before the replicas have it, also if another payment is attached already.
func TestFoundAdmissionIsAcknowledgedBeforeItIsWritten(t *testing.T) {
	for _, attached := range []string{"by nothing", "by this payment", "by another payment"} {
		t.Run(attached, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N2", r.Page) // attached by its own payment, never held
			paid := b
			switch attached {
			case "by nothing":
				r.forgetAttach(b)
			case "by another payment":
				paid = r.secondPayment(b)
			}
			r.Page.Edit(paid.PaymentID, complete(r.Now()))
			r.Faults.Inject = func(op string) lifecycletest.Fault {
				if op == "redis Attach" {
					return lifecycletest.ShortWait
				}
				return lifecycletest.NoFault
			}
			for n := range 3 {
				if err := r.deliver(r.notice(paid), n+1); err == nil || r.Booking(b.ID).State != ledger.None {
					t.Fatalf("delivery %d: written without the replicas (%v)", n+1, err)
				}
			}
			r.Faults.Inject = nil
			r.done(r.notice(paid))
			r.state(b.ID, ledger.Paid)
			r.Redis.Failover(100)
			r.Check()
		})
	}
}

// forgetAttach goes back to the state before the attach, which was not
// acknowledged: a failover (protocol.md 3.9 row 23).
func (r *rig) forgetAttach(b lifecycletest.Booked) {
	r.T.Helper()
	r.Redis.Rewind(1)
	rec, err := r.Redis.Record(r.T.Context(), lifecycletest.Sale, b.ID)
	if err != nil || rec.Stage != admission.StageAdmitted {
		r.T.Fatalf("record %+v, %v", rec, err)
	}
}

// An id that several workers derive is never undone without the ledger: a short
// acknowledgement leaves it pending, and the redelivery goes on from there. A
// quick undo would bar the id for ten minutes, and a hiccup would cost the seat
// (protocol.md 3.7.4).
func TestShortAcknowledgementOfASharedIdIsNoRefusal(t *testing.T) {
	for name, prepare := range map[string]func(r *rig, b lifecycletest.Booked){
		"late":              func(r *rig, b lifecycletest.Booked) { r.done(b.Held); r.release(b) },
		"proven by payment": func(r *rig, _ lifecycletest.Booked) { r.rebuilt(2) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			b := r.Book("c1", "N2", r.Page)
			prepare(r, b)
			r.payLate(r.Page, b)
			r.Faults.Inject = func(op string) lifecycletest.Fault {
				if op == "redis Admit" {
					return lifecycletest.ShortWait
				}
				return lifecycletest.NoFault
			}
			if r.deliver(r.notice(b), 1) == nil {
				t.Fatal("written without the replicas")
			}
			r.Faults.Inject = nil
			r.done(r.notice(b))
			r.resolution(b, ledger.Applied, ledger.NoRefund)
			r.Quiet()
		})
	}
}

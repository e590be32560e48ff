package reaper_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/reaper"
)

// lister is a gateway that lists what it captured.
type lister struct {
	*lifecycletest.Gateway
	captured []payment.Payment
}

func (l *lister) ListCaptured(_ context.Context, _ string, each func(payment.Payment) error) error {
	for _, p := range l.captured {
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// maps is a Redis that shows its maps of seats and candidates.
type maps struct {
	reaper.Redis
	seats, candidates map[string]string
}

func (m maps) ScanSeats(_ context.Context, _ string, each func(string, string) error) error {
	return walk(m.seats, each)
}

func (m maps) ScanCandidates(_ context.Context, _ string, each func(string, string) error) error {
	return walk(m.candidates, each)
}

func walk(m map[string]string, each func(string, string) error) error {
	for k, v := range m {
		if err := each(k, v); err != nil {
			return err
		}
	}
	return nil
}

// apply writes a transition that no rule would make: a planted fault.
func (r *rig) apply(t ledger.Transition) {
	r.t.Helper()
	r.must(r.Store.Apply(r.t.Context(), t))
}

// TestAuditFindsEachPlantedViolation: one fault, one name.
func TestAuditFindsEachPlantedViolation(t *testing.T) {
	for name, plant := range map[string]func(r *rig, held, paid lifecycletest.Booked){
		"LsubR": func(r *rig, held, _ lifecycletest.Booked) {
			_, err := r.Redis.Undo(r.t.Context(), admission.Undo{Sale: saleID, BookingID: held.ID, Candidate: "c1", Level: "N1", Mode: admission.UndoAbort})
			r.must(err)
		},
		"NoOrphan": func(r *rig, _, _ lifecycletest.Booked) {
			b := r.Book("c3", "N1", r.Page)
			_, err := r.Redis.Settle(r.t.Context(), saleID, b.ID, "c3", false)
			r.must(err)
		},
		"OneLive": func(r *rig, held, _ lifecycletest.Booked) {
			r.apply(ledger.Transition{Name: ledger.T3Expire, At: r.Now(), Free: &ledger.Ownership{Sale: saleID, Candidate: "c1", BookingID: held.ID},
				Update: &ledger.BookingChange{ID: held.ID, Sale: saleID, From: ledger.Held, To: ledger.Held}})
		},
		"TokenOwner": func(r *rig, held, _ lifecycletest.Booked) {
			b := r.World.Booking(held.ID)
			r.apply(ledger.Transition{Name: ledger.T3Expire, At: r.Now(), Free: &ledger.Ownership{Sale: saleID, Candidate: "c1", BookingID: held.ID, Tokens: b.Tokens()},
				Claim: &ledger.Ownership{}, Update: &ledger.BookingChange{ID: held.ID, Sale: saleID, From: ledger.Held, To: ledger.Held}})
		},
		"Caps": func(r *rig, _, _ lifecycletest.Booked) {
			r.Control(func(c *ledger.Control) { c.Plan.TotalCap = 1 })
		},
		"PayOnce": func(r *rig, _, _ lifecycletest.Booked) {
			r.Steps.Gateways["page"].(*lister).captured = append(r.Steps.Gateways["page"].(*lister).captured,
				payment.Payment{PaymentID: "nobody's", AmountMinor: 1, Currency: "BDT"})
		},
		"Terminal": func(r *rig, held, _ lifecycletest.Booked) {
			r.apply(ledger.Transition{Name: ledger.T3Expire, At: r.Now(), Update: &ledger.BookingChange{ID: held.ID, Sale: saleID, From: ledger.Held, To: ledger.Released, Append: true, Reason: "x"}})
			r.apply(ledger.Transition{Name: ledger.T3Expire, At: r.Now(), Update: &ledger.BookingChange{ID: held.ID, Sale: saleID, From: ledger.Released, To: ledger.Held, Append: true, Reason: "x"}})
		},
		"AckDurable": func(*rig, lifecycletest.Booked, lifecycletest.Booked) {},
		"Conserve":   func(r *rig, _, _ lifecycletest.Booked) { r.redis.seats["N1-9"] = "nobody" },
		"Quiet":      func(r *rig, _, _ lifecycletest.Booked) { r.Book("c3", "N1", r.Page) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			page := &lister{Gateway: r.Page}
			r.Steps.Gateways["page"] = page
			held, paid := r.held("c1", "N1", r.Page), r.paid("c2", "N2")
			page.captured = []payment.Payment{{PaymentID: paid.PaymentID, AmountMinor: 15000, Currency: "BDT"}}
			r.redis = maps{r.Redis, map[string]string{"N1-1": held.ID, "N2-1": paid.ID}, map[string]string{"c1": held.ID, "c2": paid.ID}}
			made, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: r.redis, Health: r, Wait: r.wait})
			r.must(err)
			o := reaper.AuditOptions{AtRest: true, Acked: []string{held.ID}}
			if a, err := made.Auditor.AuditWith(t.Context(), saleID, o); err != nil || !a.OK || a.Looks != 1 || a.Captured != 1 {
				t.Fatalf("before: %+v, %v", a, err)
			}
			plant(r, held, paid)
			if name == "AckDurable" {
				o.Acked = append(o.Acked, "never heard of")
			}
			if name == "NoOrphan" || name == "Quiet" {
				made = r.Reaper // the maps are not what is judged
			}
			a, err := made.Auditor.AuditWith(t.Context(), saleID, o)
			r.must(err)
			if a.OK || !slices.ContainsFunc(a.Violations, func(v reaper.Violation) bool { return v.Invariant == name }) {
				t.Errorf("not found: %+v", a.Violations)
			}
		})
	}
}

// TestAuditBelievesOnlyWhatItSeesAgain: a booking that is admitted between the
// readings of Redis and of the ledger.
func TestAuditBelievesOnlyWhatItSeesAgain(t *testing.T) {
	r := newRig(t)
	came := false
	r.Faults.Yield = func(op string) {
		if op == "ledger Scan" && !came {
			came = true
			r.held("c1", "N1", r.Page)
		}
	}
	a, err := r.Auditor.Audit(t.Context(), saleID)
	r.must(err)
	if !came || !a.OK || a.Looks != 2 {
		t.Errorf("audit %+v", a)
	}
}

// TestAuditOfARush: each reading meets another booking that is just coming.
func TestAuditOfARush(t *testing.T) {
	r := newRig(t)
	candidates, levels := []string{"c1", "c2", "c3"}, []string{"N1", "N1", "N2"}
	r.Faults.Yield = func(op string) {
		if op == "ledger Scan" && len(candidates) > 0 {
			candidate, level := candidates[0], levels[0]
			candidates, levels = candidates[1:], levels[1:]
			r.held(candidate, level, r.Page)
		}
	}
	a, err := r.Auditor.Audit(t.Context(), saleID)
	r.must(err)
	if !a.OK || a.Looks < 2 || len(candidates) > 1 {
		t.Errorf("audit %+v, %d to come", a, len(candidates))
	}
}

func TestAuditListsOpenWork(t *testing.T) {
	r := newRig(t)
	b := r.held("c1", "N1", r.Page)
	r.apply(ledger.Flag(r.World.Booking(b.ID), ledger.Capture{Key: b.Key, AmountMinor: 5, Currency: "BDT", At: r.Now()}, "amount", r.Now()))
	r.Book("c2", "N1", r.Page)
	r.tombstone(ledger.Booking{ID: "T", Sale: saleID}, ledger.ReasonNotQueued)
	r.must(r.Store.Park(t.Context(), ledger.InboxItem{Sale: saleID, ID: "i1", Reason: "payment_foreign", At: r.Now()}))
	a, err := r.Auditor.Audit(t.Context(), saleID)
	r.must(err)
	var kinds []string
	for _, w := range a.Work {
		kinds = append(kinds, w.Kind)
	}
	if !a.OK || !slices.Equal(kinds, []string{"inbox", "pending", "review", "undo"}) {
		t.Errorf("audit %+v", a)
	}
	if _, err := json.Marshal(a); err != nil {
		t.Error(err)
	}
}

func TestAuditOfAFrozenSaleIsNotOK(t *testing.T) {
	r := newRig(t)
	r.Control(func(c *ledger.Control) { c.Frozen = true })
	if a := r.audit(); a.OK || !a.Frozen {
		t.Errorf("audit %+v", a)
	}
}

package redis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

// TestOwnersAcrossGaps: ids of one length don't hide a gap between the numbers of
// the tokens that one batch takes.
func TestOwnersAcrossGaps(t *testing.T) {
	b := newBench(t)
	b.put("zrem", b.k.free("A"), "A-2", "A-3")
	b.put("hset", b.k.cfg(), "cap:A", 3)
	var reqs []*admission.Request
	want := map[string]string{"A-1": "b1", "A-4": "b2", "A-5": "b3"}
	for _, n := range []string{"1", "2", "3"} {
		r := b.req("b"+n, "c"+n)
		reqs = append(reqs, &r)
	}
	b.store.commit(b.ctx(), reqs, func(i int, a admission.Answer, err error) bool {
		if err != nil || a.Outcome != admission.Admitted {
			t.Errorf("%s: %+v, %v", reqs[i].BookingID, a, err)
		}
		return true
	})
	if diff := cmp.Diff(want, b.owners()); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	b.conserved()
}

// TestUndoGoesByTheTokensNumber: a wrong order in the ledger's booking puts no
// token into a wrong place, where its next owner would be written.
func TestUndoGoesByTheTokensNumber(t *testing.T) {
	undo := admission.Undo{BookingID: "b1", Candidate: "c1", Level: "A", Mode: admission.UndoQuick, Driver: 1}
	for name, take := range map[string]func(b *bench){
		"single": func(b *bench) { b.undo("b1", "A", admission.UndoQuick, 1) },
		"vector": func(b *bench) { undo.Sale = b.sale; b.store.undoAll(b.ctx(), []admission.Undo{undo}) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			r := b.live("b1", "c1", "A-2")
			r.Stage, r.PaymentID, r.Scores[0] = admission.StageAdmitted, "", 77
			if a, err := b.store.Reseed(b.ctx(), b.sale, r); err != nil || a.Outcome != admission.Reseeded {
				t.Fatalf("%+v, %v", a, err)
			}
			take(b)
			if got := b.admin.ZScore(b.ctx(), b.k.free("A"), "A-2").Val(); got != 2 {
				t.Errorf("A-2 is free at %v, want 2", got)
			}
			b.conserved()
		})
	}
}

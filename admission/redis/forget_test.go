package redis

import (
	"testing"

	"github.com/holdfast/holdfast/admission"
)

// TestForgetRehearsal deletes every key of a rehearsal, none of the sale beside
// it, and refuses to delete that one.
func TestForgetRehearsal(t *testing.T) {
	real := newBench(t)
	must(t, first(real.store.Admit(real.ctx(), real.req("b1", "c1"))), admission.Admitted)
	before := real.dump()

	b := newBench(t)
	b.sale = "rehearsal-" + b.sale
	b.k = saleKeys(b.sale)
	b.install(func(*admission.Plan) {})
	b.roster("c1", "c2")
	must(t, first(b.store.Admit(b.ctx(), b.req("b2", "c1"))), admission.Admitted)
	b.put("set", b.k.stash("b2"), "url")
	if n, err := b.store.ForgetRehearsal(b.ctx(), b.sale); err != nil || n < 10 {
		t.Fatalf("%d keys, %v", n, err)
	}
	if left := b.dump(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if n, err := b.store.ForgetRehearsal(b.ctx(), real.sale); err == nil || n != 0 {
		t.Errorf("a real sale: %d, %v", n, err)
	}
	after := real.dump()
	if len(after) != len(before) {
		t.Errorf("%d keys of the other sale, %d before", len(after), len(before))
	}
	for k, v := range before {
		if after[k] != v {
			t.Errorf("%s changed", k)
		}
	}
}

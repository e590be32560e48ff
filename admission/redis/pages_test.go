package redis

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/admission"
)

// TestPagesOutliveARebuild: whoever held a seat before a rebuild can still open
// the page of its payment, pending or settled; nobody gets the page of another
// payment, and what is paid carries none.
func TestPagesOutliveARebuild(t *testing.T) {
	b := newBench(t)
	for i, id := range []string{"pending", "settled", "other", "paid"} {
		c := "c" + itoa(i+1)
		b.admit(b.req(id, c))
		b.attach(id, 1, "pay-"+id)
		if id == "pending" {
			continue
		}
		if _, err := b.store.Settle(b.ctx(), b.sale, id, c, false); err != nil {
			t.Fatal(err)
		}
	}
	p := b.plan()
	p.Gen = gen + 1
	err := b.store.Install(b.ctx(), p, func(ctx context.Context) error {
		for i, id := range []string{"pending", "settled", "other", "paid"} {
			r := b.live(id, "c"+itoa(i+1), "A-"+itoa(i+1))
			switch id {
			case "other":
				r.PaymentID = "pay-othe" // a prefix of the one that was attached
			case "paid":
				r.Stage = admission.StagePaid
			}
			if a, err := b.store.Reseed(ctx, b.sale, r); err != nil || a.Outcome != admission.Reseeded {
				t.Errorf("%s: %+v, %v", id, a, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"pending": "https://pay.example/pay-pending", "settled": "https://pay.example/pay-settled", "other": "", "paid": ""} {
		url, err := b.store.Stash(b.ctx(), b.sale, id)
		if url != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, admission.ErrNotFound) {
			t.Errorf("%s: %q, %v", id, url, err)
		}
		if raw := b.admin.HGet(b.ctx(), b.k.bk(), id).Val(); strings.Contains(raw, "://") != (want != "") {
			t.Errorf("%s: %s", id, raw)
		}
		if r, err := b.store.Record(b.ctx(), b.sale, id); err != nil || strings.Contains(r.PaymentID, " ") {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	if len(b.store.kept) > 0 {
		t.Errorf("pages are kept when the install is over: %v", b.store.kept)
	}
	b.conserved()
}

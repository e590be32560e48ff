package redis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScanSeatsAndCandidates shows what the audit compares with the records: the
// seat map and the admitted set as they are.
func TestScanSeatsAndCandidates(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	b.admit(b.req("b2", "c2"))
	b.own("A", 1200, "stray") // some pages further
	b.put("hset", b.k.seat(), "N1", "b3")
	seats, candidates := map[string]string{}, map[string]string{}
	into := func(m map[string]string) func(string, string) error {
		return func(k, v string) error { m[k] = v; return nil }
	}
	if err := b.store.ScanSeats(b.ctx(), b.sale, into(seats)); err != nil {
		t.Fatal(err)
	}
	if err := b.store.ScanCandidates(b.ctx(), b.sale, into(candidates)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"A-1": "b1", "A-2": "b2", "A-1200": "stray", "N1": "b3"}, seats); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"c1": "b1", "c2": "b2"}, candidates); diff != "" {
		t.Error(diff)
	}
	if err := b.store.ScanSeats(b.ctx(), "a sale", into(seats)); err == nil {
		t.Error("an invalid sale name was scanned")
	}
}

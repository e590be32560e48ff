package redis

import (
	"maps"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/admission"
)

// TestWalkMissesNoneThatMoves: bookings that are settled while somebody walks all
// records come twice rather than not at all.
func TestWalkMissesNoneThatMoves(t *testing.T) {
	b := newBench(t)
	moving := []string{"b1", "b2", "b3"}
	for i, id := range append(slices.Clone(moving), "settled") {
		b.admit(b.req(id, "c"+itoa(i+1)))
	}
	settle := func(id string) {
		if _, err := b.store.Settle(b.ctx(), b.sale, id, "c1", false); err != nil {
			t.Fatal(err)
		}
	}
	settle("settled")
	first, last := map[string]bool{}, map[string]bool{} // is it pending?
	err := b.store.ScanRecords(b.ctx(), b.sale, func(r admission.Record, pending bool) error {
		if _, again := first[r.BookingID]; !again {
			first[r.BookingID] = pending
		}
		last[r.BookingID] = pending
		for _, id := range moving {
			settle(id)
		}
		return nil
	})
	if want := map[string]bool{"b1": true, "b2": true, "b3": true, "settled": false}; err != nil || !maps.Equal(want, first) {
		t.Errorf("pending %v, %v, want %v", first, err, want)
	}
	if want := map[string]bool{"b1": false, "b2": false, "b3": false, "settled": false}; !maps.Equal(want, last) {
		t.Errorf("in the end pending %v, want %v", last, want)
	}
}

// TestLookUpReadsPendingFirst: a record that is settled between the two reads of a
// look-up is in the home that is read second.
func TestLookUpReadsPendingFirst(t *testing.T) {
	b := ownBench(t)
	b.put("config", "set", "slowlog-log-slower-than", 0)
	b.put("slowlog", "reset")
	if missing, err := b.store.Missing(b.ctx(), b.sale, []string{"b1"}); err != nil || len(missing) != 1 {
		t.Fatal(missing, err)
	}
	var read []string // the newest first
	for _, entry := range b.admin.SlowLogGet(b.ctx(), -1).Val() {
		if entry.Args[0] == "hmget" && entry.Args[1] != b.k.cfg() {
			read = append(read, entry.Args[1])
		}
	}
	if want := []string{b.k.bk(), b.k.pending()}; !slices.Equal(read, want) {
		t.Errorf("read, the newest first, %v, want %v", read, want)
	}
}

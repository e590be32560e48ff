package redis

import (
	"testing"

	"github.com/holdfast/holdfast/admission"
)

// The number of paid seats follows what becomes of the bookings, both ways, and
// the version rises when the last unpaid seat of a full level is paid: nothing
// else tells the public that no hold will bring one back.
func TestPaidSeatsAreCounted(t *testing.T) {
	b := newBench(t)
	status := func() (admission.Status, admission.LevelStatus) {
		t.Helper()
		st, err := b.store.Status(b.ctx(), b.sale, []string{"B", "N"})
		if err != nil {
			t.Fatal(err)
		}
		return st, st.Levels[0]
	}
	settle := func(bid, c string) {
		t.Helper()
		if _, err := b.store.Settle(b.ctx(), b.sale, bid, c, true); err != nil {
			t.Fatal(err)
		}
	}
	inB := func(bid, c string, n int) admission.Request {
		r := b.req(bid, c)
		r.Level, r.Count = "B", n
		return r
	}
	want := func(paid int, raised bool, before int64) int64 {
		t.Helper()
		st, l := status()
		if l.Paid != paid || st.Paid != paid || (st.Version > before) != raised {
			t.Fatalf("%d paid of %d, version %d after %d; want %d paid, raised %t", l.Paid, l.Used, st.Version, before, paid, raised)
		}
		return st.Version
	}
	b.admit(inB("b1", "c1", 1))
	b.admit(inB("b2", "c2", 2))
	st, _ := status()
	settle("b1", "c1")
	v := want(1, false, st.Version)
	settle("b2", "c2")
	settle("b2", "c2")
	v = want(3, true, v)
	rec, err := b.store.Record(b.ctx(), b.sale, "b2")
	if err != nil {
		t.Fatal(err)
	}
	b.undo("b2", "B", admission.UndoRelease, 0)
	v = want(1, true, v)
	rec.BookingID = "b3" // its id is dead; what a rebuild puts back is paid as it was
	if a, err := b.store.Reseed(b.ctx(), b.sale, rec); err != nil || a.Outcome != admission.Reseeded {
		t.Fatalf("%+v, %v", a, err)
	}
	want(3, true, v)
}

// That a named seat is paid shows on the map.
func TestAPaidNamedSeatRaisesTheVersion(t *testing.T) {
	b := newBench(t)
	r := b.req("b1", "c1")
	r.Level, r.Count, r.Seats = "N", 0, []string{"N2"}
	b.admit(r)
	_, before, err := b.store.SeatVersion(b.ctx(), b.sale)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Settle(b.ctx(), b.sale, "b1", "c1", true); err != nil {
		t.Fatal(err)
	}
	if _, after, err := b.store.SeatVersion(b.ctx(), b.sale); err != nil || after <= before {
		t.Errorf("version %d after %d, %v", after, before, err)
	}
}

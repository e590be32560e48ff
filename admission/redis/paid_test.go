package redis

import (
	"errors"
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

// The numbers are put right all together, and only while they are as they were read.
func TestPaidSeatsAreCorrected(t *testing.T) {
	b := newBench(t)
	r := b.req("b1", "c1")
	b.admit(r)
	if _, err := b.store.Settle(b.ctx(), b.sale, "b1", "c1", true); err != nil {
		t.Fatal(err)
	}
	counts := func(total, a, other int) admission.PaidCounts {
		return admission.PaidCounts{Total: total, Levels: map[string]int{"A": a, "B": other}}
	}
	for _, c := range []struct {
		name       string
		gen        int64
		have, want admission.PaidCounts
		err        error
		paid, inA  int
	}{
		{"one level has moved", gen, counts(1, 1, 3), counts(9, 9, 9), admission.ErrMoved, 1, 1},
		{"the total has moved", gen, counts(2, 1, 0), counts(9, 9, 9), admission.ErrMoved, 1, 1},
		{"another generation", gen + 1, counts(1, 1, 0), counts(9, 9, 9), admission.ErrStaleGen, 1, 1},
		{"as it was read", gen, counts(1, 1, 0), counts(3, 2, 1), nil, 3, 2},
		{"once more", gen, counts(1, 1, 0), counts(3, 2, 1), admission.ErrMoved, 3, 2},
		{"a level without a name", gen, admission.PaidCounts{Levels: map[string]int{"": 0}}, counts(0, 0, 0), admission.ErrInvalid, 3, 2},
	} {
		_, before, err := b.store.SeatVersion(b.ctx(), b.sale)
		if err != nil {
			t.Fatal(err)
		}
		version, err := b.store.CorrectPaid(b.ctx(), b.sale, c.gen, c.have, c.want)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || (version > before) != (err == nil) {
			t.Errorf("%s: version %d after %d, %v", c.name, version, before, err)
		}
		if st, err := b.store.Status(b.ctx(), b.sale, []string{"A", "B"}); err != nil || st.Paid != c.paid || st.Levels[0].Paid != c.inA {
			t.Errorf("%s: %+v, %v", c.name, st, err)
		}
	}
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

package redis

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

func (b *bench) edit(op admission.SeatEditOp, seats ...string) admission.SeatEditAnswer {
	b.t.Helper()
	e := admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "H", Op: op, Seats: seats}
	for i := range seats {
		e.Scores = append(e.Scores, int64(100+i))
	}
	a, err := b.store.EditSeats(b.ctx(), e)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func TestSeatPlanNeverDropsAHeldSeat(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	b.hold(b.wish("h2", "c2", "H2"), admission.Admitted)
	b.promote(b.book("b2", "c2"), "h2", admission.Admitted)
	before := b.dump()
	for _, op := range []admission.SeatEditOp{admission.CheckSeats, admission.DropSeats} {
		if a := b.edit(op, "H1", "H2", "H3"); !slices.Equal(a.Held, []string{"H1", "H2"}) {
			t.Errorf("%s: held %v", op, a.Held)
		}
	}
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Errorf("a refused edit wrote:\n%s", diff)
	}
	b.sound()
}

func TestSeatPlanDropsAndAdds(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	if a := b.edit(admission.DropSeats, "H3", "H4", "Z9"); a.Changed != 2 || a.Cap != 18 || a.Version == 0 {
		t.Errorf("drop: %+v", a)
	}
	if a := b.edit(admission.DropSeats, "H3", "H4"); a.Changed != 0 || a.Cap != 18 || a.Version != 0 {
		t.Errorf("drop again: %+v", a)
	}
	b.sound()
	b.hold(b.wish("h2", "c2", "H3"), admission.Taken)
	if a := b.edit(admission.AddSeats, "H1", "H3", "H99"); a.Changed != 2 || a.Cap != 20 {
		t.Errorf("add: %+v", a)
	}
	if a := b.edit(admission.AddSeats, "H1", "H3", "H99"); a.Changed != 0 {
		t.Errorf("add again: %+v", a)
	}
	b.sound()
	b.hold(b.wish("h2", "c2", "H3", "H99"), admission.Admitted)
	b.sound()
}

// A free seat gets its new place in the order; one that somebody has keeps what
// its record says.
func TestSeatPlanOrdersFreeSeatsAnew(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	if a := b.edit(admission.AddSeats, "H2", "H1", "H3"); a.Changed != 0 || a.Version != 0 {
		t.Errorf("%+v", a)
	}
	for seat, want := range map[string]float64{"H2": 100, "H3": 102, "H4": 4} {
		if got := b.admin.ZScore(b.ctx(), b.k.free("H"), seat).Val(); got != want {
			t.Errorf("seat %s has score %v, want %v", seat, got, want)
		}
	}
	b.sound()
}

func TestSeatPlanRefusals(t *testing.T) {
	b := newSeatBench(t)
	for name, c := range map[string]struct {
		e    admission.SeatEdit
		want error
	}{
		"generation": {admission.SeatEdit{Sale: b.sale, Gen: gen + 1, Level: "H", Op: admission.DropSeats}, admission.ErrStaleGen},
		"counted":    {admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "A", Op: admission.DropSeats}, admission.ErrNotFound},
		"unknown":    {admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "Q", Op: admission.DropSeats}, admission.ErrNotFound},
		"no scores":  {admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "H", Op: admission.AddSeats, Seats: []string{"H50"}}, admission.ErrInvalid},
		"too many":   {admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "H", Op: admission.DropSeats, Seats: numbered("H", 501)}, admission.ErrInvalid},
	} {
		if _, err := b.store.EditSeats(b.ctx(), c.e); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	b.put("incr", b.k.level("H"))
	if _, err := b.store.EditSeats(b.ctx(), admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "H", Op: admission.DropSeats}); !errors.Is(err, admission.ErrCorrupt) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
}

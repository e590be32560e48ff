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

// TestSeatPlanFollowsSerials: who edits under an older serial than somebody before
// changes nothing, whatever the edit; looking needs none.
func TestSeatPlanFollowsSerials(t *testing.T) {
	b := newSeatBench(t)
	edit := func(op admission.SeatEditOp, serial int64) error {
		_, err := b.store.EditSeats(b.ctx(), admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "H", Op: op, Serial: serial, Seats: []string{"H3", "H98"}, Scores: []int64{3, 98}})
		return err
	}
	for _, step := range []struct {
		op     admission.SeatEditOp
		serial int64
		want   error
	}{
		{admission.DropSeats, 2, nil}, {admission.AddSeats, 1, admission.ErrMoved}, {admission.DropSeats, 1, admission.ErrMoved},
		{admission.CheckSeats, 1, nil}, {admission.MissingSeats, 1, nil}, {admission.AddSeats, 2, nil},
		{admission.AddSeats, 3, nil}, {admission.DropSeats, 2, admission.ErrMoved}, {admission.DropSeats, -1, admission.ErrInvalid},
	} {
		before := b.dump()
		if err := edit(step.op, step.serial); !errors.Is(err, step.want) {
			t.Fatalf("%s under %d: %v, want %v", step.op, step.serial, err, step.want)
		}
		if diff := cmp.Diff(before, b.dump()); step.want != nil && diff != "" {
			t.Errorf("%s under %d wrote:\n%s", step.op, step.serial, diff)
		}
		b.sound()
	}
}

// TestSeatPlanSaysWhatIsMissing and what is free, given or not.
func TestSeatPlanSaysWhatIsMissing(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	if a := b.edit(admission.MissingSeats, "H99", "H1", "H2", "H98"); !slices.Equal(a.Missing, []string{"H99", "H98"}) || a.Cap != 20 {
		t.Errorf("%+v", a)
	}
	many := numbered("Z", 499)
	b.edit(admission.AddSeats, many...)
	b.edit(admission.AddSeats, "H99", "H98", "H97") // more than a page
	free := map[string]bool{}
	if err := b.store.ScanFree(b.ctx(), b.sale, "H", func(seat string) error { free[seat] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(free) != 20+499+3-1 || free["H1"] || !free["H2"] || !free["H97"] {
		t.Errorf("%d free seats", len(free))
	}
}

package redis

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

func (b *bench) undo(bid, level string, mode admission.UndoMode, driver int) admission.UndoAnswer {
	b.t.Helper()
	a, err := b.store.Undo(b.ctx(), admission.Undo{Sale: b.sale, BookingID: bid, Level: level, Mode: mode, Driver: driver})
	if err != nil {
		b.t.Fatalf("undo %s: %v", bid, err)
	}
	return a
}

func (b *bench) admit(r admission.Request) admission.Answer {
	b.t.Helper()
	a, err := b.store.Admit(b.ctx(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return must(b.t, a, admission.Admitted)
}

func (b *bench) attach(bid string, driver int, pid string) admission.AttachAnswer {
	b.t.Helper()
	a, err := b.store.Attach(b.ctx(), b.attachment(bid, driver, pid))
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func TestUndoGivesBackEverything(t *testing.T) {
	for _, mode := range []admission.UndoMode{admission.UndoQuick, admission.UndoAbort, admission.UndoRelease} {
		t.Run(string(mode), func(t *testing.T) {
			b := newBench(t)
			before := b.dump()
			r := b.req("b1", "c1")
			r.Count = 3
			b.admit(r)
			a := b.undo("b1", "A", mode, 1)
			want := admission.UndoAnswer{Outcome: admission.Undone, Seats: 3, Acknowledged: mode != admission.UndoQuick}
			if diff := cmp.Diff(want, a); diff != "" {
				t.Error(diff)
			}
			after := b.dump()
			delete(after, "adm:dead b1")
			if mode == admission.UndoRelease {
				if after["adm:last c1"] != "b1|key-1|input-1" {
					t.Errorf("last %q", after["adm:last c1"])
				}
				delete(after, "adm:last c1")
			}
			before["adm:total"], before["adm:level:A"] = "0", "0"
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
			if a := b.undo("b1", "A", mode, 1); a.Outcome != admission.Gone || a.Seats != 0 {
				t.Errorf("second undo: %+v", a)
			}
			b.conserved()
		})
	}
}

func TestUndoOfNothingBarsTheDelayedCopy(t *testing.T) {
	b := newBench(t)
	if a := b.undo("b1", "A", admission.UndoQuick, 1); a.Outcome != admission.Gone {
		t.Fatalf("%+v", a)
	}
	a, err := b.store.Admit(b.ctx(), b.req("b1", "c1"))
	if err != nil {
		t.Fatal(err)
	}
	must(t, a, admission.Dead)
}

func TestUndoFindsTheRecordsLevel(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	if a := b.undo("b1", "B", admission.UndoAbort, 0); a.Outcome != admission.Undone || a.Seats != 1 {
		t.Fatalf("%+v", a)
	}
	b.conserved()
}

func TestQuickUndoLeavesABookingThatHasGoneOn(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	if _, err := b.store.Resume(b.ctx(), b.sale, "b1", idk1, inh1, 0); err != nil {
		t.Fatal(err)
	}
	if a := b.undo("b1", "A", admission.UndoQuick, 1); a.Outcome != admission.Superseded {
		t.Fatalf("another driver: %+v", a)
	}
	b.attach("b1", 2, "pay-1")
	if a := b.undo("b1", "A", admission.UndoQuick, 2); a.Outcome != admission.Armed {
		t.Fatalf("attached: %+v", a)
	}
	if b.admin.ZCard(b.ctx(), b.k.dead()).Val() != 0 {
		t.Error("a refused undo left a dead mark")
	}
	if a := b.undo("b1", "A", admission.UndoRelease, 0); a.Outcome != admission.Undone {
		t.Fatalf("release: %+v", a)
	}
	if _, err := b.store.Stash(b.ctx(), b.sale, "b1"); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("the stash outlived the booking: %v", err)
	}
}

// A stale undo of the candidate's former booking must not touch the present one
// (scenario 32).
func TestStaleUndoLeavesTheNextBookingAlone(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	b.undo("b1", "A", admission.UndoAbort, 0)
	b.admit(b.req("b2", "c1"))
	before := b.dump()
	if a := b.undo("b1", "A", admission.UndoRelease, 0); a.Outcome != admission.Gone {
		t.Fatalf("%+v", a)
	}
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Error(diff)
	}
}

func TestUndoAtAnEdgeRaisesTheVersion(t *testing.T) {
	b := newBench(t)
	r := b.req("b1", "c1")
	r.Count = 5
	full := b.admit(r)
	if a := b.undo("b1", "A", admission.UndoQuick, 1); a.Version != full.Version+1 {
		t.Errorf("version %d after the first seat came back, want %d", a.Version, full.Version+1)
	}
	named := b.req("b2", "c2")
	named.Level, named.Seats = "N", []string{"N1"}
	b.admit(named)
	if a := b.undo("b2", "N", admission.UndoQuick, 1); a.Version == 0 {
		t.Error("a seated level's seat came back without a version")
	}
}

func TestVectorUndo(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	b.admit(b.req("b2", "c2"))
	b.attach("b2", 1, "pay-2")
	named := b.req("b3", "c3")
	named.Level, named.Seats = "N", []string{"N2", "N1"}
	b.admit(named)
	var list []admission.Undo
	b.admit(b.req("b5", "c5"))
	if _, err := b.store.Resume(b.ctx(), b.sale, "b5", idk1, inh1, 0); err != nil {
		t.Fatal(err)
	}
	for _, u := range [][2]string{{"b1", "A"}, {"b2", "A"}, {"b3", "N"}, {"b4", "B"}, {"b5", "A"}, {"b1", "A"}} {
		list = append(list, admission.Undo{Sale: b.sale, BookingID: u[0], Level: u[1], Mode: admission.UndoQuick, Driver: 1})
	}
	var version int64
	b.store.OnUndo(func(sale string, v int64) { version = v })
	b.store.undoAll(b.ctx(), list)
	after := b.dump()
	for _, gone := range []string{"adm:pending b1", "adm:pending b3", "adm:bk b1", "adm:owner A-1", "adm:seen c1", "adm:seat N1"} {
		if v, there := after[gone]; there {
			t.Errorf("%s = %q", gone, v)
		}
	}
	for _, there := range []string{"adm:pending b2", "adm:seen c2", "adm:owner A-2", "adm:pending b5", "adm:dead b1", "adm:dead b3", "adm:dead b4"} {
		if _, ok := after[there]; !ok {
			t.Errorf("%s is missing", there)
		}
	}
	if version == 0 {
		t.Error("the seated level's seats came back without a version")
	}
	b.conserved()
}

// Whatever a bid's record says, an undo takes only what is the bid's: after a
// repair by hand, or a bug, it must not pull seats from under somebody else.
func TestUndoTakesOnlyWhatIsItsOwn(t *testing.T) {
	undos := map[string]func(b *bench){
		"single": func(b *bench) { b.undo("b1", "A", admission.UndoAbort, 0) },
		"vector": func(b *bench) {
			b.store.undoAll(b.ctx(), []admission.Undo{{Sale: b.sale, BookingID: "b1", Level: "A", Mode: admission.UndoQuick, Driver: 1}})
		},
	}
	for name, undo := range undos {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			r := b.req("b1", "c1")
			r.Count = 2
			b.admit(r)
			b.put("hset", b.k.seen(), "c1", "b2")
			b.own("A", 1, "b2")
			undo(b)
			after := b.dump()
			for key, want := range map[string]string{"adm:seen c1": "b2", "adm:pending b1": "", "adm:owner A-1": "b2",
				"adm:free:A A-1": "", "adm:free:A A-2": "2", "adm:level:A": "1", "adm:total": "1", "adm:bk b1": ""} {
				if after[key] != want {
					t.Errorf("%s = %q, want %q", key, after[key], want)
				}
			}
		})
	}
}

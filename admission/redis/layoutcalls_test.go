package redis

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

func second[T any](_ T, err error) error { return err }

// guardedCalls are the methods that act on a sale, with what their types share.
var guardedCalls = []struct {
	name string
	call func(b *bench) error
}{
	{"Store.Admit", func(b *bench) error { return second(b.store.Admit(b.ctx(), b.req("b8", "c8"))) }},
	{"a batch", func(b *bench) error { return second(b.vector(b.req("b8", "c8"), 0)) }},
	{"a proven admission", func(b *bench) error {
		r := b.req("b8", "c8")
		r.RosterVersion = admission.ProvenRoster
		return second(b.store.Admit(b.ctx(), r))
	}},
	{"Store.Undo", func(b *bench) error {
		return second(b.store.Undo(b.ctx(), admission.Undo{Sale: b.sale, BookingID: "b1", Candidate: "c1", Level: "A", Mode: admission.UndoRelease}))
	}},
	{"a quick undo of a promotion", func(b *bench) error {
		return second(b.store.Undo(b.ctx(), admission.Undo{Sale: b.sale, BookingID: "b1", Candidate: "c1", Level: "A", Mode: admission.UndoQuick, HoldID: "h1"}))
	}},
	{"undo_many", func(b *bench) error {
		k := b.k
		return b.store.retry(b.ctx(), k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
			return second(undoManyScript.run(ctx, c, []string{k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.total(), k.seat(), k.level("A"), k.free("A"), k.soft("A"), k.owner("A")},
				1, "A", "b1", 1, 1))
		})
	}},
	{"Store.Settle", func(b *bench) error { return second(b.store.Settle(b.ctx(), b.sale, "b1", "c1", true)) }},
	{"Store.Attach", func(b *bench) error { return second(b.store.Attach(b.ctx(), b.attachment("b1", 1, "pay-1"))) }},
	{"Store.Resume", func(b *bench) error {
		return second(b.store.Resume(b.ctx(), b.sale, "b1", idk1, inh1, time.Millisecond))
	}},
	{"Store.Reseed", func(b *bench) error { return second(b.store.Reseed(b.ctx(), b.sale, b.live("b9", "c9", "A-5"))) }},
	{"Store.SetCap", func(b *bench) error {
		return second(b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 6, First: 6}))
	}},
	{"Store.EditSeats", func(b *bench) error {
		return second(b.store.EditSeats(b.ctx(), admission.SeatEdit{Sale: b.sale, Gen: gen, Level: "H", Op: admission.DropSeats, Seats: []string{"H4"}}))
	}},
	{"Store.CorrectPaid", func(b *bench) error {
		return second(b.store.CorrectPaid(b.ctx(), b.sale, gen, admission.PaidCounts{}, admission.PaidCounts{Total: 1}))
	}},
	{"Store.SetMark", func(b *bench) error {
		return second(b.store.SetMark(b.ctx(), admission.Mark{Sale: b.sale, Gen: gen, Next: "m1"}))
	}},
	{"Store.Hold", func(b *bench) error { return second(b.store.Hold(b.ctx(), b.wish("h8", "c8", "H2"))) }},
	{"Store.Extend", func(b *bench) error {
		return second(b.store.Extend(b.ctx(), admission.Extension{Sale: b.sale, HoldID: "h1", Level: "H", Gen: gen, For: time.Minute, Max: time.Hour}))
	}},
	{"Store.Promote", func(b *bench) error { return second(b.store.Promote(b.ctx(), b.book("b8", "c3"), "h1")) }},
	{"Store.Lapse", func(b *bench) error {
		_, _, err := b.store.Lapse(b.ctx(), b.sale, "H", 1)
		return err
	}},
	{"Store.Status", func(b *bench) error { return second(b.store.Status(b.ctx(), b.sale, []string{"A"})) }},
	{"Store.SeatVersion", func(b *bench) error {
		_, _, err := b.store.SeatVersion(b.ctx(), b.sale)
		return err
	}},
	{"Store.Seats", func(b *bench) error { return second(b.store.Seats(b.ctx(), b.sale, []string{"H"})) }},
	{"Store.Record", func(b *bench) error { return second(b.store.Record(b.ctx(), b.sale, "b1")) }},
	{"Store.Stash", func(b *bench) error { return second(b.store.Stash(b.ctx(), b.sale, "b1")) }},
	{"Store.CandidateBooking", func(b *bench) error { return second(b.store.CandidateBooking(b.ctx(), b.sale, "c1")) }},
	{"Store.Missing", func(b *bench) error { return second(b.store.Missing(b.ctx(), b.sale, []string{"b1"})) }},
	{"Store.ScanPending", func(b *bench) error {
		return b.store.ScanPending(b.ctx(), b.sale, func(admission.Pending) error { return errors.New("read") })
	}},
	{"Store.ScanRecords", func(b *bench) error {
		return b.store.ScanRecords(b.ctx(), b.sale, func(admission.Record, bool) error { return errors.New("read") })
	}},
	{"Store.ScanSeats", func(b *bench) error {
		return b.store.ScanSeats(b.ctx(), b.sale, func(string, string) error { return errors.New("read") })
	}},
	{"the owners of a level", func(b *bench) error {
		return b.store.scanOwners(b.ctx(), b.k, "A", func(string, string) error { return errors.New("read") })
	}},
	{"Store.ScanCandidates", func(b *bench) error {
		return b.store.ScanCandidates(b.ctx(), b.sale, func(string, string) error { return errors.New("read") })
	}},
	{"Store.ScanFree", func(b *bench) error {
		return b.store.ScanFree(b.ctx(), b.sale, "H", func(string) error { return errors.New("read") })
	}},
	{"Store.ScanRoster", func(b *bench) error {
		return b.store.ScanRoster(b.ctx(), b.sale, func(admission.RosterEntry) error { return errors.New("read") })
	}},
	{"Store.PutRoster", func(b *bench) error {
		return b.store.PutRoster(b.ctx(), b.sale, []admission.RosterEntry{{Candidate: "new", EmailHash: eh1}})
	}},
	{"Store.DropRoster", func(b *bench) error { return b.store.DropRoster(b.ctx(), b.sale, []string{"c1"}) }},
	{"Store.SetRosterVersion", func(b *bench) error { return b.store.SetRosterVersion(b.ctx(), b.sale, gen, "v2") }},
	{"Store.SetOpen", func(b *bench) error { return second(b.store.SetOpen(b.ctx(), b.sale, gen, false)) }},
	{"Store.SetTimes", func(b *bench) error {
		return second(b.store.SetTimes(b.ctx(), b.sale, gen, time.Now(), time.Now().Add(time.Hour)))
	}},
	{"Store.SetHold", func(b *bench) error { return b.store.SetHold(b.ctx(), b.sale, gen, time.Minute) }},
	{"Committer.Admit", func(b *bench) error { return second(b.group().Admit(b.ctx(), b.req("b8", "c8"))) }},
	{"Committer.Attach", func(b *bench) error { return second(b.group().Attach(b.ctx(), b.attachment("b1", 1, "pay-1"))) }},
	{"Committer.Settle", func(b *bench) error { return second(b.group().Settle(b.ctx(), b.sale, "b1", "c1", true)) }},
	{"Committer.CandidateBooking", func(b *bench) error { return second(b.group().CandidateBooking(b.ctx(), b.sale, "c1")) }},
	{"Gates.Admit", func(b *bench) error { return second(b.gates().Admit(b.ctx(), b.req("b8", "c8"))) }},
	{"Gates.Refresh", func(b *bench) error { return b.gates().Refresh(b.ctx(), b.sale) }},
}

// group is a group commit in front of the store.
func (b *bench) group() *Committer { return NewCommitter(b.store, CommitOptions{}) }

func (b *bench) gates() *Gates {
	g := NewGates(b.store, b.group())
	g.Watch(b.sale, []string{"A"})
	return g
}

// otherMethods need no guard, each for its reason.
var otherMethods = map[string]string{
	"Store.Install": "writes the layout", "Store.ForgetRehearsal": "deletes keys of any layout",
	"Store.Health": "asks the server", "Store.CheckServer": "the same", "Store.Prove": "has a key of its own",
	"Store.AcquireExecute": "one form in all layouts", "Store.ExtendExecute": "the same", "Store.ReleaseExecute": "the same",
	"Store.Token": "of no sale", "Store.StoreToken": "the same", "Store.AcquireTokenLease": "the same",
	"Store.OnUndo": "touches no server", "Store.Close": "the same",
	"Gates.Watch": "touches no server", "Gates.Forget": "the same", "Gates.Run": "calls Refresh",
	"Gates.Check": "asks Redis only by a fresh snapshot, which a sale of another layout has not",
}

// TestNoMethodIsForgotten: a new method is either refused above or has a reason.
func TestNoMethodIsForgotten(t *testing.T) {
	named := maps.Clone(otherMethods)
	for _, c := range guardedCalls {
		named[c.name] = "guarded"
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*Store](), reflect.TypeFor[*Committer](), reflect.TypeFor[*Gates]()} {
		for i := range of.NumMethod() {
			if name := of.Elem().Name() + "." + of.Method(i).Name; named[name] == "" {
				t.Errorf("%s: is a sale of another layout refused?", name)
			}
		}
	}
}

package redis

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

func TestPromote(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H2", "H1"), admission.Admitted)
	a := b.promote(b.book("b1", "c1"), "h1", admission.Admitted)
	if !slices.Equal(a.Tokens, []string{"H2", "H1"}) || a.Driver != 1 || a.Stage != admission.StageAdmitted || a.Version == 0 {
		t.Errorf("answer %+v", a)
	}
	if d := a.HoldUntil.Sub(a.AdmittedAt); d != 10*time.Minute {
		t.Errorf("held for %v", d)
	}
	rec, err := b.store.Record(b.ctx(), b.sale, "b1")
	if err != nil {
		t.Fatal(err)
	}
	want := admission.Record{BookingID: "b1", Candidate: "c1", Level: "H", Tokens: []string{"H2", "H1"}, Scores: []int64{2, 1}, Key: idk1, InputHash: inh1,
		EmailHash: eh1, AdmittedAt: a.AdmittedAt, DriverAt: a.AdmittedAt, Stage: admission.StageAdmitted, Driver: 1, AmountMinor: 200, Currency: "EUR",
		HoldUntil: a.HoldUntil, Gen: gen}
	if diff := cmp.Diff(want, rec); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&want, a.Record); diff != "" {
		t.Errorf("the answer's record (-want +got):\n%s", diff)
	}
	if !b.pending("b1") {
		t.Error("it is not pending: a crash now would leak the seats")
	}
	b.sound()
}

// TestPromoteAnswersInOrder gives every request the faults of all later answers.
func TestPromoteAnswersInOrder(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	r := b.book("b1", "c1")
	r.Gen, r.EmailHash, r.Level, r.RosterVersion = gen+1, eh2, "K", "old"
	b.put("zadd", b.k.dead(), 1, "b1")
	b.put("hset", b.k.cfg(), "open", 0)
	b.put("hset", b.k.seen(), "c1", "ghost")
	b.put("hset", b.k.last(), "c1", "b0|"+idk1+"|other")
	b.promote(r, "b1", admission.BadArgument) // its own id
	b.promote(r, "h1", admission.StaleGen)
	r.Gen = gen
	b.promote(r, "h1", admission.Dead)
	b.put("zrem", b.k.dead(), "b1")
	b.promote(r, "h1", admission.Corrupt)
	b.put("hset", b.k.seen(), "c1", "h1")
	b.promote(r, "h1", admission.Mismatch)
	b.put("hset", b.k.last(), "c1", "b0|"+idk1+"|"+inh1)
	if a := b.promote(r, "h1", admission.Released); a.BookingID != "b0" {
		t.Errorf("released names %s", a.BookingID)
	}
	b.put("hdel", b.k.last(), "c1")
	b.promote(r, "guess", admission.HoldGone)
	b.promote(r, "h1", admission.EmailMismatch) // the hold's
	r.EmailHash = eh1
	b.put("hdel", b.k.roster(), "c1")
	b.promote(r, "h1", admission.UnknownCode)
	if err := b.store.PutRoster(b.ctx(), b.sale, []admission.RosterEntry{{Candidate: "c1", EmailHash: eh2}}); err != nil {
		t.Fatal(err)
	}
	b.promote(r, "h1", admission.EmailMismatch) // the roster's
	if err := b.store.PutRoster(b.ctx(), b.sale, []admission.RosterEntry{{Candidate: "c1", EmailHash: eh1, Levels: []string{"K"}}}); err != nil {
		t.Fatal(err)
	}
	b.promote(r, "h1", admission.NotAllowed)
	b.roster("c1")
	b.promote(r, "h1", admission.Closed)
	b.put("hset", b.k.cfg(), "open", 1)
	b.put("hset", b.k.seat(), "H1", "thief")
	b.promote(r, "h1", admission.Corrupt)
	b.put("hset", b.k.seat(), "H1", "h1")
	b.promote(r, "h1", admission.Admitted)
	b.sound()
}

// TestPromoteTwiceIsTwoAttempts: two requests with one hold never drive one
// booking (protocol.md R2).
func TestPromoteTwiceIsTwoAttempts(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	b.promote(b.book("b1", "c1"), "h1", admission.Admitted)
	if a := b.promote(b.book("b1", "c1"), "h1", admission.Replayed); !slices.Equal(a.Tokens, []string{"H1"}) || a.Record == nil {
		t.Errorf("replay %+v", a)
	}
	if a := b.promote(b.book("b2", "c1"), "h1", admission.Same); a.BookingID != "b1" || a.Record == nil {
		t.Errorf("same %+v", a)
	}
	other := b.book("b3", "c1")
	other.Key = "another"
	if a := b.promote(other, "h1", admission.Duplicate); a.BookingID != "b1" || a.Stage != admission.StageAdmitted {
		t.Errorf("duplicate %+v", a)
	}
	changed := b.book("b4", "c1")
	changed.InputHash = "another"
	b.promote(changed, "h1", admission.Mismatch)
	b.sound()
}

// TestAPromotedHoldIsBeyondItsId: nothing that knows only the hold's id can touch
// the booking.
func TestAPromotedHoldIsBeyondItsId(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	b.promote(b.book("b1", "c1"), "h1", admission.Admitted)
	u, err := b.store.Undo(b.ctx(), admission.Undo{Sale: b.sale, BookingID: "h1", Candidate: "c1", Level: "H", Mode: admission.UndoQuick, Driver: 1})
	if err != nil || u.Outcome != admission.Gone {
		t.Errorf("release of the hold: %+v, %v", u, err)
	}
	b.hold(b.wish("h1", "c1", "H1"), admission.Dead)
	b.hold(b.wish("h2", "c1", "H2"), admission.Duplicate)
	if n, _, err := b.store.Lapse(b.ctx(), b.sale, "H", 10); n != 0 || err != nil {
		t.Errorf("lapse took %d, %v", n, err)
	}
	if b.owner("H1") != "b1" {
		t.Error("the seat is not the booking's")
	}
	b.sound()
}

// TestExpireThenAcquire is case I13: expired at t, taken by another at t+ε.
func TestExpireThenAcquire(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1", "H2"), admission.Admitted)
	b.expire("h1")
	b.promote(b.book("b1", "c1"), "h1", admission.HoldGone)
	b.hold(b.wish("h2", "c2", "H2", "H3"), admission.Admitted)
	b.promote(b.book("b1", "c1"), "h1", admission.HoldGone)
	b.promote(b.book("b2", "c2"), "h2", admission.Admitted)
	b.sound()
}

func TestPromoteGuessesTheLevel(t *testing.T) {
	b := newSeatBench(t)
	r := b.wish("h1", "c1", "K1")
	r.Level = "K"
	b.hold(r, admission.Admitted)
	if a := b.promote(b.book("b1", "c1"), "h1", admission.Admitted); a.Level != "K" {
		t.Errorf("level %s", a.Level)
	}
	b.sound()
}

// TestPromoteIsUndoneWithoutAcknowledgement is protocol.md R4 for S8: nothing is
// promised, and the candidate, who tries again, finds his seats where they were.
func TestPromoteIsUndoneWithoutAcknowledgement(t *testing.T) {
	b := ownBench(t)
	b.store.cfg.WaitTimeout = 100 * time.Millisecond
	n := func(hold, c string, seats ...string) admission.HoldRequest {
		r := b.wish(hold, c, seats...)
		r.Level = "N"
		return r
	}
	book := func(bid, c string) admission.Request {
		r := b.book(bid, c)
		r.Level = "N"
		return r
	}
	until := b.hold(n("h1", "c1", "N1", "N2"), admission.Admitted).Until
	if err := b.pair.Replica.Pause(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Promote(b.ctx(), book("b1", "c1"), "h1"); !errors.Is(err, admission.ErrUnacknowledged) {
		t.Fatalf("got %v, want ErrUnacknowledged", err)
	}
	if b.owner("N1") != "h1" || b.owner("N2") != "h1" {
		t.Errorf("the seats are %q's and %q's", b.owner("N1"), b.owner("N2"))
	}
	b.hold(n("h2", "c2", "N2"), admission.Taken)
	if a, err := b.store.Extend(b.ctx(), admission.Extension{Sale: b.sale, HoldID: "h1", Level: "N", Gen: gen, For: time.Second, Max: time.Hour}); err != nil || !a.Until.Equal(until) {
		t.Errorf("its deadline is %v, %v; it was %v", a.Until, err, until)
	}
	if err := b.pair.Replica.Resume(); err != nil {
		t.Fatal(err)
	}
	b.until(func() bool { return b.admin.Do(b.ctx(), "wait", 1, 100).Val() == int64(1) })
	b.promote(book("b1", "c1"), "h1", admission.Dead) // a delayed copy of what was undone
	b.promote(book("b2", "c1"), "h1", admission.Admitted)
	b.conserved()
}

// What the quick undo of a promotion does, by what became of it meanwhile.
func TestUndoOfAPromotion(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(b *bench)
		want      admission.UndoOutcome
		owner     string // of the seat afterwards
	}{
		"at once":               {func(*bench) {}, admission.Undone, "h1"},
		"the hold has run out":  {func(b *bench) { b.put("del", b.k.was("b1")) }, admission.Undone, ""},
		"undone before":         {func(b *bench) { b.undo("b1", "H", admission.UndoQuick, 1) }, admission.Gone, ""},
		"released by its owner": {func(b *bench) { b.undo("h1", "H", admission.UndoQuick, 1) }, admission.Undone, "h1"}, // which freed nothing
		"attached":              {func(b *bench) { b.attach("b1", 1, "p1") }, admission.Armed, "b1"},
		"taken over": {func(b *bench) {
			if a, err := b.store.Resume(b.ctx(), b.sale, "b1", idk1, inh1, 0); err != nil || a.Outcome != admission.Resumed {
				b.t.Fatalf("%+v, %v", a, err)
			}
		}, admission.Superseded, "b1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSeatBench(t)
			b.hold(b.wish("h1", "c1", "H2", "H3"), admission.Admitted)
			r := b.book("b1", "c1")
			r.Key, r.InputHash = idk1, inh1
			b.promote(r, "h1", admission.Admitted)
			c.meanwhile(b)
			u := admission.Undo{Sale: b.sale, BookingID: "b1", Candidate: "c1", Level: "K", Mode: admission.UndoQuick, Driver: 1, HoldID: "h1"}
			for try := range 2 {
				a, err := b.store.Undo(b.ctx(), u)
				if err != nil || try == 0 && a.Outcome != c.want {
					t.Fatalf("%+v, %v", a, err)
				}
				if b.owner("H2") != c.owner || b.owner("H3") != c.owner {
					t.Errorf("the seats are %q's and %q's", b.owner("H2"), b.owner("H3"))
				}
			}
			b.sound()
			if c.owner == "h1" {
				b.promote(r, "h1", admission.Dead)
				b.promote(b.book("b2", "c1"), "h1", admission.Admitted)
			}
		})
	}
}

func TestHoldUnderMemoryPressure(t *testing.T) {
	b := ownBench(t)
	r := b.wish("h1", "c1", "N1")
	r.Level = "N"
	b.hold(r, admission.Admitted)
	b.expire("h1")
	b.put("config", "set", "maxmemory", 1)
	r = b.wish("h2", "c2", "N2")
	r.Level = "N"
	if _, err := b.store.Hold(b.ctx(), r); !errors.Is(err, admission.ErrUnavailable) {
		t.Errorf("hold: %v, want ErrUnavailable", err)
	}
	if n, _, err := b.store.Lapse(b.ctx(), b.sale, "N", 10); n != 1 || err != nil {
		t.Errorf("lapse released %d, %v: a release must work when memory is full", n, err)
	}
	b.put("config", "set", "maxmemory", 0)
	b.conserved()
}

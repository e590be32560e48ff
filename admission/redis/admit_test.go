package redis

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

type admitFunc = func(admission.Request) admission.Answer

// TestAdmitOrder walks down the checks of protocol.md S1: a request that fails
// them all gets the first answer; then that fault is mended, and so on. Each
// step also shows that a refusal changes nothing.
func TestAdmitOrder(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		must(t, admit(b.req("holder", "c2")), admission.Admitted)
		r := b.req("bid", "c1")
		r.Level, r.Count, r.Gen, r.EmailHash = "N", 0, gen-1, eh2
		b.put("zadd", b.k.dead(), 1, "bid")
		b.put("hset", b.k.seen(), "c1", "ghost")
		b.put("hset", b.k.last(), "c1", "old|key-1|other")
		b.put("hdel", b.k.roster(), "c1")
		b.put("hset", b.k.cfg(), "open", "0", "cap", "1")
		b.put("hdel", b.k.cfg(), "cap:N")
		b.put("incr", b.k.level("N"))

		steps := []struct {
			want admission.Outcome
			mend func()
		}{
			{admission.BadArgument, func() { r.Count = 1 }},
			{admission.StaleGen, func() { r.Gen = gen }},
			{admission.Dead, func() { b.put("zrem", b.k.dead(), "bid") }},
			{admission.Corrupt, func() { b.put("hdel", b.k.seen(), "c1") }},
			{admission.Mismatch, func() { b.put("hset", b.k.last(), "c1", "old|key-1|input-1") }},
			{admission.Released, func() { r.Key = "key-2" }},
			{admission.UnknownCode, func() { b.put("hset", b.k.roster(), "c1", eh1+",A,B,") }},
			{admission.EmailMismatch, func() { r.EmailHash = eh1 }},
			{admission.NotAllowed, func() { b.put("hset", b.k.roster(), "c1", eh1+",A,N,") }},
			{admission.Closed, func() { b.put("hset", b.k.cfg(), "open", "1") }},
			{admission.UnknownLevel, func() { b.put("hset", b.k.cfg(), "cap:N", "2") }},
			{admission.BadArgument, func() { r.Seats = []string{"N9", "N1"} }},
			{admission.Corrupt, func() { b.put("hset", b.k.cfg(), "cap:N", "5") }},
			{admission.Taken, func() { r.Seats = []string{"N2", "N1"} }},
			{admission.SoldOut, func() { b.put("hset", b.k.cfg(), "cap", "3") }},
		}
		for i, s := range steps {
			before := b.dump()
			a := admit(r)
			if a.Outcome != s.want {
				t.Fatalf("step %d: %v, want %v", i, a.Outcome, s.want)
			}
			if diff := cmp.Diff(before, b.dump()); diff != "" {
				t.Fatalf("step %d: %v changed something:\n%s", i, s.want, diff)
			}
			s.mend()
		}
		must(t, admit(r), admission.Admitted)
	})
}

func TestAdmitGivesTheLowestSeats(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		r := b.req("b1", "c1")
		r.Count = 2
		before := time.Now().Add(-time.Second)
		a := must(t, admit(r), admission.Admitted)
		if diff := cmp.Diff([]string{"A-1", "A-2"}, a.Tokens); diff != "" {
			t.Error(diff)
		}
		if a.Stage != admission.StageAdmitted || a.Driver != 1 || a.Version != 0 || a.BookingID != "b1" {
			t.Errorf("answer %+v", a)
		}
		if a.AdmittedAt.Before(before) || a.HoldUntil.Sub(a.AdmittedAt) != 10*time.Minute {
			t.Errorf("admitted %v, hold until %v", a.AdmittedAt, a.HoldUntil)
		}
		rec, err := b.store.Record(b.ctx(), b.sale, "b1")
		if err != nil {
			t.Fatal(err)
		}
		want := admission.Record{BookingID: "b1", Candidate: "c1", Level: "A", Tokens: a.Tokens, Scores: []int64{1, 2},
			Key: idk1, InputHash: inh1, EmailHash: eh1, AdmittedAt: a.AdmittedAt, DriverAt: a.AdmittedAt, Stage: "A", Driver: 1,
			AmountMinor: 2500, Currency: "EUR", HoldUntil: a.HoldUntil, Gen: gen}
		if diff := cmp.Diff(want, rec); diff != "" {
			t.Error(diff)
		}
		if !b.pending("b1") {
			t.Error("it is not pending: a crash now would leak the seats")
		}
		b.conserved()
	})
}

func TestAdmitNamedSeatsAllOrNothing(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		r := b.req("b1", "c1")
		r.Level, r.Seats = "N", []string{"N3", "N1"}
		a := must(t, admit(r), admission.Admitted)
		if diff := cmp.Diff([]string{"N3", "N1"}, a.Tokens); diff != "" || a.Version == 0 {
			t.Errorf("version %d, %s", a.Version, diff)
		}
		r2 := b.req("b2", "c2")
		r2.Level, r2.Seats = "N", []string{"N2", "N3"}
		if a := must(t, admit(r2), admission.Taken); a.TakenSeat != "N3" {
			t.Errorf("taken %q", a.TakenSeat)
		}
		r2.Seats = []string{"N2", "N2"}
		must(t, admit(r2), admission.BadArgument)
		r2.Seats = nil
		must(t, admit(r2), admission.BadArgument)
		r2.Level, r2.Seats = "A", []string{"A-1"}
		must(t, admit(r2), admission.BadArgument)
		b.conserved()
	})
}

func TestAdmitBadCounts(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		for _, n := range []int{-1, 0, 11} {
			r := b.req("b1", "c1")
			r.Count = n
			must(t, admit(r), admission.BadArgument)
		}
		for _, spoil := range []func(*admission.Request){
			func(r *admission.Request) { r.BookingID = "" },
			func(r *admission.Request) { r.Candidate = "a|b" },
			func(r *admission.Request) { r.Level = "A,B" },
			func(r *admission.Request) { r.Key = "k|" },
			func(r *admission.Request) { r.InputHash = "x y" },
			func(r *admission.Request) { r.EmailHash = "short" },
			func(r *admission.Request) { r.Currency = "eu|" },
			func(r *admission.Request) { r.AmountMinor = -1 },
			func(r *admission.Request) { r.Seats = []string{"N|1"} },
			func(r *admission.Request) { r.Sale = "x}y" },
		} {
			r := b.req("b1", "c1")
			spoil(&r)
			must(t, admit(r), admission.BadArgument)
		}
	})
}

// A holder gets his own seat again, whatever has become of the sale (scenario 3,
// 3B.8): the replay comes before open, times and caps.
func TestAdmitReplay(t *testing.T) {
	for name, spoil := range map[string]func(b *bench){
		"at once":         func(b *bench) {},
		"after the close": func(b *bench) { b.put("hset", b.k.cfg(), "open", "0", "closes_ms", "1") },
		"before opens_ms": func(b *bench) {
			b.put("hset", b.k.cfg(), "opens_ms", fmt.Sprint(time.Now().Add(time.Hour).UnixMilli()))
		},
		"when everything is full": func(b *bench) { b.put("hset", b.k.cfg(), "cap", "1", "cap:A", "1"); b.put("del", b.k.free("A")) },
		"off the roster":          func(b *bench) { b.put("hdel", b.k.roster(), "c1") },
	} {
		t.Run(name, func(t *testing.T) {
			inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
				first := must(t, admit(b.req("b1", "c1")), admission.Admitted)
				spoil(b)
				again := must(t, admit(b.req("b1", "c1")), admission.Replayed)
				first.Outcome, first.Version = again.Outcome, 0
				if diff := cmp.Diff(first, again); diff != "" {
					t.Error(diff)
				}
				if n := b.admin.HGet(b.ctx(), b.k.cfg(), "replays").Val(); n != "1" {
					t.Errorf("replays = %q: a replay must write, or WAIT doesn't cover it", n)
				}
			})
		})
	}
}

func TestAdmitSameKey(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		first := must(t, admit(b.req("b1", "c1")), admission.Admitted)
		b.put("hset", b.k.cfg(), "open", "0")
		same := must(t, admit(b.req("b2", "c1")), admission.Same)
		if same.BookingID != "b1" || same.Stage != admission.StageAdmitted || same.Record == nil ||
			same.Record.BookingID != "b1" || !same.HoldUntil.Equal(first.HoldUntil) || len(same.Record.Tokens) != 1 {
			t.Errorf("same %+v", same)
		}
		other := b.req("b3", "c1")
		other.InputHash = "input-2"
		must(t, admit(other), admission.Mismatch)
	})
}

func TestAdmitDuplicate(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		first := must(t, admit(b.req("b1", "c1")), admission.Admitted)
		for _, key := range []string{"key-2", ""} {
			other := b.req("b2", "c1")
			other.Key, other.Level = key, "B"
			dup := must(t, admit(other), admission.Duplicate)
			want := admission.Answer{Outcome: admission.Duplicate, BookingID: "b1", Stage: "A", EmailMatches: true, HoldUntil: first.HoldUntil, Level: "A"}
			if diff := cmp.Diff(want, dup); diff != "" {
				t.Error(diff)
			}
			other.EmailHash = eh2
			if dup := must(t, admit(other), admission.Duplicate); dup.EmailMatches {
				t.Error("another e-mail matched")
			}
		}
	})
}

func TestAdmitAfterRelease(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		must(t, admit(b.req("b1", "c1")), admission.Admitted)
		b.undo("b1", "A", admission.UndoRelease, 0)
		if a := must(t, admit(b.req("b2", "c1")), admission.Released); a.BookingID != "b1" {
			t.Errorf("released %q", a.BookingID)
		}
		other := b.req("b2", "c1")
		other.InputHash = "input-2"
		must(t, admit(other), admission.Mismatch)
		fresh := b.req("b2", "c1")
		fresh.Key = "key-2"
		must(t, admit(fresh), admission.Admitted)
	})
}

func TestAdmitSameKeyStartsAnewAfterAbort(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		must(t, admit(b.req("b1", "c1")), admission.Admitted)
		b.undo("b1", "A", admission.UndoAbort, 0)
		must(t, admit(b.req("b1", "c1")), admission.Dead) // a delayed copy
		must(t, admit(b.req("b2", "c1")), admission.Admitted)
	})
}

func TestAdmitRosterVersion(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		r := b.req("b1", "stranger")
		r.RosterVersion = "v0"
		must(t, admit(r), admission.UnknownCode) // a stale version is checked here
		r.RosterVersion = ""
		must(t, admit(r), admission.UnknownCode)
		r.RosterVersion = "v1"
		must(t, admit(r), admission.Admitted) // the caller has checked this version
		noMail := b.req("b2", "c2")
		noMail.EmailHash = ""
		must(t, admit(noMail), admission.Admitted) // skips the e-mail test only
		b.put("hset", b.k.cfg(), "open", "0")
		proven := b.req("b3", "c99")
		proven.RosterVersion = admission.ProvenRoster
		must(t, admit(proven), admission.Admitted)
		full := b.req("b4", "c98")
		full.RosterVersion, full.Count = admission.ProvenRoster, 3
		must(t, admit(full), admission.LevelFull) // caps are never skipped
	})
}

func TestAdmitTimes(t *testing.T) {
	for name, cfg := range map[string][]any{
		"flag":           {"open", "0"},
		"before opening": {"opens_ms", "99999999999999"},
		"after closing":  {"closes_ms", "1000"},
		"without times":  {"opens_ms", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
				b.put(append([]any{"hset", b.k.cfg()}, cfg...)...)
				opens := b.admin.HGet(b.ctx(), b.k.cfg(), "opens_ms").Val()
				a := must(t, admit(b.req("b1", "c1")), admission.Closed)
				if got := millis(a.OpensAt); got != opens && opens != "" || opens == "" && !a.OpensAt.IsZero() {
					t.Errorf("opens at %s, want %s", got, opens)
				}
			})
		})
	}
}

func TestAdmitEdgesRaiseTheVersion(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		r := b.req("b1", "c1")
		r.Count = 4
		if a := must(t, admit(r), admission.Admitted); a.Version != 0 {
			t.Errorf("version %d with a seat left", a.Version)
		}
		last := must(t, admit(b.req("b2", "c2")), admission.Admitted)
		if last.Version == 0 {
			t.Error("the last seat of the level raised no version")
		}
		must(t, admit(b.req("b3", "c3")), admission.LevelFull)
		total := b.req("b4", "c4")
		total.Level, total.Count = "B", 2
		must(t, admit(total), admission.Admitted)
		b.put("hset", b.k.cfg(), "cap", "8")
		end := b.req("b5", "c5")
		end.Level = "B"
		if a := must(t, admit(end), admission.Admitted); a.Version != last.Version+1 {
			t.Errorf("version %d at the total cap, want %d", a.Version, last.Version+1)
		}
		named := b.req("b6", "c6")
		named.Level, named.Seats = "N", []string{"N1"}
		must(t, admit(named), admission.SoldOut)
	})
}

// soft puts a soft hold of a seated level by hand (protocol.md 4).
func (b *bench) soft(bid, c, level string, deadline time.Time, seats ...string) {
	b.t.Helper()
	rec := admission.Record{BookingID: bid, Candidate: c, Level: level, Stage: admission.StageSoft, Driver: 1,
		DriverAt: deadline, HoldUntil: deadline, AdmittedAt: deadline, Currency: "EUR", EmailHash: eh1, Gen: gen}
	for _, s := range seats {
		score := b.admin.ZScore(b.ctx(), b.k.free(level), s).Val()
		rec.Tokens, rec.Scores = append(rec.Tokens, s), append(rec.Scores, int64(score))
		b.put("zrem", b.k.free(level), s)
		b.put("hset", b.k.seat(), s, bid)
	}
	b.put("hset", b.k.bk(), bid, packRecord(&rec))
	b.put("hset", b.k.seen(), c, bid)
	b.put("incrby", b.k.total(), len(seats))
	b.put("incrby", b.k.level(level), len(seats))
	b.put("zadd", b.k.soft(level), deadline.UnixMilli(), bid)
}

func TestAdmitFreesExpiredSoftHolds(t *testing.T) {
	past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		b.soft("s1", "c1", "N", past, "N1", "N2")
		b.soft("s2", "c2", "N", future, "N3")
		r := b.req("b3", "c3")
		r.Level, r.Seats = "N", []string{"N3"}
		must(t, admit(r), admission.Taken) // frees the expired one on its way
		if b.admin.HExists(b.ctx(), b.k.bk(), "s1").Val() || b.admin.HExists(b.ctx(), b.k.seen(), "c1").Val() {
			t.Error("the expired soft hold is still there")
		}
		r.Seats = []string{"N1", "N2"}
		must(t, admit(r), admission.Admitted)
		b.conserved()
	})
}

func TestAdmitOwnSoftHold(t *testing.T) {
	past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		b.soft("s1", "c1", "N", past, "N1")
		b.soft("s2", "c2", "N", future, "N2")
		b.soft("s3", "c3", "N", past, "N3")
		mine := b.req("b1", "c1")
		mine.Level, mine.Seats = "N", []string{"N1"}
		must(t, admit(mine), admission.Admitted) // one's own expired hold refuses nobody
		alive := b.req("b2", "c2")
		alive.Level, alive.Seats = "N", []string{"N2"}
		if dup := must(t, admit(alive), admission.Duplicate); dup.Stage != admission.StageSoft {
			t.Errorf("stage %q", dup.Stage)
		}
		b.conserved()
	})
}

func TestAdmitCorruptRecord(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		b.put("hset", b.k.seen(), "c1", "b0")
		must(t, admit(b.req("b1", "c1")), admission.Corrupt)
		b.put("hset", b.k.bk(), "b0", "not a record")
		must(t, admit(b.req("b1", "c1")), admission.Corrupt)
		b.put("incr", b.k.level("A"))
		must(t, admit(b.req("b2", "c2")), admission.Corrupt)
	})
}

func TestAdmitUnknownSaleAndLevel(t *testing.T) {
	inEachForm(t, func(t *testing.T, b *bench, admit admitFunc) {
		r := b.req("b1", "c1")
		r.Level = "Z"
		must(t, admit(r), admission.UnknownLevel)
		if n := b.admin.Exists(b.ctx(), b.k.level("Z"), b.k.free("Z")).Val(); n != 0 {
			t.Error("an unknown level left keys")
		}
		b.put("del", b.k.cfg())
		must(t, admit(b.req("b1", "c1")), admission.StaleGen)
	})
}

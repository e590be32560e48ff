package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

// newSeatBench installs a sale with the seated levels H (H1..H20) and K (K1..K5)
// and the counted level A (5), 30 seats in all, and a roster of c1..c9.
func newSeatBench(t *testing.T) *bench {
	t.Helper()
	b := bareBench(t, pair, Config{})
	b.installHall(30)
	return b
}

func (b *bench) installHall(total int) {
	b.t.Helper()
	b.install(func(p *admission.Plan) {
		p.TotalCap = total
		p.Levels = []admission.LevelPlan{
			{Name: "A", Kind: "c", Cap: 5, Next: 6},
			{Name: "H", Kind: "s", Cap: 20, Next: 1, Tokens: numbered("H", 20)},
			{Name: "K", Kind: "s", Cap: 5, Next: 1, Tokens: numbered("K", 5)},
		}
	})
	b.roster("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9")
}

func numbered(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + strconv.Itoa(i+1)
	}
	return list
}

// wish is a good request of candidate c for seats of H, held for five minutes of at most ten.
func (b *bench) wish(hold, c string, seats ...string) admission.HoldRequest {
	return admission.HoldRequest{Sale: b.sale, HoldID: hold, Candidate: c, Level: "H", Gen: gen, EmailHash: eh1,
		AmountMinor: int64(100 * len(seats)), Currency: "EUR", Seats: seats, For: 5 * time.Minute, Max: 10 * time.Minute}
}

func (b *bench) hold(r admission.HoldRequest, want admission.Outcome) admission.HoldAnswer {
	b.t.Helper()
	a, err := b.store.Hold(b.ctx(), r)
	if err != nil {
		b.t.Fatalf("hold %s: %v", r.HoldID, err)
	}
	if a.Outcome != want {
		b.t.Fatalf("hold %s %v: %v, want %v (%+v)", r.HoldID, r.Seats, a.Outcome, want, a)
	}
	return a
}

// book is a request of candidate c to book its hold.
func (b *bench) book(bid, c string) admission.Request {
	r := b.req(bid, c)
	r.Level, r.Count, r.AmountMinor = "H", 0, 0
	return r
}

func (b *bench) promote(r admission.Request, hold string, want admission.Outcome) admission.Answer {
	b.t.Helper()
	a, err := b.store.Promote(b.ctx(), r, hold)
	if err != nil {
		b.t.Fatalf("promote %s: %v", hold, err)
	}
	return must(b.t, a, want)
}

// expire moves a hold's deadline to the past: the clock of a server can't be moved.
func (b *bench) expire(hold string) {
	b.t.Helper()
	raw, err := b.admin.HGet(b.ctx(), b.k.bk(), hold).Result()
	if err != nil {
		b.t.Fatalf("hold %s: %v", hold, err)
	}
	f := strings.Split(raw, "|")
	f[3] = "1000"
	b.put("hset", b.k.bk(), hold, strings.Join(f, "|"))
	b.put("zadd", b.k.soft(f[6]), 1000, hold)
}

func (b *bench) owner(seat string) string { return b.admin.HGet(b.ctx(), b.k.seat(), seat).Val() }

// sound fails the test unless every level conserves its seats, every seat is
// either free or owned by one record that names it, and all counts agree.
func (b *bench) sound() {
	b.t.Helper()
	if err := b.soundness(); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) soundness() error {
	ctx, owned := b.ctx(), 0
	m, err := b.store.Seats(ctx, b.sale, []string{"H", "K"})
	if err != nil {
		return err
	}
	for _, h := range m.Holders {
		for _, s := range h.Seats {
			if o := b.owner(s); o != h.ID {
				return fmt.Errorf("seat %s of %s is owned by %q", s, h.ID, o)
			}
			owned++
		}
		if _, err := b.admin.ZScore(ctx, b.k.soft(h.Level), h.ID).Result(); (err == nil) != (h.Stage == admission.StageSoft) {
			return fmt.Errorf("%s at stage %s: soft says %v", h.ID, h.Stage, err)
		}
	}
	st, err := b.store.Status(ctx, b.sale, []string{"A", "H", "K"})
	if err != nil {
		return err
	}
	sum := 0
	for _, l := range st.Levels {
		if l.Used+l.Free != l.Cap {
			return fmt.Errorf("level %s: used %d + free %d, cap %d", l.Name, l.Used, l.Free, l.Cap)
		}
		sum += l.Used
	}
	if counted := st.Levels[0].Used; sum != st.Used || sum != len(b.owners()) || sum != owned+counted {
		return fmt.Errorf("levels use %d seats, the total says %d, %d are owned by records", sum, st.Used, owned+counted)
	}
	for _, l := range []string{"H", "K"} {
		for _, s := range b.admin.ZRange(ctx, b.k.free(l), 0, -1).Val() {
			if o := b.owner(s); o != "" {
				return fmt.Errorf("seat %s is free and owned by %s", s, o)
			}
		}
	}
	return nil
}

// TestHoldAnswersInOrder gives every request the faults of all later answers: the
// first check that fails must speak.
func TestHoldAnswersInOrder(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("other", "c9", "H1"), admission.Admitted)
	r := b.wish("h", "nobody", "H1", "H1")
	r.Gen, r.EmailHash, r.Level = gen+1, eh2, "Q"
	b.put("zadd", b.k.dead(), 1, "h")
	b.put("hset", b.k.cfg(), "open", 0)
	b.put("hset", b.k.seen(), "nobody", "ghost")
	b.hold(r, admission.BadArgument)
	r.Seats = []string{"H1", "H2"}
	b.hold(r, admission.StaleGen)
	r.Gen = gen
	b.hold(r, admission.Dead)
	b.put("zrem", b.k.dead(), "h")
	b.hold(r, admission.Corrupt)
	b.put("hdel", b.k.seen(), "nobody")
	r.Change = true
	b.hold(r, admission.HoldGone)
	r.Change = false
	b.hold(r, admission.UnknownCode)
	if err := b.store.PutRoster(b.ctx(), b.sale, []admission.RosterEntry{{Candidate: "nobody", EmailHash: eh1, Levels: []string{"K"}}}); err != nil {
		t.Fatal(err)
	}
	b.hold(r, admission.EmailMismatch)
	r.EmailHash = eh1
	b.hold(r, admission.NotAllowed)
	b.roster("nobody")
	if a := b.hold(r, admission.Closed); a.OpensAt.IsZero() {
		t.Error("closed without the time at which it opens")
	}
	b.put("hset", b.k.cfg(), "open", 1)
	b.hold(r, admission.UnknownLevel)
	r.Level = "A"
	b.hold(r, admission.BadArgument) // a counted level
	r.Level = "H"
	b.put("incr", b.k.level("H"))
	b.hold(r, admission.Corrupt)
	b.put("decr", b.k.level("H"))
	b.put("hset", b.k.cfg(), "cap", 2)
	if a := b.hold(r, admission.Taken); !slices.Equal(a.Taken, []string{"H1"}) {
		t.Errorf("taken %v, want H1", a.Taken)
	}
	r.Seats = []string{"H2", "H3"}
	b.hold(r, admission.SoldOut)
	b.put("hset", b.k.cfg(), "cap", 30)
	b.hold(r, admission.Admitted)
	b.sound()
}

func TestHoldRefusesWhatNoScriptMaySee(t *testing.T) {
	b := newSeatBench(t)
	before := b.dump()
	for name, change := range map[string]func(*admission.HoldRequest){
		"no seats": func(r *admission.HoldRequest) { r.Seats = nil }, "eleven seats": func(r *admission.HoldRequest) { r.Seats = numbered("H", 11) },
		"twice": func(r *admission.HoldRequest) { r.Seats = []string{"H1", "H1"} }, "separator": func(r *admission.HoldRequest) { r.Seats = []string{"H|1"} },
		"no time": func(r *admission.HoldRequest) { r.For = 0 }, "past": func(r *admission.HoldRequest) { r.For = -time.Minute }, "no maximum": func(r *admission.HoldRequest) { r.Max = 0 },
		"no e-mail": func(r *admission.HoldRequest) { r.EmailHash = "" }, "no id": func(r *admission.HoldRequest) { r.HoldID = "" }, "negative": func(r *admission.HoldRequest) { r.AmountMinor = -1 },
	} {
		r := b.wish("h", "c1", "H1")
		change(&r)
		if a := b.hold(r, admission.BadArgument); a.HoldID != r.HoldID {
			t.Errorf("%s: names %q", name, a.HoldID)
		}
	}
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
}

func TestHoldIsAllOrNothing(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H2", "H4"), admission.Admitted)
	before := b.dump()
	a := b.hold(b.wish("h2", "c2", "H1", "H2", "H3", "H4"), admission.Taken)
	if !slices.Equal(a.Taken, []string{"H2", "H4"}) {
		t.Errorf("taken %v", a.Taken)
	}
	b.hold(b.wish("h2", "c2", "H1", "Z9"), admission.Taken) // no such seat, or a blocked one
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Errorf("a refusal wrote:\n%s", diff)
	}
	b.sound()
}

func TestHoldReplayOfALostAnswer(t *testing.T) {
	b := newSeatBench(t)
	first := b.hold(b.wish("h1", "c1", "H1", "H2"), admission.Admitted)
	again := b.hold(b.wish("h1", "c1", "H1", "H2"), admission.Admitted)
	if again.First != first.First || again.Until.Before(first.Until) {
		t.Errorf("first %v until %v, then %v until %v", first.First, first.Until, again.First, again.Until)
	}
	b.sound()
}

func TestHoldSameKey(t *testing.T) {
	b := newSeatBench(t)
	r := b.wish("h1", "c1", "H1")
	r.Key, r.InputHash = "k", "i"
	b.hold(r, admission.Admitted)
	r.HoldID = "h2"
	if a := b.hold(r, admission.Same); a.HoldID != "h1" || a.Record == nil || !slices.Equal(a.Record.Tokens, []string{"H1"}) || a.Until.IsZero() {
		t.Errorf("same: %+v", a)
	}
	r.InputHash = "j"
	b.hold(r, admission.Mismatch)
	b.expire("h1")
	b.hold(r, admission.Admitted) // an expired hold answers for no key
	b.sound()
}

func TestHoldReplacesTheChoice(t *testing.T) {
	b := newSeatBench(t)
	first := b.hold(b.wish("h1", "c1", "H1", "H2", "H3"), admission.Admitted)
	change := b.wish("h1", "c1", "H3", "H4")
	change.Change = true
	a := b.hold(change, admission.Admitted)
	if a.First != first.First {
		t.Errorf("the first hold began at %v, then at %v", first.First, a.First)
	}
	if b.owner("H1") != "" || b.owner("H2") != "" || b.owner("H3") != "h1" || b.owner("H4") != "h1" {
		t.Error("the choice was not replaced")
	}
	b.hold(b.wish("h2", "c2", "H5"), admission.Admitted)
	before := b.dump()
	change.Seats = []string{"H4", "H5"}
	b.hold(change, admission.Taken)
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Errorf("a refused change dropped something:\n%s", diff)
	}
	b.sound()
}

// TestHoldChangeAtTheTotalCap swaps seats when the sale has none left.
func TestHoldChangeAtTheTotalCap(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1", "H2"), admission.Admitted)
	b.put("hset", b.k.cfg(), "cap", 2)
	change := b.wish("h1", "c1", "H3", "H4")
	change.Change = true
	b.hold(change, admission.Admitted)
	change.Seats = []string{"H3", "H4", "H5"}
	b.hold(change, admission.SoldOut)
	change.Seats = []string{"H3"}
	b.hold(change, admission.Admitted)
	b.sound()
}

func TestHoldChangeNeedsALiveHold(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	change := b.wish("guess", "c1", "H2")
	change.Change = true
	b.hold(change, admission.HoldGone) // another id: not the owner
	change.HoldID = "h1"
	b.expire("h1")
	b.hold(change, admission.HoldGone)
	b.sound()
}

// TestTabOneCannotFreeTabTwo: a second tab's hold replaces the first tab's in one
// step, and the first tab's late release frees nothing (protocol.md 3A row 46).
func TestTabOneCannotFreeTabTwo(t *testing.T) {
	b := newSeatBench(t)
	first := b.hold(b.wish("tab1", "c1", "H1", "H2"), admission.Admitted)
	second := b.hold(b.wish("tab2", "c1", "H2", "H3"), admission.Admitted)
	if second.First != first.First {
		t.Error("a second tab makes the candidate's time begin again")
	}
	u, err := b.store.Undo(b.ctx(), admission.Undo{Sale: b.sale, BookingID: "tab1", Candidate: "c1", Level: "H", Mode: admission.UndoQuick, Driver: 1})
	if err != nil || u.Outcome != admission.Gone {
		t.Errorf("tab 1's release: %+v, %v", u, err)
	}
	if b.owner("H1") != "" || b.owner("H2") != "tab2" || b.owner("H3") != "tab2" {
		t.Error("tab 2 does not hold its seats")
	}
	b.hold(b.wish("tab1", "c1", "H2"), admission.Dead) // a delayed copy of tab 1's request
	b.sound()
}

func TestHoldMovesToAnotherLevel(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1", "H2"), admission.Admitted)
	r := b.wish("h2", "c1", "K1")
	r.Level = "K"
	b.hold(r, admission.Admitted)
	b.sound()
	r = b.wish("h2", "c1", "H7")
	r.Change = true
	b.hold(r, admission.Admitted)
	b.sound()
	if b.owner("K1") != "" || b.owner("H7") != "h2" {
		t.Error("the hold did not move")
	}
	b.expire("h2")
	r = b.wish("h3", "c1", "K1")
	r.Level = "K"
	b.hold(r, admission.Admitted) // one's own expired hold of another level
	b.sound()
}

func TestHoldMeetsABooking(t *testing.T) {
	b := newSeatBench(t)
	must(t, b.mustAdmit(b.req("b1", "c1")), admission.Admitted)
	a := b.hold(b.wish("h1", "c1", "H1"), admission.Duplicate)
	if a.BookingID != "b1" || a.Stage != admission.StageAdmitted || !a.EmailMatches || a.Level != "A" {
		t.Errorf("duplicate: %+v", a)
	}
	change := b.wish("b1", "c1", "H1")
	change.Change = true
	b.hold(change, admission.HoldGone)
	b.sound()
}

func (b *bench) mustAdmit(r admission.Request) admission.Answer {
	b.t.Helper()
	a, err := b.store.Admit(b.ctx(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// TestAThousandExpiredHoldsRefuseNobody: holds, admissions of named seats, and,
// after a lapse, admissions of another level.
func TestAThousandExpiredHoldsRefuseNobody(t *testing.T) {
	b := bareBench(t, pair, Config{})
	b.install(func(p *admission.Plan) {
		p.TotalCap = 1_010
		p.Levels = []admission.LevelPlan{{Name: "A", Kind: "c", Cap: 50, Next: 51},
			{Name: "H", Kind: "s", Cap: 1_010, Next: 1, Tokens: numbered("H", 1_010)}, {Name: "K", Kind: "s", Cap: 5, Next: 1, Tokens: numbered("K", 5)}}
	})
	var all []string
	for i := range 1_003 {
		all = append(all, "p"+strconv.Itoa(i))
	}
	b.roster(all...)
	for i := range 1_000 {
		b.hold(b.wish("h"+strconv.Itoa(i), all[i], "H"+strconv.Itoa(i+1)), admission.Admitted)
	}
	for i := range 1_000 {
		b.expire("h" + strconv.Itoa(i))
	}
	b.hold(b.wish("n0", all[1_000], "H500", "H700", "H900"), admission.Admitted)
	r := b.book("n1", all[1_001])
	r.Seats = []string{"H501", "H701", "H901"}
	must(t, b.mustAdmit(r), admission.Admitted)
	b.hold(b.wish("own", all[450], "H451", "H1001"), admission.Admitted) // who had an expired one itself
	if left := b.admin.ZCard(b.ctx(), b.k.soft("H")).Val(); left < 900 {
		t.Fatalf("only %d expired holds are left: the rest of the test needs them", left)
	}
	// A counted level sees no soft holds; the total has to come back for it.
	b.put("hset", b.k.cfg(), "cap", 100)
	counted := b.req("n2", all[1_002])
	must(t, b.mustAdmit(counted), admission.SoldOut)
	freed := 0
	for {
		n, version, err := b.store.Lapse(b.ctx(), b.sale, "H", 300)
		if err != nil {
			t.Fatal(err)
		}
		if (version > 0) != (n > 0) {
			t.Errorf("lapse of %d answers version %d", n, version)
		}
		if freed += n; n == 0 {
			break
		}
	}
	counted.BookingID = "n3"
	must(t, b.mustAdmit(counted), admission.Admitted)
	b.sound()
}

// TestHoldFreesExpiredHoldsAtTheTotalCap needs no lapse in its own level.
func TestHoldFreesExpiredHoldsAtTheTotalCap(t *testing.T) {
	b := bareBench(t, pair, Config{})
	b.install(func(p *admission.Plan) {
		p.TotalCap = 60
		p.Levels = []admission.LevelPlan{{Name: "A", Kind: "c", Cap: 5, Next: 6},
			{Name: "H", Kind: "s", Cap: 100, Next: 1, Tokens: numbered("H", 100)}, {Name: "K", Kind: "s", Cap: 5, Next: 1, Tokens: numbered("K", 5)}}
	})
	for i := range 60 {
		c := "p" + strconv.Itoa(i)
		b.roster(c)
		b.hold(b.wish("h"+c, c, "H"+strconv.Itoa(i+1)), admission.Admitted)
	}
	for i := range 60 {
		b.expire("hp" + strconv.Itoa(i))
	}
	b.roster("c1")
	b.hold(b.wish("h", "c1", numbered("H", 10)...), admission.Admitted)
	b.sound()
	change := b.wish("h", "c1", numbered("H", 10)...)
	change.HoldID, change.Candidate = "big", "p1"
	change.Seats = []string{"H91", "H92", "H93", "H94", "H95", "H96", "H97", "H98", "H99", "H100"}
	b.hold(change, admission.Admitted)
	b.sound()
}

func TestExtend(t *testing.T) {
	b := newSeatBench(t)
	a := b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	e := admission.Extension{Sale: b.sale, HoldID: "h1", Level: "H", Gen: gen, For: 8 * time.Minute, Max: 10 * time.Minute}
	extend := func(want admission.Outcome) admission.HoldAnswer {
		t.Helper()
		a, err := b.store.Extend(b.ctx(), e)
		if err != nil || a.Outcome != want {
			t.Fatalf("extend: %v %v, want %v", a.Outcome, err, want)
		}
		return a
	}
	longer := extend(admission.Admitted)
	if d := longer.Until.Sub(longer.Now); d != 8*time.Minute || longer.Version == 0 || !longer.Until.After(a.Until) {
		t.Errorf("extended to %v from now, version %d", d, longer.Version)
	}
	e.For = time.Minute
	if shorter := extend(admission.Admitted); shorter.Until != longer.Until || shorter.Version != 0 {
		t.Errorf("shortened to %v, version %d", shorter.Until, shorter.Version)
	}
	e.For = time.Hour
	if most := extend(admission.Admitted); most.Until != a.First.Add(10*time.Minute) {
		t.Errorf("extended to %v after the first hold, want the absolute maximum", most.Until.Sub(a.First))
	}
	again := b.hold(b.wish("h2", "c1", "H2"), admission.Admitted)
	if again.Until != a.First.Add(10*time.Minute) {
		t.Errorf("a new hold in place of the old reaches %v after the first", again.Until.Sub(a.First))
	}
	e.Level, e.HoldID = "K", "h2"
	extend(admission.Admitted) // the level was a guess
	e.Gen++
	extend(admission.StaleGen)
	e.Gen--
	e.HoldID = "h1"
	extend(admission.HoldGone) // replaced
	e.HoldID = "h2"
	b.expire("h2")
	extend(admission.HoldGone)
	must(t, b.mustAdmit(b.req("b9", "c9")), admission.Admitted)
	e.HoldID = "b9"
	extend(admission.HoldGone) // a booking is no hold
	b.sound()
}

func TestReleaseOfAHold(t *testing.T) {
	b := newSeatBench(t)
	b.hold(b.wish("h1", "c1", "H1", "H2"), admission.Admitted)
	u := admission.Undo{Sale: b.sale, BookingID: "h1", Candidate: "c1", Level: "K", Mode: admission.UndoQuick, Driver: 1}
	if a, err := b.store.Undo(b.ctx(), u); err != nil || a.Outcome != admission.Undone || a.Seats != 2 || a.Version == 0 {
		t.Fatalf("release: %+v, %v", a, err)
	}
	if a, err := b.store.Undo(b.ctx(), u); err != nil || a.Outcome != admission.Gone {
		t.Fatalf("second release: %+v, %v", a, err)
	}
	b.hold(b.wish("h2", "c2", "H1", "H2"), admission.Admitted)
	b.sound()
}

// TestADeadlineIsRedisTime lets a short hold pass by the server's clock alone.
func TestADeadlineIsRedisTime(t *testing.T) {
	b := newSeatBench(t)
	r := b.wish("h1", "c1", "H1")
	r.For = 30 * time.Millisecond
	a := b.hold(r, admission.Admitted)
	if d := a.Until.Sub(a.Now); d != 30*time.Millisecond {
		t.Fatalf("held for %v", d)
	}
	b.until(func() bool {
		other, err := b.store.Hold(b.ctx(), b.wish("h2", "c2", "H1"))
		if err != nil {
			t.Fatal(err)
		}
		if other.Outcome == admission.Admitted && other.Now.Before(a.Until) {
			t.Fatalf("taken %v before the deadline", a.Until.Sub(other.Now))
		}
		return other.Outcome == admission.Admitted
	})
	b.sound()
}

// until waits for a condition of the server.
func (b *bench) until(f func() bool) {
	b.t.Helper()
	for ctx := b.ctx(); !f(); {
		if ctx.Err() != nil {
			b.t.Fatal("it never came")
		}
	}
}

package redis

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

func (b *bench) attachment(bid string, driver int, pid string) admission.Attachment {
	return admission.Attachment{Sale: b.sale, BookingID: bid, Driver: driver, PaymentID: pid,
		URL: "https://pay.example/" + pid, HoldUntil: time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC(), StashFor: time.Hour}
}

func TestAttachAnswers(t *testing.T) {
	b := newBench(t)
	if a := b.attach("b1", 1, "pay-1"); a.Outcome != admission.AttachGone {
		t.Fatalf("no record: %+v", a)
	}
	first := b.admit(b.req("b1", "c1"))
	if a := b.attach("b1", 2, "pay-1"); a.Outcome != admission.AttachSuperseded {
		t.Fatalf("another driver: %+v", a)
	}
	at := b.attachment("b1", 1, "pay-1")
	at.Acknowledge = true
	got, err := b.store.Attach(b.ctx(), at)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(admission.AttachAnswer{Outcome: admission.Attached, PaymentID: "pay-1", HoldUntil: at.HoldUntil}, got); diff != "" {
		t.Error(diff)
	}
	rec, _ := b.store.Record(b.ctx(), b.sale, "b1")
	if rec.Stage != admission.StageAttached || rec.PaymentID != "pay-1" || !rec.HoldUntil.Equal(at.HoldUntil) || !rec.AdmittedAt.Equal(first.AdmittedAt) {
		t.Errorf("record %+v", rec)
	}
	if a := b.attach("b1", 1, "pay-1"); a.Outcome != admission.Attached || !a.HoldUntil.Equal(at.HoldUntil) {
		t.Errorf("the same attach again: %+v", a)
	}
	if a := b.attach("b1", 1, "pay-2"); a.Outcome != admission.AlreadyAttached || a.PaymentID != "pay-1" {
		t.Errorf("another payment: %+v", a)
	}
	url, err := b.store.Stash(b.ctx(), b.sale, "b1")
	if err != nil || url != at.URL {
		t.Errorf("stash %q, %v", url, err)
	}
}

func TestAttachNeverShortensTheHold(t *testing.T) {
	b := newBench(t)
	first := b.admit(b.req("b1", "c1"))
	at := b.attachment("b1", 1, "pay-1")
	at.HoldUntil = first.HoldUntil.Add(-time.Minute)
	a, err := b.store.Attach(b.ctx(), at)
	if err != nil || !a.HoldUntil.Equal(first.HoldUntil) {
		t.Fatalf("%+v, %v; want the hold of the admission", a, err)
	}
}

func TestAttachLeavesASoftHoldAlone(t *testing.T) {
	b := newBench(t)
	b.soft("s1", "c1", "N", time.Now().Add(time.Hour), "N1")
	if a := b.attach("s1", 1, "pay-1"); a.Outcome != admission.AttachSuperseded {
		t.Fatalf("%+v", a)
	}
}

func TestAttachRefusesSeparators(t *testing.T) {
	b := newBench(t)
	for _, pid := range []string{"", "a|b", "a,b", "a b", "a}b", "a\nb"} {
		if _, err := b.store.Attach(b.ctx(), b.attachment("b1", 1, pid)); !errors.Is(err, admission.ErrInvalid) {
			t.Errorf("payment id %q: %v", pid, err)
		}
	}
}

// TestStash: a payment's page is kept in the record, and nothing that comes with a
// URL can pass for a field of it; the single form and the vector form alike.
func TestStash(t *testing.T) {
	b := newBench(t)
	group := NewCommitter(b.store, CommitOptions{})
	for name, attach := range map[string]func(context.Context, admission.Attachment) (admission.AttachAnswer, error){"single": b.store.Attach, "vector": group.Attach} {
		t.Run(name, func(t *testing.T) {
			for url, want := range map[string]string{
				"https://pay.example/x?a=1|2#%s": "https://pay.example/x?a=1%7C2#%s",
				"":                               "", "https://pay.example/a b": "", "https://pay.example/é": "", strings.Repeat("u", maxURL+1): "",
				strings.Repeat("u", maxURL): strings.Repeat("u", maxURL),
			} {
				b.admit(b.req("b1", "c1"))
				at := b.attachment("b1", 1, "pay-1")
				at.URL = url
				if a, err := attach(b.ctx(), at); err != nil || a.Outcome != admission.Attached {
					t.Fatalf("%.50q: %+v, %v", url, a, err)
				}
				got, err := b.store.Stash(b.ctx(), b.sale, "b1")
				if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, admission.ErrNotFound) {
					t.Errorf("%.50q: %.50q, %v", url, got, err)
				}
				if rec, err := b.store.Record(b.ctx(), b.sale, "b1"); err != nil || rec.PaymentID != "pay-1" || rec.Stage != admission.StageAttached {
					t.Errorf("%.50q: %+v, %v", url, rec, err)
				}
				if a, err := attach(b.ctx(), at); err != nil || a.PaymentID != "pay-1" || a.Outcome != admission.Attached {
					t.Errorf("%.50q again: %+v, %v", url, a, err)
				}
				b.undo("b1", "A", admission.UndoRelease, 0)
				b.put("del", b.k.dead(), b.k.last())
			}
			if _, err := b.store.Stash(b.ctx(), b.sale, "b2"); !errors.Is(err, admission.ErrNotFound) {
				t.Fatalf("no booking: %v", err)
			}
		})
	}
}

// TestStashRunsOut by Redis TIME.
func TestStashRunsOut(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	at := b.attachment("b1", 1, "pay-1")
	at.StashFor = time.Millisecond
	if _, err := b.store.Attach(b.ctx(), at); err != nil {
		t.Fatal(err)
	}
	began, err := b.store.time(b.ctx(), b.k.cfg())
	for now := began; err == nil && now.Sub(began) < 2*time.Millisecond; {
		now, err = b.store.time(b.ctx(), b.k.cfg())
	}
	if url, err := b.store.Stash(b.ctx(), b.sale, "b1"); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("%q, %v", url, err)
	}
}

func TestSettleComparesTheBooking(t *testing.T) {
	b := newBench(t)
	settle := func(bid, c string, paid bool) bool {
		t.Helper()
		went, err := b.store.Settle(b.ctx(), b.sale, bid, c, paid)
		if err != nil {
			t.Fatal(err)
		}
		return went
	}
	b.admit(b.req("b1", "c1"))
	if settle("b0", "c1", false) {
		t.Error("an old booking settled the present one (scenario 22)")
	}
	if settle("b", "c1", false) {
		t.Error("a prefix of the id settled it")
	}
	if !settle("b1", "c1", false) || settle("b1", "c1", false) {
		t.Error("pending went not exactly once")
	}
	b.attach("b1", 1, "pay-1")
	settle("b1", "c1", true)
	rec, _ := b.store.Record(b.ctx(), b.sale, "b1")
	if rec.Stage != admission.StagePaid || rec.PaymentID != "pay-1" {
		t.Errorf("record %+v", rec)
	}
	if _, err := b.store.Stash(b.ctx(), b.sale, "b1"); !errors.Is(err, admission.ErrNotFound) {
		t.Error("the stash outlived the payment")
	}
	if raw := b.admin.HGet(b.ctx(), b.k.bk(), "b1").Val(); strings.Contains(raw, "://") {
		t.Errorf("the page of a payment that is made takes memory: %s", raw)
	}
	settle("b1", "c1", true)
	if a := b.attach("b1", 1, "pay-9"); a.Outcome != admission.AlreadyAttached {
		t.Errorf("attach after paid: %+v", a)
	}
}

func TestResumeAnswers(t *testing.T) {
	b := newBench(t)
	resume := func(key, input string, silent time.Duration) admission.ResumeAnswer {
		t.Helper()
		a, err := b.store.Resume(b.ctx(), b.sale, "b1", key, input, silent)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := resume(idk1, inh1, 0); a.Outcome != admission.ResumeGone {
		t.Fatalf("%+v", a)
	}
	b.admit(b.req("b1", "c1"))
	for _, wrong := range [][2]string{{"", inh1}, {"key-2", inh1}, {idk1, "input-2"}} {
		if a := resume(wrong[0], wrong[1], 0); a.Outcome != admission.ResumeMismatch {
			t.Errorf("%v: %+v", wrong, a)
		}
	}
	if a := resume(idk1, inh1, time.Hour); a.Outcome != admission.ResumeBusy {
		t.Errorf("busy: %+v", a)
	}
	a := resume(idk1, inh1, 0)
	if a.Outcome != admission.Resumed || a.Record.Driver != 2 || a.Record.Candidate != "c1" || a.Record.Tokens[0] != "A-1" {
		t.Errorf("resumed: %+v", a)
	}
	stored, _ := b.store.Record(b.ctx(), b.sale, "b1")
	if diff := cmp.Diff(stored, *a.Record); diff != "" {
		t.Error(diff)
	}
	b.attach("b1", 2, "pay-1")
	if a := resume(idk1, inh1, 0); a.Outcome != admission.ResumeHave || a.Stage != admission.StageAttached {
		t.Errorf("attached: %+v", a)
	}
}

func (b *bench) live(bid, c string, tokens ...string) admission.Record {
	r := admission.Record{BookingID: bid, Candidate: c, Level: "A", Tokens: tokens, Stage: admission.StageAttached, Driver: 1,
		PaymentID: "pay-" + bid, AmountMinor: 1, Currency: "EUR", Gen: gen, Key: idk1, InputHash: inh1, EmailHash: eh1,
		AdmittedAt: time.UnixMilli(1000).UTC(), DriverAt: time.UnixMilli(1000).UTC(), HoldUntil: time.UnixMilli(2000).UTC()}
	for _, token := range tokens {
		number, _ := strconv.ParseInt(token[strings.LastIndex(token, "-")+1:], 10, 64)
		r.Scores = append(r.Scores, number)
	}
	return r
}

func TestReseedAnswers(t *testing.T) {
	b := newBench(t)
	reseed := func(r admission.Record) admission.ReseedAnswer {
		t.Helper()
		a, err := b.store.Reseed(b.ctx(), b.sale, r)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	b.undo("b0", "A", admission.UndoAbort, 0)
	if a := reseed(b.live("b0", "c1", "A-1")); a.Outcome != admission.ReseedDead {
		t.Errorf("dead: %+v", a)
	}
	rec := b.live("b1", "c1", "A-2", "A-3")
	a := reseed(rec)
	if a.Outcome != admission.Reseeded || a.Retired != 0 || a.Version == 0 || !a.Acknowledged {
		t.Errorf("%+v", a)
	}
	got, err := b.store.Record(b.ctx(), b.sale, "b1")
	if diff := cmp.Diff(rec, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if a := reseed(rec); a.Outcome != admission.ReseedHave {
		t.Errorf("again: %+v", a)
	}
	if a := reseed(b.live("b2", "c1", "A-4")); a.Outcome != admission.ReseedCandidate || a.Other != "b1" {
		t.Errorf("candidate: %+v", a)
	}
	if a := reseed(b.live("b2", "c2", "A-4", "A-3")); a.Outcome != admission.ReseedSeat || a.Other != "b1" {
		t.Errorf("seat: %+v", a)
	}
	// A token that is nowhere retires the highest free one: A-5 goes.
	if a := reseed(b.live("b2", "c2", "A-77")); a.Outcome != admission.Reseeded || a.Retired != 1 {
		t.Errorf("retired: %+v", a)
	}
	if free := b.admin.ZRange(b.ctx(), b.k.free("A"), 0, -1).Val(); cmp.Diff([]string{"A-1", "A-4"}, free) != "" {
		t.Errorf("free %v", free)
	}
	b.conserved()
	if a := reseed(b.live("b3", "c3", "A-1", "A-4", "A-88")); a.Outcome != admission.ReseedNoFree {
		t.Errorf("no free: %+v", a)
	}
	for _, token := range []string{"B-1", "A-", "A", "A-1-x", "7"} { // no token of level A
		if a := reseed(b.live("b3", "c3", token)); a.Outcome != admission.ReseedCorrupt {
			t.Errorf("%s: %+v", token, a)
		}
	}
	b.conserved()
	b.put("incr", b.k.level("A"))
	if a := reseed(b.live("b3", "c3", "A-1")); a.Outcome != admission.ReseedCorrupt {
		t.Errorf("corrupt: %+v", a)
	}
}

// TestCapChangeThatComesTooLate: an operator stalls between intent and script;
// others finish his change and make newer ones; then his script runs.
func TestCapChangeThatComesTooLate(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		level  string
		cap    int
		serial int64
		want   admission.CapOutcome
	}{
		{"A", 4, 1, admission.CapSet}, {"A", 5, 3, admission.CapSet},
		{"A", 4, 1, admission.CapLate}, {"", 1, 2, admission.CapLate}, // whatever they change
		{"A", 5, 3, admission.CapSet}, // a repeat of the last one
		{"", 5, 4, admission.CapSet}, {"A", 5, 3, admission.CapLate},
	} {
		a, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: c.level, Cap: c.cap, First: 6, Serial: c.serial})
		if err != nil || a.Outcome != c.want {
			t.Errorf("cap %d of %q, serial %d: %v, %v", c.cap, c.level, c.serial, a.Outcome, err)
		}
	}
	if s, err := b.store.Status(b.ctx(), b.sale, []string{"A"}); err != nil || s.TotalCap != 5 || s.Levels[0].Cap != 5 {
		t.Errorf("total %d, level %+v, %v", s.TotalCap, s.Levels, err)
	}
}

func TestCapAnswers(t *testing.T) {
	b := newBench(t)
	set := func(level string, n, first int) admission.CapAnswer {
		t.Helper()
		a, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: level, Cap: n, First: first})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	r := b.req("b1", "c1")
	r.Count = 2
	b.admit(r)
	if a := set("A", -1, 0); a.Outcome != admission.CapBad {
		t.Errorf("%+v", a)
	}
	if a, _ := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen + 1, Level: "A", Cap: 1}); a.Outcome != admission.CapGen {
		t.Errorf("%+v", a)
	}
	if a := set("", 1, 0); a.Outcome != admission.CapUsed || a.Used != 2 || a.Cap != 9 {
		t.Errorf("total below used: %+v", a)
	}
	if a := set("", 6, 0); a.Outcome != admission.CapSet || a.Cap != 6 || a.Version == 0 || !a.Acknowledged {
		t.Errorf("total: %+v", a)
	}
	if a := set("N", 3, 0); a.Outcome != admission.CapSeated {
		t.Errorf("%+v", a)
	}
	if a := set("Z", 3, 0); a.Outcome != admission.CapNoLevel {
		t.Errorf("%+v", a)
	}
	if a := set("A", 1, 0); a.Outcome != admission.CapUsed || a.Used != 2 || a.Cap != 5 {
		t.Errorf("cut below used: %+v", a)
	}
	if a := set("A", 3, 0); a.Outcome != admission.CapSet || a.Cap != 3 || a.Next != 6 {
		t.Errorf("cut: %+v", a)
	}
	if free := b.admin.ZRange(b.ctx(), b.k.free("A"), 0, -1).Val(); cmp.Diff([]string{"A-3"}, free) != "" {
		t.Errorf("a cut must take the highest: free %v", free)
	}
	if a := set("A", 5, 6); a.Outcome != admission.CapSet || a.Cap != 5 || a.Next != 8 {
		t.Errorf("raise: %+v", a)
	}
	if free := b.admin.ZRange(b.ctx(), b.k.free("A"), 0, -1).Val(); cmp.Diff([]string{"A-3", "A-6", "A-7"}, free) != "" {
		t.Errorf("a raise after a cut must mint new numbers only: free %v", free)
	}
	if a := set("A", 5, 6); a.Cap != 5 || a.Next != 8 {
		t.Errorf("the same raise again: %+v", a)
	}
	if a := set("B", 1500, 20); a.Cap != 1003 || a.Next != 1020 {
		t.Errorf("a call mints at most 1,000: %+v", a)
	}
	if a := set("B", 1500, 20); a.Cap != 1500 || a.Next != 1517 {
		t.Errorf("second call: %+v", a)
	}
	b.conserved()
	b.put("incr", b.k.level("A"))
	if a := set("A", 9, 0); a.Outcome != admission.CapCorrupt {
		t.Errorf("%+v", a)
	}
}

func TestStatusIsOneReading(t *testing.T) {
	b := newBench(t)
	if _, err := b.store.Status(b.ctx(), "nosuchsale", nil); !errors.Is(err, admission.ErrNotFound) {
		t.Fatalf("unknown sale: %v", err)
	}
	b.admit(b.req("b1", "c1"))
	b.admit(b.req("b2", "c2"))
	b.store.Settle(b.ctx(), b.sale, "b1", "c1", false)
	st, err := b.store.Status(b.ctx(), b.sale, []string{"A", "N", "Z"})
	if err != nil {
		t.Fatal(err)
	}
	p := b.plan()
	if st.Now.IsZero() || st.OpensAt.IsZero() || !st.ClosesAt.After(p.OpensAt) {
		t.Errorf("times %+v", st)
	}
	st.Now, st.OpensAt, st.ClosesAt = time.Time{}, time.Time{}, time.Time{}
	want := admission.Status{Sale: b.sale, Gen: gen, Version: 1, Open: true, Hold: p.Hold, TotalCap: 9, Used: 2, RosterVersion: "v1", RosterSize: 9, Bookings: 2, Pending: 1,
		Levels: []admission.LevelStatus{{Name: "A", Kind: "c", Cap: 5, Used: 2, Free: 3}, {Name: "N", Kind: "s", Cap: 4, Free: 4}, {Name: "Z"}}}
	if diff := cmp.Diff(want, st); diff != "" {
		t.Error(diff)
	}
}

package admissiontest

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
)

const theSale = "spring"

func open(t *testing.T) (*Redis, *time.Time) {
	t.Helper()
	now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	r := New(func() time.Time { return now })
	err := r.Install(t.Context(), admission.Plan{Sale: theSale, Gen: 1, OpensAt: now, ClosesAt: now.Add(time.Hour), Hold: 10 * time.Minute,
		TotalCap: 2, Open: true, RosterVersion: "r1", Levels: []admission.LevelPlan{{Name: "N1", Kind: "c", Cap: 2, Next: 3}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, &now
}

func request(id, candidate string) admission.Request {
	return admission.Request{Sale: theSale, BookingID: id, Candidate: candidate, Level: "N1", Gen: 1, RosterVersion: "r1", Currency: "BDT", Count: 1}
}

func admit(t *testing.T, r *Redis, q admission.Request, want admission.Outcome) admission.Answer {
	t.Helper()
	a, err := r.Admit(t.Context(), q)
	if err != nil || a.Outcome != want {
		t.Fatalf("admit %s: %v, %v; want %v", q.BookingID, a.Outcome, err, want)
	}
	return a
}

func used(t *testing.T, r *Redis, want int) {
	t.Helper()
	s, err := r.Status(t.Context(), theSale, []string{"N1"})
	if err != nil || s.Used != want || s.Levels[0].Used != want || s.Levels[0].Free != 2-want || s.Bookings != want {
		t.Fatalf("%+v, %v; want %d used", s, err, want)
	}
}

func TestAnswersInTheirOrder(t *testing.T) {
	r, now := open(t)
	q := request("B1", "c1")
	q.Key, q.InputHash = "k", "x"
	admit(t, r, q, admission.Admitted)
	admit(t, r, q, admission.Replayed)
	other := q
	other.BookingID = "B2"
	admit(t, r, other, admission.Same)
	other.InputHash = "y"
	admit(t, r, other, admission.Mismatch)
	other.Key = ""
	if a := admit(t, r, other, admission.Duplicate); a.BookingID != "B1" {
		t.Errorf("duplicate of %s", a.BookingID)
	}
	unchecked := request("B3", "c9")
	unchecked.RosterVersion = ""
	admit(t, r, unchecked, admission.UnknownCode)
	unchecked.RosterVersion = admission.ProvenRoster
	if a := admit(t, r, unchecked, admission.Admitted); a.Version == 0 {
		t.Error("the last seat raised no version")
	}
	admit(t, r, request("B4", "c4"), admission.LevelFull)
	*now = now.Add(2 * time.Hour)
	admit(t, r, request("B4", "c4"), admission.Closed)
	admit(t, r, q, admission.Replayed) // a holder is never refused
	stale := request("B5", "c5")
	stale.Gen = 2
	admit(t, r, stale, admission.StaleGen)
	used(t, r, 2)
}

func TestUndoBarsTheIdAndRemembersTheKey(t *testing.T) {
	r, _ := open(t)
	q := request("B1", "c1")
	q.Key = "k"
	admit(t, r, q, admission.Admitted)
	u := admission.Undo{Sale: theSale, BookingID: "B1", Candidate: "c1", Level: "N1", Mode: admission.UndoRelease}
	for _, want := range []admission.UndoOutcome{admission.Undone, admission.Gone} {
		a, err := r.Undo(t.Context(), u)
		if err != nil || a.Outcome != want || !a.Acknowledged {
			t.Fatalf("%+v, %v; want %v", a, err, want)
		}
	}
	admit(t, r, q, admission.Dead)
	q.BookingID = "B2"
	admit(t, r, q, admission.Released)
	used(t, r, 0)
}

func TestQuickUndoStopsAtAnAttachedBooking(t *testing.T) {
	r, _ := open(t)
	admit(t, r, request("B1", "c1"), admission.Admitted)
	u := admission.Undo{Sale: theSale, BookingID: "B1", Mode: admission.UndoQuick, Driver: 2}
	undo := func(want admission.UndoOutcome) {
		t.Helper()
		if a, err := r.Undo(t.Context(), u); err != nil || a.Outcome != want {
			t.Fatalf("%+v, %v; want %v", a, err, want)
		}
	}
	undo(admission.Superseded)
	q := admission.Attachment{Sale: theSale, BookingID: "B1", Driver: 1, PaymentID: "gw:p", URL: "u", StashFor: time.Minute}
	for range 2 {
		if a, err := r.Attach(t.Context(), q); err != nil || a.Outcome != admission.Attached {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	u.Driver = 1
	undo(admission.Armed)
	used(t, r, 1)
}

func TestFaultsOfAnAdmission(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		err   error
		used  int
	}{{FailBefore, ErrFailed, 0}, {LoseAnswer, ErrAnswerLost, 1}, {ShortWait, admission.ErrUnacknowledged, 0}, {GhostWait, admission.ErrUnacknowledged, 1}} {
		r, _ := open(t)
		r.Fault = func(string) Fault { return c.fault }
		if _, err := r.Admit(t.Context(), request("B1", "c1")); !errors.Is(err, c.err) {
			t.Errorf("fault %d: %v", c.fault, err)
		}
		r.Fault = nil
		used(t, r, c.used)
	}
}

func TestFailoverLosesOnlyWhatWasNotAcknowledged(t *testing.T) {
	r, _ := open(t)
	admit(t, r, request("B1", "c1"), admission.Admitted)
	r.Fault = func(string) Fault { return GhostWait }
	if _, err := r.Admit(t.Context(), request("B2", "c2")); err == nil {
		t.Fatal("acknowledged")
	}
	r.Fault = nil
	used(t, r, 2)
	if lost := r.Failover(9); lost != 1 {
		t.Errorf("lost %d writes", lost)
	}
	used(t, r, 1)
	if r.Failover(9) != 0 || r.Rewind(1) != 1 {
		t.Error("an acknowledged write was lost, or a stale replica lost none")
	}
	used(t, r, 0)
}

func TestReseedRetiresATokenForOneThatIsNowhere(t *testing.T) {
	r, _ := open(t)
	rec := admission.Record{BookingID: "B1", Candidate: "c1", Level: "N1", Tokens: []string{"N1-9"}, Scores: []int64{9}, Stage: admission.StagePaid, Driver: 1}
	for _, want := range []admission.ReseedOutcome{admission.Reseeded, admission.ReseedHave} {
		if a, err := r.Reseed(t.Context(), theSale, rec); err != nil || a.Outcome != want {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	used(t, r, 1)
	if a := admit(t, r, request("B2", "c2"), admission.Admitted); a.Tokens[0] != "N1-1" {
		t.Errorf("got %v; the highest free token should have gone", a.Tokens)
	}
	rec.BookingID = "B3"
	if a, err := r.Reseed(t.Context(), theSale, rec); err != nil || a.Outcome != admission.ReseedCandidate || a.Other != "B1" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestCapsUpAndDown(t *testing.T) {
	r, _ := open(t)
	admit(t, r, request("B1", "c1"), admission.Admitted)
	for _, c := range []struct {
		level   string
		cap     int
		outcome admission.CapOutcome
	}{{"N1", 0, admission.CapUsed}, {"N1", 1, admission.CapSet}, {"N1", 2, admission.CapSet}, {"", 0, admission.CapUsed}, {"", 9, admission.CapSet}, {"N9", 1, admission.CapNoLevel}} {
		if a, err := r.SetCap(t.Context(), admission.CapChange{Sale: theSale, Gen: 1, Level: c.level, Cap: c.cap}); err != nil || a.Outcome != c.outcome {
			t.Fatalf("level %q cap %d: %+v, %v", c.level, c.cap, a, err)
		}
	}
	if a := admit(t, r, request("B2", "c2"), admission.Admitted); a.Tokens[0] != "N1-3" {
		t.Errorf("got %v; numbers are never reused", a.Tokens)
	}
}

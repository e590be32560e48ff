package model

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger/invariant"
)

// TestRedisAgreesWithAdmissiontest runs the same random calls on the model's
// Redis and on admissiontest, which the adapter's own tests hold to the real
// server: same answers, same state after each.
func TestRedisAgreesWithAdmissiontest(t *testing.T) {
	for _, c := range []Config{{}, {OneCandidate: true}, {TwoSeats: true}, {TwoSeats: true, OneCandidate: true},
		{Groups: true, Holds: true}, {Groups: true, Holds: true, OneCandidate: true}} {
		t.Run(fmt.Sprintf("candidate=%v,seats=%v,holds=%v", c.OneCandidate, c.TwoSeats, c.Holds), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { newTwins(t, c).run(t) })
		})
	}
}

// twins are the two, side by side.
type twins struct {
	m     *Model
	r     redis
	real  *admissiontest.Redis
	clock *time.Time
}

func newTwins(t *rapid.T, c Config) *twins {
	now := noon
	w := &twins{m: New(c, Rules{}), real: admissiontest.New(func() time.Time { return now }), clock: &now}
	w.r = w.m.unsold()
	l := admission.LevelPlan{Name: level, Kind: "c", Cap: 1, Next: 2}
	if c.TwoSeats || c.Groups {
		l = admission.LevelPlan{Name: level, Kind: "s", Cap: 2, Tokens: tokens[:]}
	}
	p := admission.Plan{Sale: saleID, Gen: 1, OpensAt: noon.Add(-time.Hour), ClosesAt: noon.Add(time.Hour), Hold: time.Minute,
		TotalCap: l.Cap, Open: true, RosterVersion: "v", Levels: []admission.LevelPlan{l}}
	roster := func(ctx context.Context) error {
		return w.real.PutRoster(ctx, saleID, []admission.RosterEntry{{Candidate: candidateNames[0], EmailHash: "e"}, {Candidate: candidateNames[1], EmailHash: "e"}})
	}
	if err := w.real.Install(context.Background(), p, roster); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *twins) run(t *rapid.T) {
	b := rapid.Custom(func(t *rapid.T) bid { return bid(rapid.IntRange(0, bookings-1).Draw(t, "booking")) })
	driver := rapid.IntRange(1, maxDrivers)
	actions := map[string]func(*rapid.T){
		"":        w.compare,
		"S1":      func(t *rapid.T) { w.admit(t, b.Draw(t, "b")) },
		"S2":      func(t *rapid.T) { w.undo(t, b.Draw(t, "b"), false, 0) },
		"S2q":     func(t *rapid.T) { w.undo(t, b.Draw(t, "b"), true, driver.Draw(t, "driver")) },
		"S3":      func(t *rapid.T) { w.settle(t, b.Draw(t, "b"), rapid.Bool().Draw(t, "paid")) },
		"S4":      func(t *rapid.T) { w.reseed(t, b.Draw(t, "b"), rapid.Bool().Draw(t, "paid")) },
		"S5":      func(t *rapid.T) { w.attach(t, b.Draw(t, "b"), driver.Draw(t, "driver")) },
		"S10":     func(t *rapid.T) { w.resume(t, b.Draw(t, "b")) },
		"rebirth": func(t *rapid.T) { *w = *newTwins(t, w.m.cfg) },
	}
	if w.m.cfg.Holds {
		w.withHolds(actions)
	}
	t.Repeat(actions)
}

// want compares an answer, by name.
func want[O comparable](t *rapid.T, what string, got O, err error, said answer, names map[answer]O) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if w, known := names[said]; !known || got != w {
		t.Fatalf("%s: admissiontest says %v, the model %v", what, got, said)
	}
}

func (w *twins) admit(t *rapid.T, b bid) {
	q := admission.Request{Sale: saleID, BookingID: bidNames[b], Candidate: candidateNames[w.m.candidate(b)], Level: level, Gen: 1,
		Key: "k" + bidNames[b], InputHash: "x", RosterVersion: "v", AmountMinor: 1, Currency: "EUR", Count: 1}
	if w.m.seats() == 2 {
		q.Count, q.Seats = 0, tokensOf(w.m.group(b))
	}
	next, said := w.m.admit(w.r, b)
	w.r = next
	a, err := w.real.Admit(context.Background(), q)
	refusal := admission.LevelFull
	if w.m.seats() == 2 {
		refusal = admission.Taken
	}
	want(t, "S1 "+bidNames[b], a.Outcome, err, said, map[answer]admission.Outcome{ok: admission.Admitted, replayed: admission.Replayed,
		duplicate: admission.Duplicate, full: refusal, dead: admission.Dead, corrupt: admission.Corrupt})
}

func (w *twins) undo(t *rapid.T, b bid, quick bool, driver int) {
	u := admission.Undo{Sale: saleID, BookingID: bidNames[b], Candidate: candidateNames[w.m.candidate(b)], Level: level,
		Mode: admission.UndoAbort, Driver: driver}
	if quick {
		u.Mode = admission.UndoQuick
	}
	next, said := w.m.undo(w.r, b, quick, uint8(driver))
	w.r = next
	a, err := w.real.Undo(context.Background(), u)
	want(t, "S2 "+bidNames[b], a.Outcome, err, said, map[answer]admission.UndoOutcome{undone: admission.Undone, gone: admission.Gone,
		armed: admission.Armed, superseded: admission.Superseded})
}

func (w *twins) settle(t *rapid.T, b bid, paid bool) {
	was := w.r.pending(w.m.candidate(b)) == b
	w.r = w.m.settle(w.r, b, paid)
	went, err := w.real.Settle(context.Background(), saleID, bidNames[b], candidateNames[w.m.candidate(b)], paid)
	if err != nil || went != was {
		t.Fatalf("S3 %s: admissiontest says %v (%v), the model %v", bidNames[b], went, err, was)
	}
}

func (w *twins) reseed(t *rapid.T, b bid, paid bool) {
	as, stage := attached, admission.StageAttached
	if paid {
		as, stage = settled, admission.StagePaid
	}
	next, said := w.m.reseed(w.r, b, as)
	w.r = next
	rec := admission.Record{BookingID: bidNames[b], Candidate: candidateNames[w.m.candidate(b)], Level: level, Tokens: tokensOf(w.m.group(b)),
		Scores: scoresOf(w.m.group(b)), Key: "k" + bidNames[b], InputHash: "x", Stage: stage, Driver: 1, PaymentID: "p" + bidNames[b], Gen: 1}
	a, err := w.real.Reseed(context.Background(), saleID, rec)
	want(t, "S4 "+bidNames[b], a.Outcome, err, said, map[answer]admission.ReseedOutcome{ok: admission.Reseeded, have: admission.ReseedHave,
		dead: admission.ReseedDead, candidateTaken: admission.ReseedCandidate, seatTaken: admission.ReseedSeat, noFree: admission.ReseedNoFree,
		corrupt: admission.ReseedCorrupt})
}

func (w *twins) attach(t *rapid.T, b bid, driver int) {
	next, said := w.m.attach(w.r, b, uint8(driver))
	w.r = next
	a, err := w.real.Attach(context.Background(), admission.Attachment{Sale: saleID, BookingID: bidNames[b], Driver: driver,
		PaymentID: "p" + bidNames[b], StashFor: time.Minute})
	if a.Outcome == admission.AlreadyAttached { // the port says attached if the payment is the same; the model knows but one
		a.Outcome = admission.Attached
	}
	want(t, "S5 "+bidNames[b], a.Outcome, err, said, map[answer]admission.AttachOutcome{ok: admission.Attached, have: admission.Attached,
		gone: admission.AttachGone, superseded: admission.AttachSuperseded})
}

func (w *twins) resume(t *rapid.T, b bid) {
	if w.r.driver(b) == maxDrivers {
		return // the model has no room for another one
	}
	next, said, d := w.m.resume(w.r, b)
	w.r = next
	a, err := w.real.Resume(context.Background(), saleID, bidNames[b], "k"+bidNames[b], "x", 0)
	want(t, "S10 "+bidNames[b], a.Outcome, err, said, map[answer]admission.ResumeOutcome{ok: admission.Resumed, have: admission.ResumeHave,
		gone: admission.ResumeGone})
	if said == ok && a.Record.Driver != int(d) {
		t.Fatalf("S10 %s: driver %d, the model says %d", bidNames[b], a.Record.Driver, d)
	}
}

// seen is what can be compared of a state. Dead marks show in the answers.
type seen struct {
	Records    map[string]string
	Pending    map[string]string
	Candidates map[string]string
	Used, Free int
}

func (w *twins) compare(t *rapid.T) {
	if diff := cmp.Diff(w.theirs(t), w.ours()); diff != "" {
		t.Fatalf("the states differ (-admissiontest +model):\n%s", diff)
	}
}

func (w *twins) ours() seen {
	s := seen{Records: map[string]string{}, Pending: map[string]string{}, Candidates: map[string]string{}, Used: int(w.r.count()), Free: int(w.r.unsold())}
	for b := range bid(bookings) {
		if at := w.r.stage(b); at != absent {
			s.Records[bidNames[b]] = fmt.Sprint(stages[at], w.r.driver(b), tokensOf(w.r.owned(b)))
		}
	}
	for h := holdOf(0); h.isHold(); h++ {
		if w.r.hold(h) != noHold {
			s.Records[bidNames[h]] = fmt.Sprint(invariant.SoftHeld, 1, tokensOf(w.r.owned(h)))
		}
	}
	for c, name := range candidateNames {
		if b := w.r.pending(uint8(c)); b != noBid {
			s.Pending[name] = bidNames[b]
		}
		if b := w.r.seen(uint8(c)); b != noBid {
			s.Candidates[name] = bidNames[b]
		}
	}
	return s
}

func (w *twins) theirs(t *rapid.T) seen {
	ctx := context.Background()
	s := seen{Records: map[string]string{}, Pending: map[string]string{}, Candidates: map[string]string{}}
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	fail(w.real.ScanRecords(ctx, saleID, func(r admission.Record, _ bool) error {
		s.Records[r.BookingID] = fmt.Sprint(string(r.Stage), r.Driver, slices.Sorted(slices.Values(r.Tokens)))
		return nil
	}))
	fail(w.real.ScanPending(ctx, saleID, func(p admission.Pending) error { s.Pending[p.Candidate] = p.BookingID; return nil }))
	for _, c := range candidateNames {
		if b, err := w.real.CandidateBooking(ctx, saleID, c); err == nil {
			s.Candidates[c] = b
		}
	}
	st, err := w.real.Status(ctx, saleID, []string{level})
	fail(err)
	s.Used, s.Free = st.Levels[0].Used, st.Levels[0].Free
	return s
}

func scoresOf(mask uint8) (list []int64) {
	for _, s := range seatsOf(mask) {
		list = append(list, int64(s.Score))
	}
	return list
}

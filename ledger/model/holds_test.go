package model

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/admission"
)

const holdLife = time.Minute

// withHolds adds the scripts of soft holds, and time, to what twins are asked.
func (w *twins) withHolds(actions map[string]func(*rapid.T)) {
	h := rapid.Custom(func(t *rapid.T) bid { return holdOf(bid(rapid.IntRange(0, holds-1).Draw(t, "hold"))) })
	b := rapid.Custom(func(t *rapid.T) bid { return bid(rapid.IntRange(0, attempts-1).Draw(t, "booking")) })
	actions["S6"] = func(t *rapid.T) { w.choose(t, h.Draw(t, "h"), uint8(rapid.IntRange(1, 3).Draw(t, "seats"))) }
	actions["S2 hold"] = func(t *rapid.T) { w.letGo(t, h.Draw(t, "h")) }
	actions["S8"] = func(t *rapid.T) { w.promote(t, b.Draw(t, "b"), h.Draw(t, "h")) }
	actions["demote"] = func(t *rapid.T) { w.demote(t, b.Draw(t, "b"), rapid.IntRange(1, maxDrivers).Draw(t, "driver")) }
	actions["time"] = w.pass
}

// pass lets all deadlines pass. Dead marks stay: they live for ten minutes.
func (w *twins) pass(*rapid.T) {
	if w.clock.Sub(noon) > 4*holdLife {
		return
	}
	*w.clock = w.clock.Add(2 * holdLife)
	for h := holdOf(0); h.isHold(); h++ {
		w.r = w.r.late(h)
	}
}

func (w *twins) choose(t *rapid.T, h bid, mask uint8) {
	next, said := w.m.choose(w.r, h, mask)
	w.r = next
	a, err := w.real.Hold(context.Background(), admission.HoldRequest{Sale: saleID, HoldID: bidNames[h], Candidate: candidateNames[w.m.candidate(h.promotion())],
		Level: level, Gen: 1, EmailHash: "e", AmountMinor: 1, Currency: "EUR", Seats: tokensOf(mask), For: holdLife, Max: holdLife})
	want(t, "S6 "+bidNames[h], a.Outcome, err, said, map[answer]admission.Outcome{ok: admission.Admitted, duplicate: admission.Duplicate,
		dead: admission.Dead, corrupt: admission.Corrupt, full: admission.Taken})
}

func (w *twins) letGo(t *rapid.T, h bid) {
	next, said := w.m.letGo(w.r, h)
	w.r = next
	a, err := w.real.Undo(context.Background(), admission.Undo{Sale: saleID, BookingID: bidNames[h], Candidate: candidateNames[w.m.candidate(h.promotion())],
		Level: level, Mode: admission.UndoQuick, Driver: 1})
	want(t, "S2 "+bidNames[h], a.Outcome, err, said, map[answer]admission.UndoOutcome{undone: admission.Undone, gone: admission.Gone})
}

func (w *twins) promote(t *rapid.T, b, h bid) {
	next, said := w.m.promote(w.r, b, h)
	w.r = next
	a, err := w.real.Promote(context.Background(), admission.Request{Sale: saleID, BookingID: bidNames[b], Candidate: candidateNames[w.m.candidate(b)],
		Level: level, Gen: 1, Key: "k" + bidNames[b], InputHash: "x", RosterVersion: "v", EmailHash: "e"}, bidNames[h])
	want(t, "S8 "+bidNames[b]+" of "+bidNames[h], a.Outcome, err, said, map[answer]admission.Outcome{ok: admission.Admitted, replayed: admission.Replayed,
		duplicate: admission.Duplicate, dead: admission.Dead, gone: admission.HoldGone})
}

func (w *twins) demote(t *rapid.T, b bid, driver int) {
	h := w.r.was(b)
	if h == noBid {
		return // a plain quick undo
	}
	next, said := w.m.demote(w.r, b, uint8(driver))
	w.r = next
	a, err := w.real.Undo(context.Background(), admission.Undo{Sale: saleID, BookingID: bidNames[b], Candidate: candidateNames[w.m.candidate(b)],
		Level: level, Mode: admission.UndoQuick, Driver: driver, HoldID: bidNames[h]})
	want(t, "demote "+bidNames[b], a.Outcome, err, said, map[answer]admission.UndoOutcome{undone: admission.Undone, gone: admission.Gone,
		armed: admission.Armed, superseded: admission.Superseded})
}

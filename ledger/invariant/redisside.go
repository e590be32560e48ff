package invariant

import (
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// LsubR: every live booking is in Redis with the same candidate, level and
// seats (R1, INV3). A booking that Redis has lost is reseeded by S4.
func LsubR(s Snapshot) []Violation {
	r := report{invariant: "LsubR"}
	if s.Redis == nil {
		return nil
	}
	for id, b := range live(s) {
		rec, ok := s.Redis.Records[id]
		if !ok {
			r.add(id, "it is %s, but Redis has no record of it", b.State)
			continue
		}
		if rec.Candidate != b.Candidate || rec.Level != b.Level || !sameSet(rec.Tokens, b.Tokens()) {
			r.add(id, "the ledger has seats %v of level %s, Redis %v of %s, or the candidates differ", b.Tokens(), b.Level, rec.Tokens, rec.Level)
		}
		if owner := s.Redis.Seen[b.Candidate]; owner != id {
			r.add(id, "in Redis its candidate is admitted by %s", or(owner, "nothing"))
		}
		for _, token := range b.Tokens() {
			if owner := s.Redis.Seats[token]; owner != id {
				r.add(id, "in Redis its seat %s belongs to %s", token, or(owner, "nobody"))
			}
		}
	}
	return r.found
}

// NoOrphan: everything that Redis has admitted is live, pending, owes an undo
// or is a soft hold: one of the four things that sweeps look at (INV4).
func NoOrphan(s Snapshot) []Violation {
	r := report{invariant: "NoOrphan"}
	if s.Redis == nil {
		return nil
	}
	for id, rec := range sorted(s.Redis.Records) {
		b := s.Bookings[id]
		if b.State.Live() || b.UndoOwed || pending(s, id) {
			continue
		}
		if _, soft := s.Redis.Soft[id]; rec.Stage == SoftHeld && soft {
			continue
		}
		r.add(id, "Redis holds seats %v for it (stage %s), but it is %s and not pending", rec.Tokens, rec.Stage, standing(s, id))
	}
	return r.found
}

// Conserve: per level, seats given and free add up to the cap, and every
// counter is the sum of the records.
func Conserve(s Snapshot) []Violation {
	r := report{invariant: "Conserve"}
	if s.Redis == nil {
		return nil
	}
	v, given, total := s.Redis, map[string]int{}, 0
	for id, rec := range sorted(v.Records) {
		given[rec.Level] += len(rec.Tokens)
		total += len(rec.Tokens)
		for _, token := range rec.Tokens {
			if v.Seats[token] != id {
				r.add(id, "it names seat %s, which belongs to %s", token, or(v.Seats[token], "nobody"))
			}
		}
	}
	for _, l := range s.Plan.Levels {
		if v.Levels[l.Name]+v.Free[l.Name] != l.Cap {
			r.add(l.Name, "%d given and %d free are not the cap of %d", v.Levels[l.Name], v.Free[l.Name], l.Cap)
		}
		if v.Levels[l.Name] != given[l.Name] {
			r.add(l.Name, "the counter says %d, the records hold %d seats", v.Levels[l.Name], given[l.Name])
		}
	}
	if v.Total != total || len(v.Seats) != total {
		r.add(s.Plan.ID, "the total says %d, the seat map has %d, the records hold %d seats", v.Total, len(v.Seats), total)
	}
	return r.found
}

// PendHasSeat: every pending entry is an admission of its candidate.
func PendHasSeat(s Snapshot) []Violation {
	r := report{invariant: "PendHasSeat"}
	if s.Redis == nil {
		return nil
	}
	for candidate, p := range sorted(s.Redis.Pending) {
		rec, ok := s.Redis.Records[p.BookingID]
		switch {
		case !ok:
			r.add(p.BookingID, "it is pending, but Redis has no record of it")
		case rec.Candidate != candidate || s.Redis.Seen[candidate] != p.BookingID || rec.Level != p.Level:
			r.add(p.BookingID, "it is pending, but its candidate or level is another one's in the records")
		}
	}
	return r.found
}

// Quiet: at rest nothing is pending, owed or softly held, and Redis and the
// ledger hold the same bookings (protocol.md 3.8). Without a view of Redis only
// the ledger's half is judged.
func Quiet(s Snapshot) []Violation {
	r := report{invariant: "Quiet"}
	for id, b := range sorted(s.Bookings) {
		if b.UndoOwed {
			r.add(id, "it still owes an undo")
		}
	}
	for k, p := range s.Payments {
		if p.Refund == ledger.RefundDue || p.Refund == ledger.RefundSent {
			r.add(k.String(), "its refund is %s, not DONE", p.Refund)
		}
	}
	if s.Redis == nil {
		return r.found
	}
	for _, p := range sorted(s.Redis.Pending) {
		r.add(p.BookingID, "it is still pending")
	}
	for id := range sorted(s.Redis.Soft) {
		r.add(id, "it is still softly held")
	}
	for id := range sorted(s.Redis.Records) {
		if !s.Bookings[id].State.Live() {
			r.add(id, "Redis holds it, but it is %s", standing(s, id))
		}
	}
	for candidate, id := range sorted(s.Redis.Seen) {
		if b := s.Bookings[id]; !b.State.Live() || b.Candidate != candidate {
			r.add(candidate, "Redis has it admitted by %s, which is %s", id, standing(s, id))
		}
	}
	return r.found
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

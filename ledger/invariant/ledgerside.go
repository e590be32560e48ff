package invariant

import (
	"github.com/holdfast/holdfast/ledger"
)

// Caps: the seats that the ledger has given away are within each level's cap
// and within the sale's (protocol.md 3.10, INV1).
func Caps(s Snapshot) []Violation {
	r := report{invariant: "Caps"}
	sold, total := map[string]int{}, 0
	for _, id := range s.SeatOwners {
		sold[s.Bookings[id].Level]++ // an owner that is no booking is TokenOwner's affair
		total++
	}
	for level, n := range sorted(sold) {
		if l, known := s.Plan.Level(level); known && n > l.Cap {
			r.add(level, "%d seats are sold or held, the cap is %d", n, l.Cap)
		} else if !known {
			r.add(or(level, "(no level)"), "%d seats are sold or held in a level that the plan does not have", n)
		}
	}
	if total > s.Plan.TotalCap {
		r.add(s.Plan.ID, "%d seats are sold or held, the sale's cap is %d", total, s.Plan.TotalCap)
	}
	return r.found
}

// OneLive: a candidate has at most one live booking, and C names exactly it
// (INV2).
func OneLive(s Snapshot) []Violation {
	r := report{invariant: "OneLive"}
	for id, b := range live(s) {
		if owner := s.Claims[b.Candidate]; owner != id {
			r.add(id, "it is %s, but its candidate belongs to %s", b.State, or(owner, "nobody"))
		}
	}
	for candidate, id := range sorted(s.Claims) {
		if b, ok := s.Bookings[id]; !ok || !b.State.Live() || b.Candidate != candidate {
			r.add(candidate, "it belongs to booking %s, which is %s", id, standing(s, id))
		}
	}
	return r.found
}

// TokenOwner: every live booking owns exactly the seats it names, and nobody
// else owns any.
func TokenOwner(s Snapshot) []Violation {
	r := report{invariant: "TokenOwner"}
	named := map[string]string{}
	for id, b := range live(s) {
		if len(b.Seats) == 0 {
			r.add(id, "it is %s without a seat", b.State)
		}
		for _, token := range b.Tokens() {
			if owner := s.SeatOwners[token]; owner != id {
				r.add(id, "its seat %s belongs to %s", token, or(owner, "nobody"))
			}
			if first, twice := named[token]; twice {
				r.add(id, "its seat %s is also a seat of %s", token, first)
			}
			named[token] = id
		}
	}
	for token, id := range sorted(s.SeatOwners) {
		if named[token] == "" {
			r.add(token, "it belongs to booking %s, which is %s and does not name it", id, standing(s, id))
		}
	}
	return r.found
}

// Terminal: what was released stays released (R3), by each booking's history
// and against an earlier snapshot.
func Terminal(s Snapshot) []Violation {
	r := report{invariant: "Terminal"}
	for id, b := range sorted(s.Bookings) {
		for _, c := range b.History {
			if c.From == ledger.Released && c.To != ledger.Released {
				r.add(id, "it went from RELEASED to %s at %s by %s", c.To, c.At, c.Actor)
			}
		}
		if n := len(b.History); n > 0 && b.History[n-1].To != b.State {
			r.add(id, "it is %s, but its history ends with %s", b.State, b.History[n-1].To)
		}
	}
	for id, before := range sorted(s.Earlier) {
		if now, ok := s.Bookings[id]; before == ledger.Released && ok && now.State != ledger.Released {
			r.add(id, "it was RELEASED and is %s", now.State)
		}
	}
	return r.found
}

// AckDurable: every booking that a client was told of has been held, or is
// still on its way into the ledger, or was released for a reason that is
// recorded.
func AckDurable(s Snapshot) []Violation {
	r := report{invariant: "AckDurable"}
	for _, id := range s.Acked {
		b, ok := s.Bookings[id]
		switch {
		case !ok && !pending(s, id):
			r.add(id, "a client was told of it, the ledger does not know it and it is not pending")
		case ok && b.State == ledger.Released && b.Reason == "":
			r.add(id, "a client was told of it, and it was released without a reason")
		}
	}
	return r.found
}

func pending(s Snapshot, id string) bool {
	if s.Redis == nil {
		return false
	}
	rec, ok := s.Redis.Records[id]
	return ok && s.Redis.Pending[rec.Candidate].BookingID == id
}

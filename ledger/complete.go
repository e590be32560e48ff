package ledger

import "time"

// Instant is t as the ledger keeps it: UTC, cut to the millisecond.
func Instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// instants is b with all its times as the ledger keeps them.
func (b Booking) instants() Booking {
	b = b.Clone()
	for _, t := range []*time.Time{&b.AdmittedAt, &b.HoldUntil, &b.PaidAt, &b.ReleasedAt} {
		*t = Instant(*t)
	}
	return b
}

// complete checks that b says what the transition writes. A tombstone needs
// only its id and sale: it bars an id of which nothing else may be known.
func (b Booking) complete(n Name) error {
	required := []struct {
		what string
		ok   bool
	}{
		{"id", b.ID != ""},
		{"sale", b.Sale != ""},
		{"candidate", b.Candidate != "" || n == T4Tombstone},
		{"level", b.Level != "" || n == T4Tombstone},
		{"seats", len(b.Seats) > 0 || n == T4Tombstone},
		{"seats, each once", distinct(b.Seats)},
		{"payment", !b.Payment.Zero() || n != T1Hold},
		{"hold_until", !b.HoldUntil.IsZero() || n != T1Hold},
	}
	for _, r := range required {
		if !r.ok {
			return &IncompleteError{b.ID, n, r.what}
		}
	}
	return nil
}

func distinct(seats []Seat) bool {
	seen := make(map[string]bool, len(seats))
	for _, s := range seats {
		if s.Token == "" || seen[s.Token] {
			return false
		}
		seen[s.Token] = true
	}
	return true
}

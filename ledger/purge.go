package ledger

import "context"

// Purger forgets who booked, and keeps what was sold: seats, times, states,
// prices and payments stay, so that every invariant can still be checked and a
// payment that comes late still finds its booking.
type Purger interface {
	// PurgeBooking puts the booking's pseudonym in the place of its candidate, in
	// the booking and in the claim of a live one, and removes the hashes of
	// e-mail, idempotency key and input. changed is false where nothing personal
	// was left. Safe to repeat. ErrNotFound; ErrBusy if the booking keeps changing.
	PurgeBooking(ctx context.Context, bookingID string) (changed bool, err error)
	// PurgeParked empties the detail of a parked item that is done: it may hold a
	// whole event. changed is false where the item is open, empty or not there.
	PurgeParked(ctx context.Context, saleID, id string) (changed bool, err error)
}

// Pseudonym stands for the candidate of a purged booking. It is made of the
// booking's id alone, so a purge that is repeated writes the same, and two
// bookings of one person are two strangers.
func Pseudonym(bookingID string) string { return "purged-" + bookingID }

// Personal reports whether the booking still tells who booked.
func (b Booking) Personal() bool {
	known := b.Candidate != "" && b.Candidate != Pseudonym(b.ID)
	return known || b.EmailHash != "" || b.Key != "" || b.InputHash != ""
}

// Purged is the booking without what tells who booked.
func (b Booking) Purged() Booking {
	if b.Candidate != "" { // some tombstones never had one
		b.Candidate = Pseudonym(b.ID)
	}
	b.EmailHash, b.Key, b.InputHash = "", "", ""
	return b
}

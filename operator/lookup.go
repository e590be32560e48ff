package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// Candidate is what is known of one code.
type Candidate struct {
	Owner    string // the code's hash, as listings show it
	OnRoster bool
	Levels   []string        // what may be booked; empty: any
	Email    *bool           // nil: none was asked about
	Booking  *ledger.Booking // the live one; for those that are over: Ended
}

// Lookup finds a candidate by code, as a help desk does: is it on the roster,
// does the e-mail match (only if one is given), what is booked. The code is
// normalised as everywhere and goes nowhere but into its hash.
func (d *Desk) Lookup(ctx context.Context, saleID, code, email string) (Candidate, error) {
	if _, err := d.control(ctx, saleID); err != nil {
		return Candidate{}, err
	}
	normal, err := sale.NormaliseCode(code)
	if err != nil {
		return Candidate{}, refuse(CodeInvalid, nil, "%v", err)
	}
	found := Candidate{Owner: string(d.Hasher.Code(normal))}
	emailHash := ""
	if email != "" {
		address, err := sale.ParseEmail(email)
		if err != nil {
			return Candidate{}, refuse(CodeInvalid, nil, "%v", err)
		}
		emailHash = string(d.Hasher.Email(address))
	}
	err = d.Redis.ScanRoster(ctx, saleID, func(r admission.RosterEntry) error {
		if r.Candidate != found.Owner {
			return nil
		}
		found.OnRoster, found.Levels = true, r.Levels
		if emailHash != "" {
			same := r.EmailHash == emailHash
			found.Email = &same
		}
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return found, fmt.Errorf("operator: look through the roster of sale %s: %w", saleID, err)
	}
	return found, d.bookingOf(ctx, saleID, &found)
}

// bookingOf looks into Redis first: it holds every live booking, and those whose
// event is still under way.
func (d *Desk) bookingOf(ctx context.Context, saleID string, c *Candidate) error {
	id, err := d.Redis.CandidateBooking(ctx, saleID, c.Owner)
	if errors.Is(err, admission.ErrNotFound) {
		id, err = d.Store.CandidateBooking(ctx, saleID, c.Owner)
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("operator: look for the booking of a candidate: %w", err)
	}
	b, err := d.Booking(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) { // given back between the two reads
		return nil
	}
	if err != nil {
		return err
	}
	c.Booking = &b
	return nil
}

// shownEnded bounds what Ended returns: who books and gives back all day does not
// fill a screen.
const shownEnded = 20

// Ended returns the bookings of a candidate (Candidate.Owner) that are over, the
// latest first, at most twenty: what somebody asks about who had a seat. No index
// leads from candidates to them, because nothing else needs one: it reads every
// booking of the sale, so it is for a question and not for a loop.
func (d *Desk) Ended(ctx context.Context, saleID, owner string) ([]ledger.Booking, error) {
	var ended []ledger.Booking
	err := d.Store.Scan(ctx, saleID, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if b.Candidate == owner && b.State == ledger.Released {
			ended = append(ended, b)
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("operator: look for a candidate's ended bookings in sale %s: %w", saleID, err)
	}
	slices.SortFunc(ended, func(a, b ledger.Booking) int {
		return cmp.Or(b.AdmittedAt.Compare(a.AdmittedAt), cmp.Compare(a.ID, b.ID))
	})
	return ended[:min(len(ended), shownEnded)], nil
}

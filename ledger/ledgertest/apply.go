package ledgertest

import (
	"context"

	"github.com/holdfast/holdfast/ledger"
)

// Apply implements ledger.Store.
func (s *Store) Apply(ctx context.Context, t ledger.Transition) error {
	return s.do(ctx, "Apply:"+string(t.Name), func() error {
		if !s.allows(t) {
			return &ledger.ConditionError{Name: t.Name, Found: s.found(t)}
		}
		s.write(t)
		return nil
	})
}

// allows checks every condition before anything is written.
func (s *Store) allows(t ledger.Transition) bool {
	if t.Create != nil {
		if _, exists := s.bookings[t.Create.ID]; exists {
			return false
		}
	}
	if c := t.Update; c != nil {
		if b, ok := s.bookings[c.ID]; !ok || !c.Allows(b) {
			return false
		}
	}
	if l := t.Link; l != nil {
		if b, ok := s.bookings[l.BookingID]; !ok || !l.Allows(b) {
			return false
		}
	}
	if o := t.Claim; o != nil && !s.owners(*o, true) {
		return false
	}
	if o := t.Free; o != nil && !s.owners(*o, false) {
		return false
	}
	return t.Payment == nil || t.Payment.Allows(s.payment(t.Payment.Key))
}

// owners reports whether candidate and tokens are the booking's, or free where
// that will do.
func (s *Store) owners(o ledger.Ownership, free bool) bool {
	is := func(owner string) bool { return owner == o.BookingID || owner == "" && free }
	if !is(s.claims[owned{o.Sale, o.Candidate}]) {
		return false
	}
	for _, token := range o.Tokens {
		if !is(s.seats[owned{o.Sale, token}]) {
			return false
		}
	}
	return true
}

func (s *Store) write(t ledger.Transition) {
	if t.Create != nil {
		s.bookings[t.Create.ID] = t.Create.Clone()
	}
	if c := t.Update; c != nil {
		s.bookings[c.ID] = c.Apply(s.bookings[c.ID], t.At)
	}
	if l := t.Link; l != nil {
		b := s.bookings[l.BookingID]
		b.Successor = l.Successor
		s.bookings[l.BookingID] = b
	}
	if o := t.Claim; o != nil {
		s.claims[owned{o.Sale, o.Candidate}] = o.BookingID
		for _, token := range o.Tokens {
			s.seats[owned{o.Sale, token}] = o.BookingID
		}
	}
	if o := t.Free; o != nil {
		delete(s.claims, owned{o.Sale, o.Candidate})
		for _, token := range o.Tokens {
			delete(s.seats, owned{o.Sale, token})
		}
	}
	if c := t.Payment; c != nil {
		s.payments[c.Key] = c.Apply(s.payment(c.Key), t.At)
	}
}

// found looks at every item that the transition names.
func (s *Store) found(t ledger.Transition) ledger.Found {
	f := ledger.Found{Seats: map[string]string{}}
	if t.Create != nil || t.Update != nil {
		f.Booking = s.booking(t.BookingID())
	}
	if t.Link != nil {
		f.Linked = s.booking(t.Link.BookingID)
	}
	for _, o := range []*ledger.Ownership{t.Claim, t.Free} {
		if o == nil {
			continue
		}
		f.Candidate = s.claims[owned{o.Sale, o.Candidate}]
		for _, token := range o.Tokens {
			if owner := s.seats[owned{o.Sale, token}]; owner != "" {
				f.Seats[token] = owner
			}
		}
	}
	if t.Payment != nil {
		f.Payment = s.payment(t.Payment.Key)
	}
	return f
}

func (s *Store) booking(id string) *ledger.Booking {
	b, ok := s.bookings[id]
	if !ok {
		return nil
	}
	b = b.Clone()
	return &b
}

func (s *Store) payment(k ledger.PaymentKey) *ledger.PaymentRecord {
	p, ok := s.payments[k]
	if !ok {
		return nil
	}
	return &p
}

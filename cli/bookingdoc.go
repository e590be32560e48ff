package cli

import (
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
)

// bookingDoc is a booking for machines. The hashes of key, input and e-mail stay
// inside.
type bookingDoc struct {
	BookingID   string      `json:"booking_id"`
	Sale        string      `json:"sale"`
	State       string      `json:"state"` // none: admitted, its event is under way
	Level       string      `json:"level"`
	Seats       []string    `json:"seats"`
	AmountMinor int64       `json:"amount_minor"`
	Currency    string      `json:"currency"`
	Payment     string      `json:"payment,omitempty"`
	AdmittedAt  time.Time   `json:"admitted_at"`
	HoldUntil   time.Time   `json:"hold_until"`
	PaidAt      *time.Time  `json:"paid_at,omitempty"`
	ReleasedAt  *time.Time  `json:"released_at,omitempty"`
	Reason      string      `json:"reason,omitempty"`
	UndoOwed    bool        `json:"undo_owed"`
	Successor   string      `json:"successor,omitempty"`
	Owner       string      `json:"owner"`
	History     []changeDoc `json:"history"`
}

type changeDoc struct {
	At     time.Time `json:"at"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Reason string    `json:"reason"`
	Actor  string    `json:"actor"`
}

func docOf(b ledger.Booking) bookingDoc {
	d := bookingDoc{
		BookingID: b.ID, Sale: b.Sale, State: stateWord(b.State), Level: b.Level, Seats: b.Tokens(),
		AmountMinor: b.Price.AmountMinor, Currency: b.Price.Currency, Payment: b.Payment.String(),
		AdmittedAt: b.AdmittedAt.UTC(), HoldUntil: b.HoldUntil.UTC(), PaidAt: optional(b.PaidAt), ReleasedAt: optional(b.ReleasedAt),
		Reason: string(b.Reason), UndoOwed: b.UndoOwed, Successor: b.Successor, Owner: b.Candidate, History: []changeDoc{},
	}
	for _, c := range b.History {
		d.History = append(d.History, changeDoc{c.At.UTC(), stateWord(c.From), stateWord(c.To), string(c.Reason), string(c.Actor)})
	}
	return d
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

type candidateDoc struct {
	Owner        string      `json:"owner"`
	OnRoster     bool        `json:"on_roster"`
	Levels       []string    `json:"levels"`
	EmailMatches *bool       `json:"email_matches,omitempty"`
	Booking      *bookingDoc `json:"booking,omitempty"`

	Ended []bookingDoc `json:"ended,omitempty"`
}

func candidateDocOf(c operator.Candidate, ended []ledger.Booking) candidateDoc {
	d := candidateDoc{Owner: c.Owner, OnRoster: c.OnRoster, Levels: append([]string{}, c.Levels...), EmailMatches: c.Email}
	if c.Booking != nil {
		b := docOf(*c.Booking)
		d.Booking = &b
	}
	for _, b := range ended {
		d.Ended = append(d.Ended, docOf(b))
	}
	return d
}

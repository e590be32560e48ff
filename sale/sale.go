package sale

import (
	"fmt"
	"time"
)

// Sale is one sale as its operator describes it. A value that came from salefile.Parse is valid; one that was put together in Go becomes complete with WithDefaults and is checked with Validate.
type Sale struct {
	ID          string        // valid by ValidName; the hash tag of every Redis key of the sale
	Title       string        // for people
	Zone        string        // IANA name; how times are shown to people
	OpensAt     time.Time     // UTC, whole milliseconds; the first instant at which a booking is admitted
	ClosesAt    time.Time     // UTC, whole milliseconds; the first instant at which none is admitted any more
	Hold        time.Duration // how long an unpaid booking keeps its seats; whole milliseconds
	Price       Money         // per seat, for levels without a price of their own
	TotalCap    int           // seats of the whole sale; at most the sum of the levels' caps
	MaxSeats    int           // seats per booking, 1..10
	SoftHoldMax time.Duration // the longest life of a soft hold, counted from the candidate's first one (protocol.md 4)
	Levels      []Level       // in the order in which they are shown
	Ages        Ages          // protocol.md 3.8
}

// Money is an amount in the minor unit of its currency (paisa, cent).
type Money struct {
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency"` // ISO 4217, three capital letters
}

// Times is the price of n seats. It cannot overflow for a valid sale: Validate bounds the product.
func (m Money) Times(n int) Money {
	return Money{AmountMinor: m.AmountMinor * int64(n), Currency: m.Currency}
}

// Kind says how the seats of a level are chosen (`kind:<L>` in cfg, protocol.md 3.2). A level has one kind for ever.
type Kind string

// The kinds of a level.
const (
	KindCounted Kind = "c" // a number of seats; the lowest free tokens are given
	KindSeated  Kind = "s" // seats with public names; exactly the wanted ones are given
)

// Level is a class of seats with a cap of its own.
type Level struct {
	Name  string // valid by ValidName, at most MaxLevelName characters, unique also when case is ignored
	Cap   int    // seats; in a seated level the number of Seats
	Kind  Kind
	Price *Money // nil: the sale's price
	Seats []Seat // seated levels only, in the plan's order

	Sections []Section // seated levels only; empty: the level is one piece
	Blocked  []Seat    // places that are drawn and never sold: no tokens, not counted in Cap
}

// Level finds a level by its exact name.
func (s Sale) Level(name string) (Level, bool) {
	for _, l := range s.Levels {
		if l.Name == name {
			return l, true
		}
	}
	return Level{}, false
}

// LevelNames are the names of all levels, in the order of the sale.
func (s Sale) LevelNames() []string {
	names := make([]string, len(s.Levels))
	for i, l := range s.Levels {
		names[i] = l.Name
	}
	return names
}

// PriceOf is the price of one seat of the level; the sale's own price for a level without one, and for a level that it does not know.
func (s Sale) PriceOf(level string) Money {
	if l, ok := s.Level(level); ok && l.Price != nil {
		return *l.Price
	}
	return s.Price
}

// Location is the sale's time zone. Never use it for a decision, only to show a time to people; decisions compare instants.
func (s Sale) Location() (*time.Location, error) {
	if s.Zone == "" || s.Zone == "Local" {
		return nil, fmt.Errorf("time zone %q does not name one: write an IANA name such as Asia/Dhaka", s.Zone)
	}
	loc, err := time.LoadLocation(s.Zone)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is unknown: write an IANA name such as Asia/Dhaka", s.Zone)
	}
	return loc, nil
}

// WithDefaults fills what was left empty: one seat per booking, counted levels, soft holds no longer than hard ones, the total cap as the sum of the levels, ages by DeriveAges. Times become UTC. What is given stays; the caller's levels are not written to.
func (s Sale) WithDefaults() Sale {
	s.OpensAt, s.ClosesAt = s.OpensAt.UTC(), s.ClosesAt.UTC()
	if s.MaxSeats == 0 {
		s.MaxSeats = 1
	}
	if s.SoftHoldMax == 0 {
		s.SoftHoldMax = s.Hold
	}
	s.Levels = append([]Level(nil), s.Levels...)
	sum := 0
	for i := range s.Levels {
		if s.Levels[i].Kind == "" {
			s.Levels[i].Kind = KindCounted
		}
		sum += s.Levels[i].Cap
	}
	if s.TotalCap == 0 {
		s.TotalCap = sum
	}
	s.Ages = s.Ages.or(DeriveAges(s.Hold))
	return s
}

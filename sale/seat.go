package sale

import (
	"cmp"
	"slices"
)

// Seat is a named seat: a token with a public name (protocol.md 4).
type Seat struct {
	Name       string // valid by ValidName, unique in the whole sale
	Score      int    // its place in the order of seats; lower is better
	Section    string // one of the level's Sections; "" in a level without
	Row        string // as it is printed; for people
	Run        int    // neighbours share a run and follow each other in the level's list; 0: nothing is known about neighbours
	Accessible bool   // for those who need it: given when asked for, never by itself
}

// Section is a part of a hall, with a price of its own or the level's.
type Section struct {
	Name  string // valid by ValidName, unique in its level
	Price *Money // per seat; nil: the level's
}

// SeatNames are the level's seats by name, best first. This is the order in which Redis has them, however they came there: installed, edited or rebuilt.
func (l Level) SeatNames() []string {
	names := make([]string, len(l.Seats))
	for i, s := range slices.SortedStableFunc(slices.Values(l.Seats), func(a, b Seat) int { return cmp.Compare(a.Score, b.Score) }) {
		names[i] = s.Name
	}
	return names
}

// AisleWord stands for an aisle in a sale file's list of seats, so no seat may have this name.
const AisleWord = "aisle"

// SeatPrice is the price of one seat of the level: its section's, else the level's, else the sale's.
func (s Sale) SeatPrice(l Level, seat Seat) Money {
	for _, section := range l.Sections {
		if section.Name == seat.Section && section.Price != nil {
			return *section.Price
		}
	}
	if l.Price != nil {
		return *l.Price
	}
	return s.Price
}

package sale

import (
	"fmt"
	"slices"
)

// Hall is a seated level made ready for questions: who sits beside whom, and what seats cost. It is immutable and safe for concurrent use.
type Hall struct {
	Level  Level
	sale   Sale
	at     map[string]int   // name -> index in Level.Seats
	price  map[string]Money // by section
	runs   [][]int          // seats of each run, in the plan's order
	places []place          // by index in Level.Seats
}

// place says where a seat is: its run and its position there.
type place struct{ run, pos int }

// NewHall indexes a seated level of the sale. It takes no copy: neither may be changed afterwards.
func NewHall(s Sale, l Level) *Hall {
	h := &Hall{Level: l, sale: s, at: make(map[string]int, len(l.Seats)), price: make(map[string]Money), places: make([]place, len(l.Seats))}
	known := make(map[int]int) // Run -> index in runs
	for i, seat := range l.Seats {
		h.at[seat.Name] = i
		if _, ok := h.price[seat.Section]; !ok {
			h.price[seat.Section] = s.SeatPrice(l, seat)
		}
		r, ok := known[seat.Run]
		if !ok || seat.Run == 0 { // without a run a seat has no neighbours
			r = len(h.runs)
			h.runs = append(h.runs, nil)
			known[seat.Run] = r
		}
		h.places[i] = place{r, len(h.runs[r])}
		h.runs[r] = append(h.runs[r], i)
	}
	return h
}

// Halls indexes every seated level of the sale, by name. Of old those are kept whose level has not changed.
func Halls(s Sale, old map[string]*Hall) map[string]*Hall {
	halls := make(map[string]*Hall)
	for _, l := range s.Levels {
		if l.Kind != KindSeated {
			continue
		}
		if o := old[l.Name]; o != nil && o.sale.Price == s.Price && o.Level.same(l) {
			halls[l.Name] = o
			continue
		}
		halls[l.Name] = NewHall(s, l)
	}
	return halls
}

// same compares what a Hall is made of.
func (l Level) same(o Level) bool {
	return samePrice(l.Price, o.Price) && slices.Equal(l.Seats, o.Seats) && slices.Equal(l.Blocked, o.Blocked) &&
		slices.EqualFunc(l.Sections, o.Sections, func(a, b Section) bool { return a.Name == b.Name && samePrice(a.Price, b.Price) })
}

func samePrice(a, b *Money) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// Seat finds a seat by its exact name.
func (h *Hall) Seat(name string) (Seat, bool) {
	i, ok := h.at[name]
	if !ok {
		return Seat{}, false
	}
	return h.Level.Seats[i], true
}

// Price is the price of one seat of a section; "" is the section of a level without sections.
func (h *Hall) Price(section string) Money {
	if m, ok := h.price[section]; ok {
		return m
	}
	return h.sale.SeatPrice(h.Level, Seat{Section: section})
}

// UnknownSeatError names seats that the plan does not have.
type UnknownSeatError struct {
	Level string
	Seats []string
}

func (e *UnknownSeatError) Error() string {
	return fmt.Sprintf("level %s has no seats %q: read the seat map again", e.Level, e.Seats)
}

// Amount is the price of these seats together. The error is an *UnknownSeatError.
func (h *Hall) Amount(names []string) (Money, error) {
	var unknown []string
	sum := Money{Currency: h.sale.Price.Currency}
	for _, name := range names {
		seat, ok := h.Seat(name)
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		sum.AmountMinor += h.Price(seat.Section).AmountMinor
	}
	if unknown != nil {
		return Money{}, &UnknownSeatError{Level: h.Level.Name, Seats: unknown}
	}
	return sum, nil
}

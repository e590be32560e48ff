package sale

import (
	"cmp"
	"slices"
)

// Amount is what seats of a level cost together: n seats of a counted level, or these named ones of a seated one. It is the one place where an order gets its price; from then on hold, booking and payment carry it. halls are the sale's own (see Halls). The error is an *UnknownSeatError.
func (s Sale) Amount(halls map[string]*Hall, level string, n int, names []string) (Money, error) {
	if h := halls[level]; h != nil {
		return h.Amount(names)
	}
	return s.PriceOf(level).Times(n), nil
}

// ByAmount is the one level and number of seats that cost so much. ok is false if none does, if more than one does, or if seats with names might: an amount does not say which.
func (s Sale) ByAmount(m Money) (level string, n int, ok bool) {
	matches := 0
	for _, l := range s.Levels {
		if l.Kind == KindSeated {
			if s.namesMayCost(l, m) {
				return "", 0, false
			}
			continue
		}
		for count := 1; count <= max(s.MaxSeats, 1); count++ {
			if s.PriceOf(l.Name).Times(count) == m {
				level, n = l.Name, count
				matches++
			}
		}
	}
	return level, n, matches == 1
}

// namesMayCost says whether some seats of the level, as many as one booking may have, cost so much together.
func (s Sale) namesMayCost(l Level, m Money) bool {
	var prices []int64
	for _, seat := range l.Seats {
		if p := s.SeatPrice(l, seat); p.Currency == m.Currency && !slices.Contains(prices, p.AmountMinor) {
			prices = append(prices, p.AmountMinor)
		}
	}
	slices.SortFunc(prices, func(a, b int64) int { return cmp.Compare(b, a) })
	tries := maxSumTries
	return sums(prices, m.AmountMinor, max(s.MaxSeats, 1), &tries)
}

// maxSumTries bounds the search in a hall with very many prices. Beyond it the amount counts as possible: a person looks at it.
const maxSumTries = 100_000

// sums says whether 1 to n of the prices, the highest first and each as often as one likes, add up to rest.
func sums(prices []int64, rest int64, n int, tries *int) bool {
	for i, p := range prices {
		if *tries--; *tries < 0 || p == rest {
			return true
		}
		if n > 1 && p < rest && p*int64(n) >= rest && sums(prices[i:], rest-p, n-1, tries) {
			return true
		}
	}
	return false
}

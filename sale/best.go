package sale

import (
	"cmp"
	"slices"
)

// Wish says which seats somebody would like to be given.
type Wish struct {
	Count      int    // neighbours, 1 to MaxSeatsLimit
	Section    string // "": any
	PriceMinor int64  // of one seat; 0: any
	Accessible bool   // accessible seats, and only those
}

// stretch is a window of neighbours: from pos on in a run.
type stretch struct {
	run, pos, n int
	orphans     int // single seats that would be left beside it
	score       int
}

// Best finds Count neighbours among the free seats, the best by score that leave no single seat behind; where every choice leaves one, the one that leaves fewest. ok is false if there are not so many free neighbours that the wish fits.
func (h *Hall) Best(w Wish, free func(name string) bool) (names []string, ok bool) {
	best, ok := h.choose(w, free, func(s stretch) int { return s.score })
	if !ok {
		return nil, false
	}
	return h.names(best), true
}

// choose takes the window with the fewest orphans, then the lowest cost.
func (h *Hall) choose(w Wish, free func(string) bool, cost func(stretch) int) (best stretch, ok bool) {
	if w.Count < 1 {
		return stretch{}, false
	}
	lowest := 0
	var state []bool // of one run: asking costs most of the time that this takes
	for run, seats := range h.runs {
		if w.Section != "" && h.Level.Seats[seats[0]].Section != w.Section { // a run is in one section
			continue
		}
		state = state[:0]
		for _, seat := range seats {
			state = append(state, free(h.Level.Seats[seat].Name))
		}
		h.windows(run, w, state, func(s stretch) {
			c := cost(s)
			if !ok || s.orphans < best.orphans || s.orphans == best.orphans && c < lowest {
				best, lowest, ok = s, c, true
			}
		})
	}
	return best, ok
}

// windows calls each with every window of the run that fits the wish; free says
// of each seat of the run whether it is.
func (h *Hall) windows(run int, w Wish, free []bool, each func(stretch)) {
	seats := h.runs[run]
	usable := func(pos int) bool { return pos >= 0 && pos < len(seats) && free[pos] }
	fits := func(pos int) bool { return usable(pos) && h.fits(h.Level.Seats[seats[pos]], w) }
	length := 0 // of the fitting seats that end here
	for pos := range seats {
		if !fits(pos) {
			length = 0
			continue
		}
		if length++; length < w.Count {
			continue
		}
		s := stretch{run: run, pos: pos - w.Count + 1, n: w.Count}
		if usable(s.pos-1) && !usable(s.pos-2) {
			s.orphans++
		}
		if usable(pos+1) && !usable(pos+2) {
			s.orphans++
		}
		for i := s.pos; i <= pos; i++ {
			s.score += h.Level.Seats[seats[i]].Score
		}
		each(s)
	}
}

func (h *Hall) fits(seat Seat, w Wish) bool {
	return seat.Accessible == w.Accessible && (w.Section == "" || seat.Section == w.Section) &&
		(w.PriceMinor == 0 || h.Price(seat.Section).AmountMinor == w.PriceMinor)
}

func (h *Hall) names(s stretch) []string {
	list := make([]string, s.n)
	for i := range list {
		list[i] = h.Level.Seats[h.runs[s.run][s.pos+i]].Name
	}
	return list
}

// Nearest offers as many free seats as were wanted, near to where they were wanted: neighbours if there are so many anywhere in the section, else the nearest single ones. It is empty if nothing is free.
func (h *Hall) Nearest(wanted []string, free func(name string) bool) []string {
	i := slices.IndexFunc(wanted, func(name string) bool { _, ok := h.at[name]; return ok })
	if i < 0 {
		return nil
	}
	target := h.at[wanted[i]]
	seat := h.Level.Seats[target]
	w := Wish{Count: len(wanted), Section: seat.Section, Accessible: seat.Accessible}
	near, ok := h.choose(w, free, func(s stretch) int { return h.distance(target, h.runs[s.run][s.pos]) })
	if ok {
		return h.names(near)
	}
	return h.singles(target, len(wanted), free)
}

func (h *Hall) singles(target, n int, free func(string) bool) []string {
	var list []int
	for i, seat := range h.Level.Seats {
		if free(seat.Name) && seat.Accessible == h.Level.Seats[target].Accessible {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(h.distance(target, a), h.distance(target, b)) })
	names := make([]string, 0, n)
	for _, i := range list[:min(n, len(list))] {
		names = append(names, h.Level.Seats[i].Name)
	}
	return names
}

// Distances beyond a run: another run of the same row, another row, another section.
const (
	otherRun     = 100
	otherRow     = 10_000
	otherSection = 100 * MaxLevelCap
)

// distance orders seats by how far they are from another one.
func (h *Hall) distance(a, b int) int {
	x, y := h.Level.Seats[a], h.Level.Seats[b]
	if h.places[a].run == h.places[b].run {
		return abs(h.places[a].pos - h.places[b].pos)
	}
	d := abs(a - b)
	switch {
	case x.Section != y.Section:
		return otherSection + d
	case x.Row != y.Row || x.Row == "":
		return otherRow + d
	}
	return otherRun + d
}

func abs(n int) int { return max(n, -n) }

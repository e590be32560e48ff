package sale_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/sale"
)

// row builds a hall from rows like "ABC|DE": letters are seats, a bar is an
// aisle, capitals are ordinary seats and small letters accessible ones.
func hall(rows ...string) *sale.Hall {
	l := sale.Level{Name: "Hall", Kind: sale.KindSeated}
	run := 0
	for i, row := range rows {
		run++
		for _, c := range row {
			if c == '|' {
				run++
				continue
			}
			l.Seats = append(l.Seats, sale.Seat{Name: string(c), Score: len(l.Seats) + 1, Row: string(rune('1' + i)), Run: run, Accessible: c >= 'a'})
		}
	}
	return sale.NewHall(sale.Sale{Price: sale.Money{AmountMinor: 5, Currency: "EUR"}}, l)
}

// only says which seats are free.
func only(free string) func(string) bool {
	return func(name string) bool { return strings.Contains(free, name) }
}

func TestBestSeats(t *testing.T) {
	for _, c := range []struct {
		name, free string
		wish       sale.Wish
		want       string // "": none
	}{
		{"the best ones", "ABCDEFGHIJ", sale.Wish{Count: 3}, "ABC"},
		{"an aisle parts", "CDE", sale.Wish{Count: 2}, "DE"},
		{"a whole run", "ABC", sale.Wish{Count: 3}, "ABC"},
		{"no orphan: the pair in the next run instead of two of three", "ABCDE", sale.Wish{Count: 2}, "DE"},
		{"an orphan that can't be avoided", "ABC", sale.Wish{Count: 2}, "AB"},
		{"one orphan rather than two", "FGHIJ", sale.Wish{Count: 3}, "FGH"},
		{"a single seat that is alone anyway", "ABE", sale.Wish{Count: 1}, "E"},
		{"not beside a gap", "AC", sale.Wish{Count: 2}, ""},
		{"not more than a run has", "ABCDE", sale.Wish{Count: 4}, ""},
		{"accessible ones only when asked for", "xyA", sale.Wish{Count: 2}, ""},
		{"accessible ones", "ABxy", sale.Wish{Count: 2, Accessible: true}, "xy"},
		{"nothing is free", "", sale.Wish{Count: 1}, ""},
		{"no seat at all wanted", "ABC", sale.Wish{}, ""},
		{"too dear", "ABC", sale.Wish{Count: 1, PriceMinor: 4}, ""},
		{"the price", "ABC", sale.Wish{Count: 1, PriceMinor: 5}, "A"},
		{"another section", "ABC", sale.Wish{Count: 1, Section: "Gods"}, ""},
	} {
		got, ok := hall("ABC|DE", "FGHIJ", "xy").Best(c.wish, only(c.free))
		if strings.Join(got, "") != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q %v, want %q", c.name, got, ok, c.want)
		}
	}
}

// TestBestKnowsOddAndEvenRows is case I04: numbers say nothing about neighbours.
func TestBestKnowsOddAndEvenRows(t *testing.T) {
	l := sale.Level{Name: "L", Kind: sale.KindSeated}
	for i, name := range []string{"A5", "A3", "A1", "A2", "A4"} {
		l.Seats = append(l.Seats, sale.Seat{Name: name, Score: i + 1, Run: 1})
	}
	h := sale.NewHall(sale.Sale{}, l)
	free := map[string]bool{"A1": true, "A2": true, "A4": true, "A5": true}
	if got, _ := h.Best(sale.Wish{Count: 3}, func(n string) bool { return free[n] }); !slices.Equal(got, []string{"A1", "A2", "A4"}) {
		t.Errorf("got %v", got)
	}
	for i := range l.Seats {
		l.Seats[i].Run = 0
	}
	if got, ok := sale.NewHall(sale.Sale{}, l).Best(sale.Wish{Count: 2}, func(string) bool { return true }); ok {
		t.Errorf("neighbours %v in a plan that says nothing about neighbours", got)
	}
}

func TestNearestSeats(t *testing.T) {
	h := hall("ABC|DE", "FGHIJ", "xy")
	for _, c := range []struct{ name, wanted, free, want string }{
		{"beside it", "A", "BDE", "B"},
		{"the same row before the next", "BC", "ADEFGHIJ", "DE"},
		{"the same run", "HI", "FGJ", "FG"},
		{"no three together: the three nearest", "ABC", "DEFG", "DEF"},
		{"no seat left behind, if there is a choice", "DE", "ABCFG", "FG"},
		{"nothing is free", "A", "", ""},
		{"accessible for accessible", "x", "ABCy", "y"},
		{"no seat of this hall", "Q", "ABC", ""},
		{"fewer than wanted", "AB", "J", "J"},
		{"an unknown name does not hide the others", "QA", "FG", "FG"},
	} {
		if got := strings.Join(h.Nearest(strings.Split(c.wanted, ""), only(c.free)), ""); got != c.want {
			t.Errorf("%s: near %s with %s free: %q, want %q", c.name, c.wanted, c.free, got, c.want)
		}
	}
}

func TestAmountNamesUnknownSeats(t *testing.T) {
	_, err := hall("AB").Amount([]string{"A", "Q", "Z"})
	var unknown *sale.UnknownSeatError
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Seats, []string{"Q", "Z"}) {
		t.Errorf("got %v", err)
	}
}

// TestBestIsAlwaysNeighboursAndFree compares with the definition, found by
// trying everything.
func TestBestIsAlwaysNeighboursAndFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "seats")
		l := sale.Level{Name: "L", Kind: sale.KindSeated}
		run, free := 1, map[string]bool{}
		for i := range n {
			if rapid.IntRange(0, 5).Draw(t, "aisle") == 0 {
				run++
			}
			name := string(rune('A' + i))
			l.Seats = append(l.Seats, sale.Seat{Name: name, Score: i + 1, Run: run})
			free[name] = rapid.Bool().Draw(t, "free")
		}
		want := rapid.IntRange(1, 4).Draw(t, "count")
		got, ok := sale.NewHall(sale.Sale{}, l).Best(sale.Wish{Count: want}, func(s string) bool { return free[s] })
		fewest := -1
		for i := 0; i+want <= n; i++ {
			if o := orphans(l.Seats, free, i, want); o >= 0 && (fewest < 0 || o < fewest) {
				fewest = o
			}
		}
		if ok != (fewest >= 0) {
			t.Fatalf("found %v, but the fewest orphans are %d", got, fewest)
		}
		if !ok {
			return
		}
		at := slices.IndexFunc(l.Seats, func(s sale.Seat) bool { return s.Name == got[0] })
		if len(got) != want || orphans(l.Seats, free, at, want) != fewest {
			t.Fatalf("got %v with %d orphans, want %d", got, orphans(l.Seats, free, at, want), fewest)
		}
	})
}

// orphans counts the single seats beside n seats from at on; -1 if those are no
// free neighbours.
func orphans(seats []sale.Seat, free map[string]bool, at, n int) int {
	usable := func(i int) bool {
		return i >= 0 && i < len(seats) && seats[i].Run == seats[at].Run && free[seats[i].Name]
	}
	for i := at; i < at+n; i++ {
		if !usable(i) {
			return -1
		}
	}
	count := 0
	if usable(at-1) && !usable(at-2) {
		count++
	}
	if usable(at+n) && !usable(at+n+1) {
		count++
	}
	return count
}

package sale_test

import (
	"fmt"
	"testing"

	"github.com/holdfast/holdfast/sale"
)

// fullHall has 20,700 seats in nine sections of 46 rows of 50, half of them taken
// in pairs.
func fullHall() (*sale.Hall, func(string) bool) {
	l := sale.Level{Name: "Hall", Kind: sale.KindSeated}
	taken := map[string]bool{}
	for section := range 9 {
		l.Sections = append(l.Sections, sale.Section{Name: fmt.Sprint("S", section)})
		for row := range 46 {
			for n := range 50 {
				name := fmt.Sprintf("S%dR%d-%d", section, row, n)
				taken[name] = n/2%2 == 0
				l.Seats = append(l.Seats, sale.Seat{Name: name, Score: len(l.Seats), Section: fmt.Sprint("S", section), Row: fmt.Sprint("R", row), Run: section*46 + row + 1})
			}
		}
	}
	l.Cap = len(l.Seats)
	s := sale.Sale{ID: "s", Price: sale.Money{AmountMinor: 1, Currency: "EUR"}, Levels: []sale.Level{l}}
	return sale.NewHall(s, l), func(name string) bool { return !taken[name] }
}

func BenchmarkBest(b *testing.B) {
	hall, free := fullHall()
	for b.Loop() {
		if _, ok := hall.Best(sale.Wish{Count: 2}, free); !ok {
			b.Fatal("nothing is free")
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	hall, free := fullHall()
	for b.Loop() {
		if len(hall.Nearest([]string{"S4R20-0", "S4R20-1"}, free)) != 2 {
			b.Fatal("nothing is near")
		}
	}
}

package sale

import (
	"errors"
	"fmt"
	"testing"
)

// mixed has a counted level and a hall with two prices and a free section.
func mixed(maxSeats int) Sale {
	vip := &Money{AmountMinor: 900, Currency: "BDT"}
	return Sale{Price: Money{AmountMinor: 500, Currency: "BDT"}, MaxSeats: maxSeats, Levels: []Level{
		{Name: "Ground", Cap: 9, Price: &Money{AmountMinor: 350, Currency: "BDT"}},
		{Name: "Hall", Kind: KindSeated, Cap: 4, Sections: []Section{{Name: "Box", Price: vip}, {Name: "Stalls"}},
			Seats: []Seat{{Name: "B1", Section: "Box"}, {Name: "B2", Section: "Box"}, {Name: "S1", Section: "Stalls"}, {Name: "S2", Section: "Stalls"}}},
	}}
}

func TestAmountIsTheSumOfWhatTheSectionsCost(t *testing.T) {
	s := mixed(4)
	halls := Halls(s, nil)
	for _, c := range []struct {
		level string
		n     int
		names []string
		want  int64
	}{
		{"Ground", 3, nil, 1050},
		{"Hall", 0, []string{"B1"}, 900},
		{"Hall", 0, []string{"S2", "B1"}, 1400},
		{"Hall", 0, []string{"B1", "S1", "S2", "B2"}, 2800},
	} {
		got, err := s.Amount(halls, c.level, c.n, c.names)
		if err != nil || got != (Money{AmountMinor: c.want, Currency: "BDT"}) {
			t.Errorf("%s %d %v: %v, %v; want %d", c.level, c.n, c.names, got, err, c.want)
		}
	}
	var unknown *UnknownSeatError
	if _, err := s.Amount(halls, "Hall", 0, []string{"B1", "B9"}); !errors.As(err, &unknown) {
		t.Errorf("a seat that the plan does not have: %v", err)
	}
}

func TestAnAmountNamesALevelOnlyWhereNothingElseCostsSoMuch(t *testing.T) {
	for _, c := range []struct {
		seats  int
		amount int64
		level  string
		n      int
	}{
		{4, 350, "Ground", 1},
		{4, 700, "Ground", 2},
		{4, 1400, "", 0}, // four on the ground, or a box and a stall
		{1, 1400, "", 0}, // too many for one booking
		{4, 900, "", 0},
		{4, 1800, "", 0}, // two boxes
		{4, 351, "", 0},
		{4, 0, "", 0},
	} {
		level, n, ok := mixed(c.seats).ByAmount(Money{AmountMinor: c.amount, Currency: "BDT"})
		if !ok {
			level, n = "", 0
		}
		if level != c.level || n != c.n {
			t.Errorf("%d with %d seats at most: %d of %q, want %d of %q", c.amount, c.seats, n, level, c.n, c.level)
		}
	}
	if _, _, ok := mixed(4).ByAmount(Money{AmountMinor: 350, Currency: "EUR"}); ok {
		t.Error("another currency")
	}
}

// The search is compared with trying every choice of seats.
func TestSumsOfPrices(t *testing.T) {
	prices := []int64{11, 7, 3}
	possible := map[string]bool{}
	var choose func(sum int64, n int)
	choose = func(sum int64, n int) {
		for m := n; m <= 4 && n > 0; m++ {
			possible[fmt.Sprint(sum, m)] = true
		}
		for _, p := range prices {
			if n < 4 {
				choose(sum+p, n+1)
			}
		}
	}
	choose(0, 0)
	for n := 1; n <= 4; n++ {
		for rest := int64(0); rest < 50; rest++ {
			tries := 1000
			if got := sums(prices, rest, n, &tries); got != possible[fmt.Sprint(rest, n)] {
				t.Errorf("%d of at most %d prices: %t", rest, n, got)
			}
		}
	}
	tries := 10
	if !sums([]int64{1000, 999, 998, 997, 3}, 7001, 10, &tries) {
		t.Error("a search that is cut short must not say no")
	}
}

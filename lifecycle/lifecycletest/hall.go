package lifecycletest

import "github.com/holdfast/holdfast/sale"

// NewHall makes a world like New's with named seats: in level Hall the boxes B1
// and B2 at 900.00, the stalls S1 to S3 at 100.00; and level N1 with one seat at
// 100.00.
func NewHall(t TB) *World {
	t.Helper()
	box := sale.Money{AmountMinor: 90000, Currency: "BDT"}
	hall := sale.Level{Name: "Hall", Kind: sale.KindSeated, Cap: 5, Sections: []sale.Section{{Name: "Box", Price: &box}, {Name: "Stalls"}}}
	for i, name := range []string{"B1", "B2", "S1", "S2", "S3"} {
		section := hall.Sections[1].Name
		if i < 2 {
			section = hall.Sections[0].Name
		}
		hall.Seats = append(hall.Seats, sale.Seat{Name: name, Score: i + 1, Section: section})
	}
	return open(t, sale.Sale{TotalCap: 6, MaxSeats: 4, Levels: []sale.Level{hall, {Name: "N1", Cap: 1}}})
}

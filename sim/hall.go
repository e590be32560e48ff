package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
	"github.com/holdfast/holdfast/sale"
)

// hallName is the seated level of a sale that has one.
const hallName = "C"

// extraSeat comes and goes by edits of the plan.
const extraSeat = "C9"

// drawHall adds a level with a seat plan: a row of three and a row of two, at two
// prices.
func drawHall(rng *rand.Rand, p *sale.Sale) {
	box := sale.Money{AmountMinor: 250_00, Currency: "BDT"}
	l := sale.Level{Name: hallName, Kind: sale.KindSeated, Price: &sale.Money{AmountMinor: 170_00, Currency: "BDT"},
		Sections: []sale.Section{{Name: "Stalls"}, {Name: "Box", Price: &box}}}
	for i := range 3 + rng.IntN(3) {
		s := sale.Seat{Name: fmt.Sprintf("C%d", i+1), Score: i + 1, Section: "Stalls", Row: "A", Run: 1}
		if i >= 3 {
			s.Section, s.Row, s.Run = "Box", "B", 2
		}
		l.Seats = append(l.Seats, s)
	}
	l.Cap = len(l.Seats)
	p.MaxSeats = max(p.MaxSeats, 2+rng.IntN(2))
	p.SoftHoldMax = []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute}[rng.IntN(3)]
	p.Levels = append(p.Levels, l)
}

// seated says whether the sale has named seats.
func (t *town) seated() bool {
	_, ok := t.plan.Level(hallName)
	return ok
}

// groupOf draws seats that sit together, in any order: {a,b}, {b,a}, {b,c}, and
// so on, so that groups overlap.
func groupOf(rng *rand.Rand, l sale.Level, most int) []string {
	n := min(1+rng.IntN(3), most, len(l.Seats))
	first := rng.IntN(len(l.Seats))
	var names []string
	for i := range n {
		names = append(names, l.Seats[(first+i)%len(l.Seats)].Name)
	}
	if rng.IntN(2) == 0 {
		slices.Reverse(names)
	}
	return names
}

// seatsOf are the names of the hall's seats in Redis, given and free.
func seatsOf(d admissiontest.Dump) []string {
	var names []string
	for _, f := range d.Levels[hallName].Free {
		names = append(names, f.Name)
	}
	for seat, owner := range d.Seats {
		if d.Records[owner].Level == hallName {
			names = append(names, seat)
		}
	}
	slices.Sort(names)
	return names
}

func quoted(names []string) string { return `["` + strings.Join(names, `","`) + `"]` }

// softHolds: every soft hold has one deadline, the same in its record and in the
// list by which it is freed; its id is not among the dead, and the ledger has
// never heard of it. That a seat has one owner and a hold all of its seats is Conserve's.
//
// After data loss a hold may stand where a live booking has to come back to: then
// the healer writes a tombstone under its id before it frees the seats.
func softHolds(s *invariant.Snapshot, d admissiontest.Dump, lossy bool) []invariant.Violation {
	var found []invariant.Violation
	add := func(id, format string, args ...any) {
		found = append(found, invariant.Violation{Invariant: "SoftHolds", ID: id, Detail: fmt.Sprintf(format, args...)})
	}
	for _, id := range slices.Sorted(maps.Keys(d.Records)) {
		r := d.Records[id]
		if r.Stage != admission.StageSoft {
			continue
		}
		if listed, ok := d.Levels[r.Level].Soft[id]; !ok || listed != r.HoldUntil.UnixMilli() {
			add(id, "its deadline is %d, the list of level %s says %d", r.HoldUntil.UnixMilli(), r.Level, listed)
		}
		if _, dead := d.Dead[id]; dead {
			add(id, "it was ended, and holds %v", r.Tokens)
		}
		if b, ok := s.Bookings[id]; ok && !(lossy && b.State == ledger.Released) {
			add(id, "it is a soft hold, and the ledger has it as %s", b.State)
		}
		if d.Pending[r.Candidate].BookingID == id {
			add(id, "it is a soft hold, and pending")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Levels)) {
		for _, id := range slices.Sorted(maps.Keys(d.Levels[name].Soft)) {
			if d.Records[id].Stage != admission.StageSoft {
				add(id, "level %s lists it, and it is no soft hold", name)
			}
		}
	}
	return found
}

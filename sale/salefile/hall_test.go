package salefile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/salefile"
)

const opera = `sale: o
title: T
time_zone: Europe/Berlin
opens_at: 2027-06-01T10:00:00
closes_at: 2027-06-01T11:00:00
hold: 10m
price: {amount_minor: 100, currency: EUR}
max_seats: 4
levels:
  - level: Hall
    price: {amount_minor: 200, currency: EUR}
    sections:
      - section: Stalls
        price: {amount_minor: 900, currency: EUR}
        rows:
          - {row: A, seats: [A5..A1 by 2, aisle, A2..A6 by 2], blocked: [A4], accessible: [A6]}
      - rows:
          - row: B
            seats: [B1, B2]
        section: Gods
`

func TestParseSectionsRowsAndAisles(t *testing.T) {
	s, err := salefile.Parse(strings.NewReader(opera))
	if err != nil {
		t.Fatal(err)
	}
	want := []sale.Seat{
		{Name: "A5", Score: 1, Section: "Stalls", Row: "A", Run: 1}, {Name: "A3", Score: 2, Section: "Stalls", Row: "A", Run: 1},
		{Name: "A1", Score: 3, Section: "Stalls", Row: "A", Run: 1}, {Name: "A2", Score: 4, Section: "Stalls", Row: "A", Run: 2},
		{Name: "A6", Score: 6, Section: "Stalls", Row: "A", Run: 3, Accessible: true},
		{Name: "B1", Score: 7, Section: "Gods", Row: "B", Run: 4}, {Name: "B2", Score: 8, Section: "Gods", Row: "B", Run: 4},
	}
	l := s.Levels[0]
	if diff := cmp.Diff(want, l.Seats); diff != "" {
		t.Errorf("seats (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sale.Seat{{Name: "A4", Score: 5, Section: "Stalls", Row: "A"}}, l.Blocked); diff != "" {
		t.Errorf("blocked (-want +got):\n%s", diff)
	}
	if l.Cap != 7 || l.Kind != sale.KindSeated {
		t.Errorf("cap %d, kind %q: blocked places are no seats", l.Cap, l.Kind)
	}
	h := sale.NewHall(s, l)
	for names, price := range map[string]int64{"A5 A6": 1800, "B1": 200, "A1 B2": 1100} {
		if got, err := h.Amount(strings.Fields(names)); err != nil || got.AmountMinor != price {
			t.Errorf("%s cost %v, %v, want %d", names, got, err, price)
		}
	}
}

func TestParseReportsEachFaultOfAHallWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"seat twice":           {"[B1, B2]", "[B1, A6]", `line 19: levels[0].seats[6]: is "A6", which levels[0].seats[4] is already`},
		"seat blocked twice":   {"[B1, B2]", "[B1, A4]", `line 16: levels[0].blocked[0]: is "A4", which levels[0].seats[6] is already`},
		"blocked is unknown":   {"blocked: [A4]", "blocked: [A8]", `line 16: levels[0].sections[0].rows[0].blocked[0]: is "A8", which is no seat of row A`},
		"accessible unknown":   {"accessible: [A6]", "accessible: [B1]", `line 16: levels[0].sections[0].rows[0].accessible[0]: is "B1", which is no seat of row A`},
		"marked twice":         {"accessible: [A6]", "accessible: [A4]", `line 16: levels[0].sections[0].rows[0].accessible[0]: is "A4", which is marked already`},
		"same section":         {"section: Gods", "section: Stalls", `levels[0].sections[1].section: is "Stalls", which the level has already`},
		"row without name":     {"{row: A, ", "{", "line 16: levels[0].sections[0].rows[0].row: is missing"},
		"section without rows": {"        section: Gods", "        section: Gods\n      - section: Box", "line 21: levels[0].sections[2].rows: is missing"},
		"range to nowhere":     {"[B1, B2]", "[B1..C2]", `line 19: levels[0].sections[1].rows[0].seats[0]: is "B1..C2", must be a seat's name, or a range`},
		"range misses its end": {"[B1, B2]", "[B1..B4 by 2]", "line 19: levels[0].sections[1].rows[0].seats[0]: is \"B1..B4 by 2\", whose steps"},
		"huge range":           {"[B1, B2]", "[B1..B1001]", "which has more than 1000 seats"},
		"leading zeros":        {"[B1, B2]", "[B01..B09]", "must be a seat's name, or a range"},
		"bad name":             {"[B1, B2]", "[B1, B 2]", "line 19: levels[0].seats[6]: must be 1 to 40"},
		"other currency":       {"{amount_minor: 900, currency: EUR}", "{amount_minor: 900, currency: BDT}", "line 14: levels[0].sections[0].price.currency"},
		"two places":           {"    sections:", "    seats: [Z1]\n    sections:", "line 10: levels[0]: has more than one of seats, rows and sections"},
		"sections in counted":  {"level: Hall", "level: Hall\n    cap: 3\n    kind: counted", "levels[0].se"},
		"a field too many":     {"row: B", "row: B\n            colour: red", "line 19: levels[0].sections[1].rows[0].colour: is no field"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(opera, c.old) {
				t.Fatalf("the file has no %q to replace", c.old)
			}
			got := faults(t, strings.Replace(opera, c.old, c.new, 1))
			if !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestParseBoundsWhatAFileStandsFor(t *testing.T) {
	rows := strings.Repeat("          - {row: X, seats: [C1..C1000]}\n", 5000)
	got := faults(t, strings.Replace(opera, "        section: Gods\n", rows+"        section: Gods\n", 1))
	if !strings.Contains(strings.Join(got, "\n"), "brings the file to more than 100000 seats") {
		t.Errorf("%.200q", got)
	}
}

// hall20700 is a file of 23 sections with 30 rows of 30 seats.
func hall20700() string {
	var b strings.Builder
	b.WriteString(opera[:strings.Index(opera, "      - section")])
	for s := range 23 {
		fmt.Fprintf(&b, "      - section: S%d\n        rows:\n", s)
		for r := range 30 {
			p := fmt.Sprintf("S%d-R%d-", s, r)
			fmt.Fprintf(&b, "          - {row: R%d, seats: [%s1..%s15, aisle, %s16..%s30]}\n", r, p, p, p, p)
		}
	}
	return b.String()
}

// worked is the processor time of this process so far: unlike the clock it does not
// run while the machine does something else.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestTwentyThousandSeatsAreReadInSecondsAndFitTheLedger(t *testing.T) {
	file := hall20700()
	start := worked(t)
	s, err := salefile.Parse(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if took := worked(t) - start; took > 5*time.Second {
		t.Errorf("reading took %v of a processor", took)
	}
	if len(s.Levels[0].Seats) != 20_700 {
		t.Fatalf("%d seats", len(s.Levels[0].Seats))
	}
	stored, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(stored); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if packed.Len() > 300_000 { // an item of the table holds 400 KB
		t.Errorf("the plan takes %d bytes", packed.Len())
	}
	t.Logf("%d bytes of file, %d packed, read in %v", len(file), packed.Len(), worked(t)-start)
}

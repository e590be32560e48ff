package rehearsal

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/holdfast/holdfast/examples"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
	"github.com/holdfast/holdfast/sale/salefile"
)

// Shape says what is rehearsed.
type Shape struct {
	ID     string
	People int           // candidates; 0: the 40,000 of the messy example roster
	Seated bool          // named seats in sections and rows; else levels with counts
	Hold   time.Duration // how long an unpaid booking keeps its seats
	Seed   uint64
}

// Scene is a rehearsal's sale with its people. There are as many seats for each
// candidate as in the example: 20,700 for 40,000.
type Scene struct {
	Plan   sale.Sale
	File   []byte // the sale file of the plan, as an operator would write it
	Roster []byte // CSV or gzipped CSV, in the state in which rosters arrive
	People []load.Person
}

// The example's size.
const (
	examplePeople = 40_000
	exampleSeats  = 20_700
)

// Set makes the scene; now is within its times.
func Set(s Shape, now time.Time) (*Scene, error) {
	example, err := salefile.Parse(bytes.NewReader(examples.SpringYAML))
	if err != nil {
		return nil, err
	}
	people := s.People
	if people == 0 {
		people = examplePeople
	}
	file := head(s, example, now)
	if s.Seated {
		file += "max_seats: 4\nsoft_hold_max: 10m\n" + seatedLevels(people*exampleSeats/examplePeople)
	} else {
		file += countedLevels(example, people)
	}
	out := &Scene{File: []byte(file)}
	if out.Plan, err = salefile.Parse(strings.NewReader(file)); err != nil {
		return nil, fmt.Errorf("rehearsal: %w", err)
	}
	if out.Roster, err = rosterOf(s, out.Plan); err != nil {
		return nil, err
	}
	return out, out.readPeople()
}

func head(s Shape, example sale.Sale, now time.Time) string {
	title := "Rehearsal of " + example.Title
	if s.Seated {
		title = "Rehearsal of a hall"
	}
	instant := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	return fmt.Sprintf("sale: %s\ntitle: %s\ntime_zone: %s\nopens_at: %s\ncloses_at: %s\nhold: %s\nprice: {amount_minor: %d, currency: %s}\n",
		s.ID, title, example.Zone, instant(now.Add(-time.Minute)), instant(now.Add(24*time.Hour)), s.Hold, example.Price.AmountMinor, example.Price.Currency)
}

// countedLevels scales the example's levels.
func countedLevels(example sale.Sale, people int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "total_cap: %d\nlevels:\n", max(1, example.TotalCap*people/examplePeople))
	for _, l := range example.Levels {
		fmt.Fprintf(&b, "  - {level: %s, cap: %d}\n", l.Name, max(1, l.Cap*people/examplePeople))
	}
	return b.String()
}

// A hall of the full size: nine sections of 46 rows of 50 seats.
const (
	sections   = 9
	rowSeats   = 50
	stallParts = 5 // sections of the first level; the others are the second one
)

// seatedLevels is a hall of so many seats: two levels, sections with prices, rows
// with an aisle in the middle.
func seatedLevels(seats int) string {
	var b strings.Builder
	b.WriteString("levels:\n")
	for s := range sections {
		switch s {
		case 0:
			b.WriteString("  - level: Stalls\n    sections:\n")
		case stallParts:
			b.WriteString("  - level: Balcony\n    sections:\n")
		}
		mine := max(1, seats*(s+1)/sections-seats*s/sections)
		fmt.Fprintf(&b, "      - section: S%d\n        price: {amount_minor: %d, currency: BDT}\n        rows:\n", s+1, 100_000*(sections-s))
		for row := 1; mine > 0; row++ {
			n := min(mine, rowSeats)
			mine -= n
			fmt.Fprintf(&b, "          - {row: R%d, seats: [%s]}\n", row, rowOf(fmt.Sprintf("S%dR%d-", s+1, row), n))
		}
	}
	return b.String()
}

// rowOf are n seats with an aisle after the first half.
func rowOf(prefix string, n int) string {
	half := (n + 1) / 2
	if n == 1 {
		return prefix + "1"
	}
	return fmt.Sprintf("%s1..%s%d, aisle, %s%d..%s%d", prefix, prefix, half, prefix, half+1, prefix, n)
}

// rosterOf is the example's roster, or one of the wished size in the same state.
func rosterOf(s Shape, plan sale.Sale) ([]byte, error) {
	if s.People == 0 && !s.Seated {
		return examples.MessyRoster, nil
	}
	people := s.People
	if people == 0 {
		people = examplePeople
	}
	g, err := rostergen.New(rostergen.Spec{Size: people, Seed: s.Seed, Levels: plan.LevelNames()})
	if err != nil {
		return nil, err
	}
	var csv bytes.Buffer
	err = g.WriteMessy(&csv)
	return csv.Bytes(), err
}

// readPeople reads the roster as an import does.
func (s *Scene) readPeople() error {
	var err error
	s.People, err = ReadPeople(s.Roster, s.Plan.LevelNames())
	return err
}

// ReadPeople reads a roster file, gzipped or not, for a crowd: only the rows that
// an import would take. Who may book any level gets all of them.
func ReadPeople(file []byte, levels []string) ([]load.Person, error) {
	reader, err := roster.NewReader(bytes.NewReader(file), levels, roster.Options{})
	if err != nil {
		return nil, err
	}
	var people []load.Person
	for row, err := range reader.Rows() {
		if err != nil {
			return nil, err
		}
		p := load.Person{Code: string(row.Code), Email: string(row.Email), Levels: row.Levels}
		if len(p.Levels) == 0 {
			p.Levels = levels
		}
		people = append(people, p)
	}
	return people, nil
}

// Rows are the candidates for an import.
func (s *Scene) Rows() iter.Seq2[sale.Row, error] {
	return func(yield func(sale.Row, error) bool) {
		for _, p := range s.People {
			if !yield(sale.Row{Code: sale.Code(p.Code), Email: sale.Email(p.Email), Levels: p.Levels}, nil) {
				return
			}
		}
	}
}

package rostergen

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
)

// badPerMille is how many rows of each bad kind there are for a thousand good ones; at least one of each.
var badPerMille = []struct {
	verdict roster.Verdict
	share   float64
}{
	{roster.RepeatedIdentical, 3}, {roster.ConflictingEmail, 0.9}, {roster.MissingCode, 0.5}, {roster.MissingEmail, 0.5}, {roster.InvalidEmail, 0.6},
	{roster.InvalidCode, 0.4}, {roster.UnknownLevel, 0.25}, {roster.Blank, 0.3}, {roster.ConflictingLevels, 0.1}, {roster.Malformed, 0.1},
}

// Expect is the report that the messy file of this roster must give, without its problems.
func (g *Roster) Expect() roster.Report {
	r := roster.Report{Rows: g.spec.Size}
	r.ByVerdict[roster.Imported] = g.spec.Size
	for _, bad := range badPerMille {
		n := max(1, int(bad.share*float64(g.spec.Size)/1000))
		r.ByVerdict[bad.verdict] = n
		if bad.verdict != roster.Blank {
			r.Rows += n
		}
	}
	return r
}

// WriteMessy writes the same candidates as WriteClean in the same order, with the bad rows of Expect among them: byte order mark, semicolons, CRLF, any case, stray and no-break spaces, full-width digits, quotes.
func (g *Roster) WriteMessy(w io.Writer) error {
	out := bufio.NewWriter(w)
	m := &mess{out: out, rng: rand.New(rand.NewPCG(g.spec.Seed, 0)), roster: g}
	out.WriteString("\ufeffCandidate Code ;E-mail;Level(s)\r\n")
	bad := m.plan()
	for i := range g.spec.Size {
		m.good(g.Row(i))
		for _, v := range bad[i] {
			m.bad(v, i)
		}
	}
	return out.Flush() // bufio keeps the first error of the writes before
}

// mess writes messy rows.
type mess struct {
	out    *bufio.Writer
	rng    *rand.Rand
	roster *Roster
	n      int // bad rows so far, so that each is another
}

// plan says which bad rows follow which good one. Repeats and conflicts speak of the row they follow, so a row gets at most a few.
func (m *mess) plan() map[int][]roster.Verdict {
	plan := make(map[int][]roster.Verdict)
	expect := m.roster.Expect()
	for _, bad := range badPerMille {
		for range expect.ByVerdict[bad.verdict] {
			i := m.rng.IntN(m.roster.spec.Size)
			plan[i] = append(plan[i], bad.verdict)
		}
	}
	return plan
}

func (m *mess) good(row sale.Row) {
	code, email := string(row.Code), string(row.Email)
	switch m.rng.IntN(10) {
	case 0:
		code = strings.ToLower(code)
	case 1:
		code = "  " + code
	case 2:
		code += " "
	case 3:
		code = "\u00a0" + code + "\u00a0"
	case 4:
		code = strings.Map(wideDigit, code)
	}
	switch m.rng.IntN(10) {
	case 0:
		email = strings.ToUpper(email)
	case 1:
		email = " " + email + " "
	}
	cells := []string{code, email, strings.Join(row.Levels, "|")}
	if m.rng.IntN(10) == 0 {
		i := m.rng.IntN(len(cells))
		cells[i] = `"` + cells[i] + `"`
	}
	m.write(cells...)
}

func (m *mess) write(cells ...string) {
	m.out.WriteString(strings.Join(cells, ";") + "\r\n")
}

func wideDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return r - '0' + 0xff10
	}
	return r
}

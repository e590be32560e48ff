// Package rostergen makes rosters of any size for demonstrations, rehearsals and tests: the clean file, and the same candidates in the state in which real files arrive, with exactly known counts. The same Spec always gives the same bytes.
package rostergen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/holdfast/holdfast/sale"
)

// MaxSize is the largest roster; codes are told apart by six digits.
const MaxSize = 1_000_000

// Spec says what to make.
type Spec struct {
	Size   int      // candidates, 1..MaxSize
	Seed   uint64   // another seed is another roster
	Levels []string // names of the sale's levels, at least one; about one candidate in twenty may book any
}

// Roster is a list of candidates that is computed, not stored.
type Roster struct {
	spec  Spec
	first uint64 // where the walk through the six digits begins
}

// New checks the spec.
func New(spec Spec) (*Roster, error) {
	if spec.Size < 1 || spec.Size > MaxSize {
		return nil, fmt.Errorf("a generated roster of %d candidates: it must have 1 to %d", spec.Size, MaxSize)
	}
	if len(spec.Levels) == 0 {
		return nil, fmt.Errorf("a generated roster needs the names of the sale's levels")
	}
	return &Roster{spec: spec, first: rand.New(rand.NewPCG(spec.Seed, 1)).Uint64N(MaxSize)}, nil
}

// Len is the number of candidates.
func (g *Roster) Len() int { return g.spec.Size }

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"

// Row is the i-th candidate, from 0. Codes are unique: 617,283 has no factor in common with a million, so the walk meets every number once.
func (g *Roster) Row(i int) sale.Row {
	rng := rand.New(rand.NewPCG(g.spec.Seed, uint64(i)+2))
	digits := (g.first + uint64(i)*617_283) % MaxSize
	prefix := []string{"QT", "EK", "LP", "CX", "JN"}[rng.IntN(5)]
	code := fmt.Sprintf("%s%c%c%06d", prefix, letters[rng.IntN(len(letters))], letters[rng.IntN(len(letters))], digits)
	row := sale.Row{Code: sale.Code(code), Email: sale.Email("candidate." + strings.ToLower(code) + "@example.org")}
	n := len(g.spec.Levels)
	a := rng.IntN(n)
	switch {
	case rng.IntN(20) == 0: // any level
	case n > 1 && rng.IntN(4) == 0:
		b := (a + 1 + rng.IntN(n-1)) % n
		row.Levels = []string{g.spec.Levels[min(a, b)], g.spec.Levels[max(a, b)]}
	default:
		row.Levels = []string{g.spec.Levels[a]}
	}
	return row
}

// WriteClean writes the roster as an export should look.
func (g *Roster) WriteClean(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString("code,email,levels\n")
	for i := range g.spec.Size {
		row := g.Row(i)
		fmt.Fprintf(out, "%s,%s,%s\n", row.Code, row.Email, strings.Join(row.Levels, "|"))
	}
	return out.Flush() // bufio keeps the first error of the writes before
}

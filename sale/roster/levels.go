package roster

import (
	"strings"
	"unicode"

	"github.com/holdfast/holdfast/sale"
)

// levelSet knows a sale's levels by their names in any case.
type levelSet struct {
	names []string
	place map[string]int // folded name -> place in names
}

func newLevelSet(names []string) levelSet {
	s := levelSet{names: names, place: make(map[string]int, len(names))}
	for i, name := range names {
		s.place[strings.ToLower(name)] = i
	}
	return s
}

// parse reads a cell of levels, separated by | , ; / or white space, none of which can be part of a name. Repeats collapse, and the result is in the order of the sale, so that two spellings of the same choice are the same row. An empty cell is any level; one with separators alone is not, it may have lost its names. unknown is the first name that the sale does not have.
func (s levelSet) parse(cell string) (levels []string, unknown string) {
	cell = sale.Fold(cell)
	if cell == "" {
		return nil, ""
	}
	chosen, any := make([]bool, len(s.names)), false
	for word := range strings.FieldsFuncSeq(cell, notInName) {
		i, ok := s.place[strings.ToLower(word)]
		if !ok {
			return nil, word
		}
		chosen[i], any = true, true
	}
	if !any {
		return nil, cell
	}
	for i, name := range s.names {
		if chosen[i] {
			levels = append(levels, name)
		}
	}
	return levels, ""
}

// notInName says whether r separates names. Any other character is part of a word, so that a mistyped name is shown whole.
func notInName(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("|,;/", r)
}

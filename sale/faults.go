package sale

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with a sale.
type Fault struct {
	Path   string // where, by the names of a sale file: "levels[2].cap"
	Reason string // what is wrong and what would be right
	Line   int    // in the file it came from; 0 if there is none
}

// String is "line 7: levels[2].cap: reason".
func (f Fault) String() string {
	text := f.Reason
	if f.Path != "" {
		text = f.Path + ": " + text
	}
	if f.Line > 0 {
		text = fmt.Sprintf("line %d: %s", f.Line, text)
	}
	return text
}

// FaultsError lists everything that is wrong with a sale, so that it can be mended in one go. It has at least one fault.
type FaultsError struct{ Faults []Fault }

// Error names every fault, one a line.
func (e *FaultsError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = "  " + f.String()
	}
	return fmt.Sprintf("the sale has %d faults:\n%s", len(e.Faults), strings.Join(lines, "\n"))
}

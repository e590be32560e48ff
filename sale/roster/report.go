package roster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Report is what an operator gets to see of an import. Every data row of the file is in exactly one count.
type Report struct {
	Rows      int       // rows with something in them; the header and blank rows do not count
	ByVerdict Tally     // the same rows and the blank ones, by what became of them
	Problems  []Problem // rows that were not imported, in the order of the file, at most Options.MaxProblems; repeats are only counted
	Omitted   int       // problems beyond that number
}

// Rejected is the number of rows that an operator has to look at: all that are neither imported nor repeats nor blank.
func (r Report) Rejected() int {
	return r.Rows - r.ByVerdict[Imported] - r.ByVerdict[RepeatedIdentical]
}

// Problem says where and why a row was not imported. Shown is for the operator's eyes; a logger leaves it out.
type Problem struct {
	Line      int     `json:"line"` // counted from 1, as an editor does; where the row begins
	Verdict   Verdict `json:"verdict"`
	Field     string  `json:"field,omitempty"` // code, email or levels; empty for the row as a whole
	Reason    string  `json:"reason"`
	Shown     string  `json:"shown,omitempty"`      // the value, masked: enough to find it, too little to use it
	FirstLine int     `json:"first_line,omitempty"` // the imported row that a conflict is with
}

// LogValue keeps even masked codes and e-mails out of logs.
func (p Problem) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("line", p.Line), slog.String("verdict", p.Verdict.String()), slog.String("field", p.Field), slog.String("reason", p.Reason))
}

// String is the problem in one line for a terminal.
func (p Problem) String() string {
	text := fmt.Sprintf("line %d: %s", p.Line, p.Reason)
	if p.Shown != "" {
		text += ": " + p.Shown
	}
	return text
}

// MarshalJSON writes one flat object: rows, a field for each verdict by its name, problems. The two verdicts that a tidy file never has are left out at zero.
func (r Report) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"rows":%d`, r.Rows)
	for _, v := range Verdicts() {
		if n := r.ByVerdict[v]; n > 0 || v != Malformed && v != ConflictingLevels {
			fmt.Fprintf(&b, `,%q:%d`, v, n)
		}
	}
	if len(r.Problems) > 0 {
		list, err := json.Marshal(r.Problems)
		if err != nil {
			return nil, fmt.Errorf("write the roster report: %w", err)
		}
		fmt.Fprintf(&b, `,"problems":%s`, list)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, `,"problems_omitted":%d`, r.Omitted)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// add counts a row, and keeps the problem of one that was refused.
func (r *Report) add(p Problem, v Verdict, most int) {
	r.ByVerdict[v]++
	if v != Blank {
		r.Rows++
	}
	switch {
	case v == Imported, v == Blank, v == RepeatedIdentical:
	case len(r.Problems) < most:
		r.Problems = append(r.Problems, p)
	default:
		r.Omitted++
	}
}

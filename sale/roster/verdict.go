package roster

// Verdict says what became of one row. The set is closed.
type Verdict uint8

// The verdicts. A row gets the first one that applies, in the order of the checks: Malformed, Blank, the code, the e-mail, the levels, then the rows before it.
const (
	Imported          Verdict = iota + 1 // the row is a candidate
	RepeatedIdentical                    // says again what an imported row said
	ConflictingEmail                     // an imported row has the same code with another e-mail; that row stays
	MissingCode
	MissingEmail
	InvalidEmail
	InvalidCode
	UnknownLevel      // names a level that the sale does not have
	Blank             // nothing in it; not counted as a row
	ConflictingLevels // an imported row has the same code and e-mail with other levels; that row stays
	Malformed         // not readable as a row: quotes, number of fields, size, encoding
	verdictEnd
)

var verdictNames = [verdictEnd]string{
	Imported: "imported", RepeatedIdentical: "repeated_identical", ConflictingEmail: "conflicting_email", MissingCode: "missing_code",
	MissingEmail: "missing_email", InvalidEmail: "invalid_email", InvalidCode: "invalid_code", UnknownLevel: "unknown_level", Blank: "blank",
	ConflictingLevels: "conflicting_levels", Malformed: "malformed",
}

// String is the verdict's name in a report.
func (v Verdict) String() string {
	if v > 0 && v < verdictEnd {
		return verdictNames[v]
	}
	return "unknown"
}

// MarshalText makes a verdict its name in JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Verdicts lists all verdicts in the order of a report.
func Verdicts() []Verdict {
	list := make([]Verdict, 0, verdictEnd-1)
	for v := Imported; v < verdictEnd; v++ {
		list = append(list, v)
	}
	return list
}

// Tally counts rows by verdict.
type Tally [verdictEnd]int

// Of is the number of rows with the verdict.
func (t Tally) Of(v Verdict) int { return t[v] }

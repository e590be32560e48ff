package rostergen

import (
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
)

// bad writes one row that must get the verdict; i is the good row it follows. Its codes begin with Z, which no good one does.
func (m *mess) bad(v roster.Verdict, i int) {
	m.n++
	code, email, level := fmt.Sprintf("ZZZZ%06d", m.n), fmt.Sprintf("nobody%d@example.org", m.n), m.roster.spec.Levels[0]
	switch v {
	case roster.RepeatedIdentical:
		m.good(m.roster.Row(i))
	case roster.ConflictingEmail:
		row := m.roster.Row(i)
		row.Email = "someone.else." + row.Email
		m.good(row)
	case roster.ConflictingLevels:
		m.good(m.otherLevels(m.roster.Row(i)))
	case roster.MissingCode:
		m.write("", email, level)
	case roster.MissingEmail:
		m.write(code, "", level)
	case roster.InvalidEmail:
		m.write(code, m.pick("not-an-email", "@example.org", "a@", "two@@example.org", "sp ace@example.org"), level)
	case roster.InvalidCode:
		m.write(m.pick("AB\x00CD1", "CX 12 348", "CX|1213", `"=HYPERLINK(""x"")2"`, "<script>1</script>", strings.Repeat("A", 90)), email, level)
	case roster.UnknownLevel:
		m.write(code, email, "NO-SUCH-LEVEL")
	case roster.Malformed:
		m.write(m.pick(code, code+";"+email, `"`+code+`"x;`+email+";"+level, code+";"+email+";"+level+";"+level, code+"\xff;"+email+";"+level))
	case roster.Blank:
		m.write(m.pick("", ";;", " ;\u00a0; "))
	}
}

// otherLevels is the row with another choice: any level becomes the first one, a choice becomes any.
func (m *mess) otherLevels(row sale.Row) sale.Row {
	if len(row.Levels) == 0 {
		row.Levels = m.roster.spec.Levels[:1]
	} else {
		row.Levels = nil
	}
	return row
}

func (m *mess) pick(choices ...string) string { return choices[m.rng.IntN(len(choices))] }

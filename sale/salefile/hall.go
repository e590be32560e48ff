package salefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast/holdfast/sale"
)

// Bounds of what a few bytes of a file may stand for.
const (
	maxRange = 1_000   // seats of one range
	maxSeats = 100_000 // seats of one file that are written as rows
)

// hall collects the rows of one seated level.
type hall struct {
	*decoder
	path  string // of the level
	level *sale.Level
	run   int // the last one given
}

// sections takes sections, each with its rows.
func (h *hall) sections(n *yaml.Node, path string) {
	h.list(n, path, func(n *yaml.Node, at string) {
		var s sale.Section
		var rows *yaml.Node
		h.mapping(n, at, fields{
			"section": func(n *yaml.Node, at string) { s.Name, _ = h.text(n, at) },
			"price": func(n *yaml.Node, at string) {
				m := h.money(n, at)
				s.Price = &m
			},
			"rows": func(n *yaml.Node, _ string) { rows = n },
		}, "section", "rows")
		h.level.Sections = append(h.level.Sections, s)
		if rows != nil { // wherever its name stands in the section
			h.rows(rows, at+".rows", s.Name)
		}
	})
}

// rows takes the rows of a section, or of a level without sections.
func (h *hall) rows(n *yaml.Node, path, section string) {
	h.list(n, path, func(n *yaml.Node, at string) {
		r := row{hall: h, section: section, marks: make(map[string]mark)}
		var seats, blocked, accessible *yaml.Node
		h.mapping(n, at, fields{
			"row":        func(n *yaml.Node, at string) { r.name, _ = h.text(n, at) },
			"seats":      func(n *yaml.Node, _ string) { seats = n },
			"blocked":    func(n *yaml.Node, _ string) { blocked = n },
			"accessible": func(n *yaml.Node, _ string) { accessible = n },
		}, "row", "seats")
		r.mark(blocked, at+".blocked", mark{blocked: true})
		r.mark(accessible, at+".accessible", mark{accessible: true})
		if seats != nil {
			r.seats(seats, at+".seats")
		}
		for _, name := range slices.Sorted(maps.Keys(r.marks)) {
			if m := r.marks[name]; !m.used {
				h.fault(m.node, m.path, "is %q, which is no seat of row %s", clip(name), clip(r.name))
			}
		}
	})
}

// row is one row while it is read.
type row struct {
	*hall
	section, name string
	marks         map[string]mark
}

// mark is what is said of a seat beside its place.
type mark struct {
	blocked, accessible, used bool
	node                      *yaml.Node
	path                      string
}

func (r *row) mark(n *yaml.Node, path string, m mark) {
	if n == nil {
		return
	}
	r.list(n, path, func(n *yaml.Node, at string) {
		for _, name := range r.names(n, at) {
			if r.marks[name].node != nil {
				r.fault(n, at, "is %q, which is marked already", clip(name))
				continue
			}
			m.node, m.path = n, at
			r.marks[name] = m
		}
	})
}

// seats takes the places of the row from one end to the other. Neighbours share a run, which an aisle ends, and a blocked place too.
func (r *row) seats(n *yaml.Node, path string) {
	r.run++
	r.list(n, path, func(n *yaml.Node, at string) {
		if n.Kind == yaml.ScalarNode && n.Value == sale.AisleWord {
			r.run++
			return
		}
		for _, name := range r.names(n, at) {
			r.seat(n, name)
		}
	})
}

func (r *row) seat(n *yaml.Node, name string) {
	l, m := r.level, r.marks[name]
	s := sale.Seat{Name: name, Score: len(l.Seats) + len(l.Blocked) + 1, Section: r.section, Row: r.name, Accessible: m.accessible}
	if m.node != nil {
		m.used = true
		r.marks[name] = m
	}
	if m.blocked {
		r.run++
		r.lines[fmt.Sprintf("%s.blocked[%d]", r.hall.path, len(l.Blocked))] = n.Line
		l.Blocked = append(l.Blocked, s)
		return
	}
	s.Run = r.run
	r.lines[fmt.Sprintf("%s.seats[%d]", r.hall.path, len(l.Seats))] = n.Line
	l.Seats = append(l.Seats, s)
}

// names expands a name or a range: "A7", "A1..A14", "A27..A1 by 2".
func (r *row) names(n *yaml.Node, path string) []string {
	text, ok := r.text(n, path)
	if !ok {
		return nil
	}
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		return r.counted(n, path, []string{text})
	}
	list, reason := expand(from, to)
	if reason != "" {
		r.fault(n, path, "is %q, %s", clip(text), reason)
		return nil
	}
	return r.counted(n, path, list)
}

// counted refuses what makes a file stand for more seats than a hall has.
func (r *row) counted(n *yaml.Node, path string, list []string) []string {
	if r.expanded += len(list); r.expanded > maxSeats {
		if r.expanded-len(list) <= maxSeats {
			r.fault(n, path, "brings the file to more than %d seats", maxSeats)
		}
		return nil
	}
	return list
}

const rangeForm = "must be a seat's name, or a range such as A1..A14 or A27..A1 by 2"

// expand lists the names of a range, or says what is wrong with it.
func expand(from, to string) (names []string, reason string) {
	step := 1
	if end, by, ok := strings.Cut(to, " by "); ok {
		n, err := strconv.Atoi(by)
		if err != nil || n < 1 || n > maxRange {
			return nil, rangeForm
		}
		to, step = end, n
	}
	prefix, a, ok := cutNumber(from)
	other, b, okay := cutNumber(to)
	if !ok || !okay || prefix != other {
		return nil, rangeForm
	}
	count := max(a-b, b-a)/step + 1
	switch {
	case (b-a)%step != 0:
		return nil, "whose steps do not meet its end"
	case count > maxRange:
		return nil, fmt.Sprintf("which has more than %d seats", maxRange)
	case b < a:
		step = -step
	}
	for i := range count {
		names = append(names, prefix+strconv.Itoa(a+i*step))
	}
	return names, ""
}

// cutNumber splits "A14" into "A" and 14. A number with leading zeros is none: its names could not be written again.
func cutNumber(s string) (prefix string, n int, ok bool) {
	prefix = strings.TrimRight(s, "0123456789")
	digits := s[len(prefix):]
	n, err := strconv.Atoi(digits)
	return prefix, n, err == nil && strconv.Itoa(n) == digits && len(digits) <= 6
}

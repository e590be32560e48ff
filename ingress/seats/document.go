package seats

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

// levelDoc is a seated level as viewers draw it.
type levelDoc struct {
	Level    string       `json:"level"`
	Sections []sectionDoc `json:"sections"`
}

type sectionDoc struct {
	Section string     `json:"section"`
	Price   sale.Money `json:"price"`
	Rows    []rowDoc   `json:"rows"`
}

// rowDoc is a row: stretches of neighbours, with aisles between them.
type rowDoc struct {
	Row        string     `json:"row"`
	Runs       [][]string `json:"runs"`
	Accessible []string   `json:"accessible,omitempty"`
	Blocked    []string   `json:"blocked,omitempty"`
}

// planJSON draws every seated level: what does not change while a sale goes on.
func planJSON(p *booking.Plan) []byte {
	docs := []levelDoc{}
	for _, l := range p.Sale.Levels {
		if hall := p.Halls[l.Name]; hall != nil {
			docs = append(docs, drawLevel(hall))
		}
	}
	body, err := json.Marshal(docs)
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return body
}

func drawLevel(h *sale.Hall) levelDoc {
	d := levelDoc{Level: h.Level.Name}
	section := func(name string) *sectionDoc {
		for i := range d.Sections {
			if d.Sections[i].Section == name {
				return &d.Sections[i]
			}
		}
		d.Sections = append(d.Sections, sectionDoc{Section: name, Price: h.Price(name)})
		return &d.Sections[len(d.Sections)-1]
	}
	lastRun := 0
	for _, s := range h.Level.Seats {
		row := section(s.Section).row(s.Row)
		if len(row.Runs) == 0 || s.Run == 0 || s.Run != lastRun {
			row.Runs = append(row.Runs, nil)
		}
		lastRun = s.Run
		row.Runs[len(row.Runs)-1] = append(row.Runs[len(row.Runs)-1], s.Name)
		if s.Accessible {
			row.Accessible = append(row.Accessible, s.Name)
		}
	}
	for _, s := range h.Level.Blocked {
		row := section(s.Section).row(s.Row)
		row.Blocked = append(row.Blocked, s.Name)
	}
	return d
}

// row is the section's row of this name; rows stand in the order of their first seats.
func (d *sectionDoc) row(name string) *rowDoc {
	for i := len(d.Rows) - 1; i >= 0; i-- {
		if d.Rows[i].Row == name {
			return &d.Rows[i]
		}
	}
	d.Rows = append(d.Rows, rowDoc{Row: name})
	return &d.Rows[len(d.Rows)-1]
}

const instantLayout = "2006-01-02T15:04:05.000Z"

// head appends what snapshots and deltas begin with.
func (v *View) head(b []byte, now time.Time) []byte {
	b = append(b, `{"sale":"`...)
	b = append(b, v.sale...)
	b = append(b, `","version":"`...)
	b = append(b, v.Version()...)
	b = append(b, `","status_version":`...)
	b = strconv.AppendInt(b, v.n, 10)
	b = append(b, `,"source":"`...)
	b = append(b, v.Source...)
	b = append(b, `","now":"`...)
	b = now.UTC().AppendFormat(b, instantLayout)
	return append(b, '"')
}

// seats appends those of the listed seats that are in each state. Names need no
// escape: sale.ValidName.
func (v *View) seats(b []byte, list []int, now time.Time, withFree bool) []byte {
	b = append(b, `,"held":{`...)
	first := true
	for _, i := range list {
		if s := v.board[i]; s.state == held {
			b = append(comma(b, &first), '"')
			b = append(b, v.layout.names[i]...)
			b = append(b, `":`...)
			b = strconv.AppendInt(b, secondsLeft(s.until, now), 10)
		}
	}
	b = v.names(append(b, '}'), "sold", list, sold)
	if withFree {
		b = v.names(b, "free", list, free)
	}
	return b
}

func (v *View) names(b []byte, field string, list []int, want state) []byte {
	b = append(b, `,"`...)
	b = append(b, field...)
	b = append(b, `":[`...)
	first := true
	for _, i := range list {
		if v.board[i].state == want {
			b = append(comma(b, &first), '"')
			b = append(b, v.layout.names[i]...)
			b = append(b, '"')
		}
	}
	return append(b, ']')
}

func comma(b []byte, first *bool) []byte {
	if *first {
		*first = false
		return b
	}
	return append(b, ',')
}

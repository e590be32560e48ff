package salefile

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast/holdfast/sale"
)

// sale takes the whole file. The two times wait until the zone is known, wherever in the file it stands.
func (d *decoder) sale(root *yaml.Node) sale.Sale {
	var s sale.Sale
	var opens, closes *yaml.Node
	d.mapping(root, "", fields{
		"sale":          func(n *yaml.Node, at string) { s.ID, _ = d.text(n, at) },
		"title":         func(n *yaml.Node, at string) { s.Title, _ = d.text(n, at) },
		"time_zone":     func(n *yaml.Node, at string) { s.Zone, _ = d.text(n, at) },
		"opens_at":      func(n *yaml.Node, _ string) { opens = n },
		"closes_at":     func(n *yaml.Node, _ string) { closes = n },
		"hold":          func(n *yaml.Node, at string) { s.Hold = d.duration(n, at) },
		"price":         func(n *yaml.Node, at string) { s.Price = d.money(n, at) },
		"total_cap":     func(n *yaml.Node, at string) { s.TotalCap = d.positive(n, at) },
		"max_seats":     func(n *yaml.Node, at string) { s.MaxSeats = d.positive(n, at) },
		"soft_hold_max": func(n *yaml.Node, at string) { s.SoftHoldMax = d.duration(n, at) },
		"levels": func(n *yaml.Node, at string) {
			d.list(n, at, func(n *yaml.Node, at string) { s.Levels = append(s.Levels, d.level(n, at)) })
		},
		"ages": func(n *yaml.Node, at string) { d.ages(n, at, &s.Ages) },
	}, "sale", "title", "time_zone", "opens_at", "closes_at", "hold", "price", "levels")
	loc, err := s.Location()
	if err != nil {
		loc = nil
	}
	s.OpensAt, s.ClosesAt = d.instant(opens, "opens_at", loc), d.instant(closes, "closes_at", loc)
	return s
}

func (d *decoder) level(n *yaml.Node, path string) sale.Level {
	var l sale.Level
	hasCap, seated := false, 0
	h := &hall{decoder: d, path: path, level: &l}
	d.mapping(n, path, fields{
		"level": func(n *yaml.Node, at string) { l.Name, _ = d.text(n, at) },
		"cap": func(n *yaml.Node, at string) {
			hasCap = true
			l.Cap = int(d.integer(n, at))
		},
		"kind": func(n *yaml.Node, at string) { l.Kind = d.kind(n, at) },
		"price": func(n *yaml.Node, at string) {
			m := d.money(n, at)
			l.Price = &m
		},
		"seats": func(n *yaml.Node, at string) {
			seated++
			d.list(n, at, func(n *yaml.Node, at string) { l.Seats = append(l.Seats, d.seat(n, at, len(l.Seats)+1)) })
		},
		"rows": func(n *yaml.Node, at string) {
			seated++
			h.rows(n, at, "")
		},
		"sections": func(n *yaml.Node, at string) {
			seated++
			h.sections(n, at)
		},
	}, "level")
	if l.Kind == "" && seated > 0 {
		l.Kind = sale.KindSeated
	}
	if seated > 1 {
		d.fault(n, path, "has more than one of seats, rows and sections: write its seats in one place")
	}
	switch {
	case hasCap || n.Kind != yaml.MappingNode:
	case l.Kind == sale.KindSeated:
		l.Cap = len(l.Seats)
	default:
		d.fault(n, path+".cap", "is missing: say how many seats the level has")
	}
	return l
}

func (d *decoder) kind(n *yaml.Node, path string) sale.Kind {
	switch word, ok := d.text(n, path); {
	case word == "counted":
		return sale.KindCounted
	case word == "seated":
		return sale.KindSeated
	case ok:
		d.fault(n, path, "must be counted or seated, is %s", describe(n))
	}
	return ""
}

// seat takes a name, or a name with its score; without a score the place in the list is the order.
func (d *decoder) seat(n *yaml.Node, path string, place int) sale.Seat {
	seat := sale.Seat{Score: place}
	if n.Kind != yaml.MappingNode {
		seat.Name, _ = d.text(n, path)
		return seat
	}
	d.mapping(n, path, fields{
		"seat":  func(n *yaml.Node, at string) { seat.Name, _ = d.text(n, at) },
		"score": func(n *yaml.Node, at string) { seat.Score = int(d.integer(n, at)) },
	}, "seat")
	return seat
}

func (d *decoder) money(n *yaml.Node, path string) sale.Money {
	var m sale.Money
	d.mapping(n, path, fields{
		"amount_minor": func(n *yaml.Node, at string) { m.AmountMinor = d.integer(n, at) },
		"currency":     func(n *yaml.Node, at string) { m.Currency, _ = d.text(n, at) },
	}, "amount_minor", "currency")
	return m
}

// ages takes the ages that are given; the others are derived.
func (d *decoder) ages(n *yaml.Node, path string, ages *sale.Ages) {
	known := fields{}
	for _, f := range ages.Fields() {
		known[f.Name] = func(n *yaml.Node, at string) { *f.Age = d.duration(n, at) }
	}
	d.mapping(n, path, known)
}

// positive refuses a written zero, which would otherwise pass for "not given".
func (d *decoder) positive(n *yaml.Node, path string) int {
	before := len(d.faults)
	v := d.integer(n, path)
	if v < 1 && len(d.faults) == before {
		d.fault(n, path, "is %d, must be at least 1", v)
	}
	return int(v)
}

// instant takes a time; the zero time if it has a fault or is missing, which mapping has said.
func (d *decoder) instant(n *yaml.Node, path string, loc *time.Location) time.Time {
	if n == nil {
		return time.Time{}
	}
	text, ok := d.text(n, path)
	if !ok {
		return time.Time{}
	}
	t, err := parseTime(text, loc)
	if err != nil {
		d.fault(n, path, "%v", err)
	}
	return t
}

package sale

import (
	"encoding/json"
	"fmt"
	"time"
)

// plan is a sale on the wire and in the ledger's control item: integers with a unit, times in RFC 3339 UTC, names as in a sale file. Sale's JSON methods convert, so a sale may be stored with encoding/json alone.
type plan struct {
	ID            string           `json:"sale"`
	Title         string           `json:"title"`
	Zone          string           `json:"time_zone"`
	OpensAt       time.Time        `json:"opens_at"`
	ClosesAt      time.Time        `json:"closes_at"`
	HoldMS        int64            `json:"hold_ms"`
	Price         Money            `json:"price"`
	TotalCap      int              `json:"total_cap"`
	MaxSeats      int              `json:"max_seats"`
	SoftHoldMaxMS int64            `json:"soft_hold_max_ms"`
	Levels        []planLevel      `json:"levels"`
	AgesMS        map[string]int64 `json:"ages_ms"`
}

type planLevel struct {
	Name  string     `json:"level"`
	Cap   int        `json:"cap"`
	Kind  Kind       `json:"kind"`
	Price *Money     `json:"price,omitempty"`
	Seats []planSeat `json:"seats,omitempty"`

	Sections []planSection `json:"sections,omitempty"`
	Blocked  []planSeat    `json:"blocked,omitempty"`
}

type planSeat struct {
	Name       string `json:"seat"`
	Score      int    `json:"score"`
	Section    string `json:"section,omitempty"`
	Row        string `json:"row,omitempty"`
	Run        int    `json:"run,omitempty"`
	Accessible bool   `json:"accessible,omitempty"`
}

type planSection struct {
	Name  string `json:"section"`
	Price *Money `json:"price,omitempty"`
}

// MarshalJSON writes the sale with durations as integers of milliseconds.
func (s Sale) MarshalJSON() ([]byte, error) {
	p := plan{
		ID: s.ID, Title: s.Title, Zone: s.Zone, OpensAt: s.OpensAt.UTC(), ClosesAt: s.ClosesAt.UTC(), HoldMS: s.Hold.Milliseconds(),
		Price: s.Price, TotalCap: s.TotalCap, MaxSeats: s.MaxSeats, SoftHoldMaxMS: s.SoftHoldMax.Milliseconds(), AgesMS: make(map[string]int64),
	}
	for _, l := range s.Levels {
		wire := planLevel{Name: l.Name, Cap: l.Cap, Kind: l.Kind, Price: l.Price}
		for _, seat := range l.Seats {
			wire.Seats = append(wire.Seats, planSeat(seat))
		}
		for _, seat := range l.Blocked {
			wire.Blocked = append(wire.Blocked, planSeat(seat))
		}
		for _, section := range l.Sections {
			wire.Sections = append(wire.Sections, planSection(section))
		}
		p.Levels = append(p.Levels, wire)
	}
	for _, f := range s.Ages.Fields() {
		p.AgesMS[f.Name] = f.Age.Milliseconds()
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote. It checks no rule of the sale: call Validate where the source is not trusted.
func (s *Sale) UnmarshalJSON(data []byte) error {
	var p plan
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("read a sale's plan: %w", err)
	}
	*s = Sale{
		ID: p.ID, Title: p.Title, Zone: p.Zone, OpensAt: p.OpensAt.UTC(), ClosesAt: p.ClosesAt.UTC(), Hold: milliseconds(p.HoldMS),
		Price: p.Price, TotalCap: p.TotalCap, MaxSeats: p.MaxSeats, SoftHoldMax: milliseconds(p.SoftHoldMaxMS),
	}
	for _, wire := range p.Levels {
		l := Level{Name: wire.Name, Cap: wire.Cap, Kind: wire.Kind, Price: wire.Price}
		for _, seat := range wire.Seats {
			l.Seats = append(l.Seats, Seat(seat))
		}
		for _, seat := range wire.Blocked {
			l.Blocked = append(l.Blocked, Seat(seat))
		}
		for _, section := range wire.Sections {
			l.Sections = append(l.Sections, Section(section))
		}
		s.Levels = append(s.Levels, l)
	}
	for _, f := range s.Ages.Fields() {
		*f.Age = milliseconds(p.AgesMS[f.Name])
	}
	return nil
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

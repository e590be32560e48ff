package report

import (
	"fmt"
	"strings"
	"time"
)

// The picture's size and where its lines are, in its own units.
const (
	wide, high     = 720, 220
	left, right    = 56, 12
	top, bottom    = 10, 26
	innerWide      = wide - left - right
	innerHigh      = high - top - bottom
	timesOnTheAxis = 5
)

// picture is one drawing: bands that stand on each other, over time.
type picture struct {
	Name   string
	Width  int
	Height int
	Bands  []band
	Line   string // a limit, as a path; "" without one
	Across []label
	Up     []label
}

type band struct {
	Name, Class, Path string
}

type label struct {
	X, Y int
	Text string
}

// axes puts times and amounts onto the paper.
type axes struct {
	from time.Time
	span time.Duration
	most int
	zone *time.Location
}

func (a axes) x(t time.Time) float64 {
	return left + innerWide*float64(t.Sub(a.from))/float64(max(a.span, 1))
}
func (a axes) y(n int) float64 { return top + innerHigh*(1-float64(n)/float64(max(a.most, 1))) }

func (a axes) labels() (across, up []label) {
	layout := "15:04:05"
	switch {
	case a.span > 48*time.Hour:
		layout = "2 Jan"
	case a.span > 20*time.Minute:
		layout = "15:04"
	}
	for i := range timesOnTheAxis {
		t := a.from.Add(a.span * time.Duration(i) / (timesOnTheAxis - 1))
		across = append(across, label{min(int(a.x(t)), wide-26), high - 8, t.In(a.zone).Format(layout)}) // the last one stays on the paper
	}
	for i := range 3 {
		n := a.most * i / 2
		up = append(up, label{left - 6, int(a.y(n)) + 4, fmt.Sprint(n)})
	}
	return across, up
}

// seatsPicture shows how many seats were paid and, on them, held.
func seatsPicture(d Document, zone *time.Location) *picture {
	if len(d.Curve) < 2 {
		return nil
	}
	first, last := d.Curve[0].At, d.Curve[len(d.Curve)-1].At
	a := axes{first, last.Sub(first), d.Seats.Cap, zone}
	for _, p := range d.Curve {
		a.most = max(a.most, p.Held+p.Paid)
	}
	p := &picture{Name: "Seats paid and held over time", Width: wide, Height: high}
	under := func(Point) int { return 0 }
	for _, b := range []struct {
		name, class string
		upTo        func(Point) int
	}{{"paid", "paid", func(p Point) int { return p.Paid }}, {"held", "held", func(p Point) int { return p.Paid + p.Held }}} {
		p.Bands = append(p.Bands, band{b.name, b.class, a.area(d.Curve, b.upTo, under)})
		under = b.upTo
	}
	if d.Seats.Cap > 0 {
		p.Line = fmt.Sprintf("M%d %.1fH%d", left, a.y(d.Seats.Cap), wide-right)
	}
	p.Across, p.Up = a.labels()
	return p
}

func (a axes) area(points []Point, upper, lower func(Point) int) string {
	var there, back strings.Builder
	for i, p := range points {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		fmt.Fprintf(&there, "%s%.1f %.1f", verb, a.x(p.At), a.y(upper(p)))
	}
	for i := len(points) - 1; i >= 0; i-- {
		fmt.Fprintf(&back, "L%.1f %.1f", a.x(points[i].At), a.y(lower(points[i])))
	}
	return there.String() + back.String() + "Z"
}

// ratesPicture shows what was answered, as columns that stand on each other.
func ratesPicture(d Document, zone *time.Location) *picture {
	if len(d.Rates) == 0 {
		return nil
	}
	first, last := d.Rates[0], d.Rates[len(d.Rates)-1]
	a := axes{from: first.At, span: last.At.Sub(first.At) + time.Duration(last.Seconds)*time.Second, zone: zone}
	for _, r := range d.Rates {
		a.most = max(a.most, r.Created+r.Refused+r.Unavailable)
	}
	var paths [3]strings.Builder
	for _, r := range d.Rates {
		x, w, base := a.x(r.At), innerWide*float64(r.Seconds)*float64(time.Second)/float64(a.span), 0
		for i, n := range []int{r.Created, r.Refused, r.Unavailable} {
			if n > 0 {
				fmt.Fprintf(&paths[i], "M%.1f %.1fh%.1fV%.1fh-%.1fZ", x+w*.05, a.y(base), w*.9, a.y(base+n), w*.9)
			}
			base += n
		}
	}
	p := &picture{Name: "Booking requests over time", Width: wide, Height: high}
	for i, name := range []string{"got a seat", "refused", "503, try again"} {
		p.Bands = append(p.Bands, band{name, [...]string{"paid", "held", "bad"}[i], paths[i].String()})
	}
	p.Across, p.Up = a.labels()
	return p
}

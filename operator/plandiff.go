package operator

import (
	"fmt"
	"time"

	"github.com/holdfast/holdfast/sale"
)

// diffPlans lists what differs, by the names of a sale file.
func diffPlans(old, now sale.Sale) []Change {
	var list []Change
	add := func(path string, a, b any) {
		before, after := fmt.Sprint(a), fmt.Sprint(b)
		if before != after {
			list = append(list, Change{path, before, after})
		}
	}
	add("title", old.Title, now.Title)
	add("time_zone", old.Zone, now.Zone)
	add("opens_at", stamp(old.OpensAt), stamp(now.OpensAt))
	add("closes_at", stamp(old.ClosesAt), stamp(now.ClosesAt))
	add("hold", old.Hold, now.Hold)
	add("soft_hold_max", old.SoftHoldMax, now.SoftHoldMax)
	add("price", old.Price, now.Price)
	add("max_seats", old.MaxSeats, now.MaxSeats)
	add("total_cap", old.TotalCap, now.TotalCap)
	ages := now.Ages.Fields()
	for i, f := range old.Ages.Fields() {
		add("ages."+f.Name, *f.Age, *ages[i].Age)
	}
	for _, l := range old.Levels {
		path := "levels[" + l.Name + "]"
		n, ok := now.Level(l.Name)
		if !ok {
			add(path, fmt.Sprintf("cap %d", l.Cap), "removed")
			continue
		}
		add(path+".kind", kindName(l.Kind), kindName(n.Kind))
		add(path+".cap", l.Cap, n.Cap)
		add(path+".price", old.PriceOf(l.Name), now.PriceOf(l.Name))
		add(path+".seats", l.SeatNames(), n.SeatNames()) // a score that changes the order changes the list
		add(path+".sections", sections(l), sections(n))
		add(path+".blocked", sale.Level{Seats: l.Blocked}.SeatNames(), sale.Level{Seats: n.Blocked}.SeatNames())
	}
	for _, l := range now.Levels {
		if _, ok := old.Level(l.Name); !ok {
			add("levels["+l.Name+"]", "none", fmt.Sprintf("cap %d", l.Cap))
		}
	}
	if len(list) == 0 {
		add("levels", old.LevelNames(), now.LevelNames()) // their order
	}
	return list
}

// structural lists the changes that only a new generation can make: no script
// changes them on a sale that is installed.
func structural(old, now sale.Sale) []Change {
	var deep []Change
	for _, c := range diffPlans(old, now) {
		name, isLevel := levelOf(c.Path)
		switch {
		case !isLevel:
		case c.Path == "levels["+name+"]", c.Path == "levels["+name+"].kind":
			deep = append(deep, c)
		}
	}
	return deep
}

// levelOf takes the level's name out of a path.
func levelOf(path string) (string, bool) {
	const front = "levels["
	if len(path) <= len(front) || path[:len(front)] != front {
		return "", false
	}
	for i := len(front); i < len(path); i++ {
		if path[i] == ']' {
			return path[len(front):i], true
		}
	}
	return "", false
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

func kindName(k sale.Kind) string {
	if k == sale.KindSeated {
		return "seated"
	}
	return "counted"
}

// sections are the parts of a hall with their own prices.
func sections(l sale.Level) []string {
	list := make([]string, len(l.Sections))
	for i, s := range l.Sections {
		if list[i] = s.Name; s.Price != nil {
			list[i] = fmt.Sprintf("%s %d %s", s.Name, s.Price.AmountMinor, s.Price.Currency)
		}
	}
	return list
}

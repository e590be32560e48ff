package seats

import (
	"math"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

// state of a seat as everybody may see it. Blocked places are in the plan alone.
type state uint8

const (
	free state = iota
	held
	sold
)

// seat is one seat of a board: its state, and until when it is held (0: not said).
type seat struct {
	state state
	until int64 // ms by Redis TIME
}

// layout is what a board is laid over: the named seats of a sale, numbered.
type layout struct {
	levels []string
	halls  map[string]*sale.Hall
	names  []string
	at     map[string]int
	plan   []byte // JSON, prebuilt
}

// newLayout numbers the seats of the plan's seated levels, in their order.
func newLayout(p *booking.Plan) *layout {
	l := &layout{halls: p.Halls, at: make(map[string]int)}
	for _, level := range p.Sale.Levels {
		if level.Kind != sale.KindSeated {
			continue
		}
		l.levels = append(l.levels, level.Name)
		for _, s := range level.Seats {
			l.at[s.Name] = len(l.names)
			l.names = append(l.names, s.Name)
		}
	}
	l.plan = planJSON(p)
	return l
}

// of says whether the layout is the plan's.
func (l *layout) of(p *booking.Plan) bool {
	if l == nil || len(l.halls) != len(p.Halls) {
		return false
	}
	for name, h := range p.Halls {
		if l.halls[name] != h {
			return false
		}
	}
	return true
}

// board lays holders over the seats as they are at now. A soft hold past its
// deadline holds nothing, whether or not anybody has released it.
func (l *layout) board(holders []admission.Holder, now time.Time) []seat {
	seats := make([]seat, len(l.names))
	for _, h := range holders {
		s := seat{state: held, until: millis(h.Until)}
		switch {
		case h.Stage == admission.StagePaid:
			s = seat{state: sold}
		case h.Stage == admission.StageSoft && !h.Until.After(now):
			continue
		}
		for _, name := range h.Seats {
			if i, ok := l.at[name]; ok {
				seats[i] = s
			}
		}
	}
	return seats
}

// changed are the seats that differ.
func changed(old, now []seat) []int {
	var list []int
	for i := range now {
		if old[i] != now[i] {
			list = append(list, i)
		}
	}
	return list
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// secondsLeft counts whole seconds, rounded up, so that a seat that is held is
// never shown with none.
func secondsLeft(until int64, now time.Time) int64 {
	if until == 0 {
		return 0
	}
	return max(0, int64(math.Ceil(float64(until-now.UnixMilli())/1000)))
}

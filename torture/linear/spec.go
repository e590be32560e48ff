package linear

import (
	"cmp"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Seats are what a sale may sell: the specification's own numbers, not Redis'.
type Seats struct {
	Caps  map[string]int
	Total int
}

// seat is one live booking.
type seat struct{ booking, candidate, level, token string }

// books is the state of the specification: who holds what, and which ids were
// given back for good. It is never changed in place.
type books struct {
	live []seat   // by booking
	dead []string // sorted
}

func (b books) find(booking string) (seat, bool) {
	i, ok := slices.BinarySearchFunc(b.live, booking, func(s seat, id string) int { return cmp.Compare(s.booking, id) })
	if !ok {
		return seat{}, false
	}
	return b.live[i], true
}

func (b books) with(s seat) books {
	i, _ := slices.BinarySearchFunc(b.live, s.booking, func(s seat, id string) int { return cmp.Compare(s.booking, id) })
	return books{slices.Insert(slices.Clone(b.live), i, s), b.dead}
}

func (b books) without(booking string) books {
	live := slices.DeleteFunc(slices.Clone(b.live), func(s seat) bool { return s.booking == booking })
	dead := b.dead
	if i, barred := slices.BinarySearch(dead, booking); !barred {
		dead = slices.Insert(slices.Clone(dead), i, booking)
	}
	return books{live, dead}
}

// asked is an operation with the bookings in doubt while it was asked.
type asked struct {
	Op
	doubt map[string]Op // by booking: an operation that was open then
	stale bool          // it may have asked a server that is no longer the primary
}

// Check asks porcupine whether some order of the operations explains every
// answer. stale says that old connections led to a deposed primary: then only
// what was acknowledged is demanded. Unknown means that time ran out.
func Check(seats Seats, ops []Op, stale bool, within time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(seats.model(), operations(ops, stale), within)
}

// operations drops what changed nothing for certain, and leaves a release whose
// outcome is unknown open to the end. An unknown admission is demanded nowhere:
// it is a doubt until an answer about it says more.
func operations(ops []Op, stale bool) []porcupine.Operation {
	var out []porcupine.Operation
	for _, o := range ops {
		if o.Result == Refused || o.Result == Unsure && o.Kind != Release {
			continue
		}
		end := o.Return
		if o.open() {
			end = never
		}
		out = append(out, porcupine.Operation{ClientId: len(out), Input: asked{o, doubts(ops, o), stale}, Call: int64(o.Call), Return: int64(end)})
	}
	return out
}

// doubts are the bookings with an operation under way, or still open, while o
// was asked.
func doubts(ops []Op, o Op) map[string]Op {
	out := map[string]Op{}
	for _, p := range ops {
		if p.Kind != Admit && p.Kind != Release || p.Result == Refused || p == o {
			continue
		}
		if p.Call <= o.Return && o.Call <= settled(ops, p) {
			if q, twice := out[p.Booking]; !twice || q.Kind != Admit {
				out[p.Booking] = p // an admission says more about the booking
			}
		}
	}
	return out
}

// settled is when the client knew what p had come to.
func settled(ops []Op, p Op) time.Duration {
	if !p.open() {
		return p.Return
	}
	end := never
	for _, q := range ops {
		if q.Booking == p.Booking && q.settles() && q.Call >= p.Return {
			end = min(end, q.Return)
		}
	}
	return end
}

func (s Seats) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return books{} },
		Step: func(state, input, _ any) (bool, any) {
			ok, next := s.step(state.(books), input.(asked))
			return ok, next
		},
		Equal: func(a, b any) bool {
			x, y := a.(books), b.(books)
			return slices.Equal(x.live, y.live) && slices.Equal(x.dead, y.dead)
		},
	}
}

// step says whether the answer is right in this state, and what follows.
func (s Seats) step(b books, a asked) (bool, books) {
	mine, live := b.find(a.Booking)
	_, doubted := a.doubt[a.Booking]
	free := a.stale || doubted
	switch a.Result {
	case Held:
		if live {
			return mine.token == a.Token, b // a replay
		}
		return s.room(b, a.Op), b.with(seat{a.Booking, a.Candidate, a.Level, a.Token})
	case Unsure: // a release
		return true, b.without(a.Booking)
	case Freed:
		return live || free, b.without(a.Booking)
	case Gone:
		return true, b.without(a.Booking) // a repeat of itself says so too
	case Present:
		return live && mine.token == a.Token || free, b
	case Barred, Missing:
		return !live || free, b
	default:
		return a.stale || s.refusal(b, a), b
	}
}

// room says whether a seat is there for the admission: the promises 1 and 2 of
// the README, with nothing taken on trust.
func (s Seats) room(b books, o Op) bool {
	inLevel := 0
	for _, l := range b.live {
		if l.candidate == o.Candidate || l.token == o.Token {
			return false
		}
		if l.level == o.Level {
			inLevel++
		}
	}
	_, barred := slices.BinarySearch(b.dead, o.Booking)
	return !barred && inLevel < s.Caps[o.Level] && len(b.live) < s.Total && (o.Seat == "" || o.Seat == o.Token)
}

// refusal says whether a refusal or a count can be true, given the live bookings
// and the doubtful ones.
func (s Seats) refusal(b books, a asked) bool {
	match := func(level, name string) (sure, perhaps int) {
		for _, l := range b.live {
			if (level == "" || l.level == level) && (name == "" || l.token == name) {
				perhaps++
				if _, doubted := a.doubt[l.booking]; !doubted {
					sure++
				}
			}
		}
		for id, o := range a.doubt {
			if _, live := b.find(id); !live && (o.Kind == Release || (level == "" || o.Level == level) && (name == "" || o.Seat == name)) {
				perhaps++
			}
		}
		return sure, perhaps
	}
	switch a.Result {
	case Full:
		_, perhaps := match(a.Level, "")
		return perhaps >= s.Caps[a.Level]
	case SoldOut:
		_, perhaps := match("", "")
		return perhaps >= s.Total
	case Taken:
		_, perhaps := match("", a.Seat)
		return perhaps >= 1
	case Duplicate:
		other, live := b.find(a.Other)
		_, doubted := a.doubt[a.Other]
		return doubted || live && other.candidate == a.Candidate
	case Counted:
		sure, perhaps := match("", "")
		return sure <= a.Used && a.Used <= perhaps
	}
	return false
}

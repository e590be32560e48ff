package load

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// Seating says how a crowd chooses named seats, as shares of those who got a
// hold.
type Seating struct {
	MaxGroup int     // seats of one person at most; groups of 1 to so many are equally likely
	Best     float64 // ask for the best free seats in place of naming some
	Change   float64 // then choose other seats
	Extend   float64 // then ask for more time
	Release  float64 // then give the hold back and leave
	Walk     float64 // then leave without a word: the hold runs out
	Hold     time.Duration
	// MapLag is how old the public map may be. 0: DefaultMapLag.
	MapLag time.Duration
	// Holders reads, in one consistent look, which hold or booking has which seats.
	// May be nil: then groups are judged by what clients see.
	Holders func(context.Context) (map[string][]string, error)
}

// DefaultMapLag is by how much a map may trail what it shows.
const DefaultMapLag = 5 * time.Second

// DefaultSeating is the rehearsal's crowd.
var DefaultSeating = Seating{MaxGroup: 4, Best: .4, Change: .15, Extend: .05, Release: .04, Walk: .06, Hold: 20 * time.Second}

// SeatsResult is what was seen of named seats.
type SeatsResult struct {
	Holds    int           `json:"holds"`    // given
	Taken    int           `json:"taken"`    // refused because somebody was faster
	Changed  int           `json:"changed"`  // choices that changed
	Extended int           `json:"extended"` //
	Released int           `json:"released"` // given back by their owner
	Walked   int           `json:"walked"`   // left to run out
	Promoted int           `json:"promoted"` // became bookings
	Gone     int           `json:"gone"`     // ran out before the booking
	Maps     int           `json:"maps"`     // public maps that were compared
	Looks    int           `json:"looks"`    // consistent looks at all holders
	Lag      time.Duration `json:"map_lag"`  // the most by which a map trailed
	Groups   int           `json:"groups"`   // paid, and compared seat by seat
	Twice    []string      `json:"twice"`    // seats that two had
	Half     []string      `json:"half"`     // groups that were not whole
	Wrong    []string      `json:"wrong"`    // seats that a map showed wrongly
	Errors   int           `json:"errors"`   // looks that could not be taken
}

// hall is the plan as a browser draws it, the last map, and who has what.
type hall struct {
	Seating
	client *client
	levels map[string][][]string // runs of neighbours, the best first
	count  int                   // seats

	mu     sync.Mutex
	rng    *rand.Rand
	gone   map[string]bool // not free in the last map
	owners *owners
	sold   map[string]string // seat -> paid booking
	wishes map[int]wish      // first ones, by person
	keys   int               // made by freshKey
	out    SeatsResult
}

func openHall(ctx context.Context, c *client, s Seating, seed uint64) (*hall, error) {
	m, err := c.seats(ctx, true)
	if err != nil {
		return nil, fmt.Errorf("load: read the plan of the seats: %w", err)
	}
	if s.MapLag == 0 {
		s.MapLag = DefaultMapLag
	}
	h := &hall{Seating: s, client: c, levels: map[string][][]string{}, rng: rand.New(rand.NewPCG(seed, 3)), owners: newOwners(), sold: map[string]string{}, wishes: map[int]wish{}}
	for _, l := range m.Plan {
		for _, section := range l.Sections {
			for _, row := range section.Rows {
				for _, run := range row.Runs {
					h.levels[l.Level] = append(h.levels[l.Level], run)
					h.count += len(run)
				}
			}
		}
	}
	h.remember(m)
	return h, nil
}

func (h *hall) remember(m seatMap) {
	gone := make(map[string]bool, len(m.Held)+len(m.Sold))
	for s := range m.Held {
		gone[s] = true
	}
	for _, s := range m.Sold {
		gone[s] = true
	}
	h.gone = gone
}

// chance draws whether something with this share happens.
func (h *hall) chance(share float64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rng.Float64() < share
}

// choose is what a person asks for: the best n, or n neighbours near the front
// that their map shows as free, which many others look at too.
func (h *hall) choose(level string, n int) wish {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := wish{level: level, best: n, life: h.Hold}
	runs := h.levels[level]
	if len(runs) == 0 || h.rng.Float64() < h.Best {
		return w
	}
	from := int(math.Abs(h.rng.NormFloat64()) * float64(len(runs)) / 3)
	for i := range runs {
		if seats := h.neighbours(runs[(from+i)%len(runs)], n); seats != nil {
			return wish{level: level, seats: seats, life: h.Hold}
		}
	}
	return w
}

// neighbours are n seats side by side that the last map shows as free.
func (h *hall) neighbours(run []string, n int) []string {
	free := 0
	for i, s := range run {
		if free++; h.gone[s] {
			free = 0
		}
		if free == n {
			return run[i+1-n : i+1]
		}
	}
	return nil
}

// any is one seat that the last map shows as free, anywhere: who comes back does
// not queue for the same one as all the others.
func (h *hall) any(level string) (wish, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	runs := h.levels[level]
	if len(runs) == 0 {
		return wish{}, false
	}
	from := h.rng.IntN(len(runs))
	for i := range runs {
		run := runs[(from+i)%len(runs)]
		begin := h.rng.IntN(max(1, len(run)))
		for k := range run {
			if s := run[(begin+k)%len(run)]; !h.gone[s] {
				return wish{level: level, seats: []string{s}, life: h.Hold}, true
			}
		}
	}
	return wish{}, false
}

// first is what a person asked for first.
func (h *hall) first(person int) (wish, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w, ok := h.wishes[person]
	return w, ok
}

// keepFirst keeps a person's first wish, unless there is one already, and
// returns the one that counts.
func (h *hall) keepFirst(person int, w wish) wish {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old, ok := h.wishes[person]; ok {
		return old
	}
	h.wishes[person] = w
	return w
}

// freshKey is an idempotency key that nobody used.
func (h *hall) freshKey(base string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys++
	base, _, _ = strings.Cut(base, "~")
	return fmt.Sprintf("%s~%d", base, h.keys)
}

// group is how many seats a person wants.
func (h *hall) group() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return 1 + h.rng.IntN(max(1, h.MaxGroup))
}

// failing notes that a booking's card is about to fail.
func (h *hall) failing(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owners.forget(id)
}

func (h *hall) note(change func(*SeatsResult)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.out)
}

func (h *hall) result() *SeatsResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.out
	return &out
}

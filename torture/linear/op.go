package linear

import (
	"math"
	"sync"
	"time"
)

// Kind is what a client asked for.
type Kind int

// The kinds of operations.
const (
	Admit   Kind = iota // take a seat (protocol.md 3.4 S1)
	Release             // give it back (S2)
	Look                // read one booking's record
	Count               // read how many seats are taken
)

// Result is what the client learned.
type Result int

// The results. Held, Freed and Gone are acknowledged by the replica.
const (
	Unsure    Result = iota // no answer, or not acknowledged: it may have happened
	Refused                 // refused before anything ran
	Held                    // Admit: the booking holds Token
	Full                    // Admit: the level has no seat
	SoldOut                 // Admit: the sale has no seat
	Taken                   // Admit: the named seat is somebody's
	Duplicate               // Admit: the candidate holds the booking Other
	Barred                  // Admit: this booking id was undone
	Freed                   // Release: the seat was given back now
	Gone                    // Release: there was nothing to give back
	Present                 // Look: the booking has Token
	Missing                 // Look: there is no record
	Counted                 // Count: Used seats
)

var resultNames = [...]string{"unsure", "refused", "held", "full", "sold out", "taken", "duplicate", "barred", "freed", "gone", "present", "missing", "counted"}

// String is the result's name in figures.
func (r Result) String() string { return resultNames[r] }

// Op is one operation of a history.
type Op struct {
	Client             int
	Kind               Kind
	Booking, Candidate string
	Level, Seat        string // Admit: the level, and the seat that was asked for by name
	Call, Return       time.Duration
	Result             Result
	Token, Other       string
	Used               int
}

// open reports whether the operation changes something, and the client does not
// know whether it did.
func (o Op) open() bool { return o.Result == Unsure && (o.Kind == Admit || o.Kind == Release) }

// settles reports whether the operation's answer makes certain what became of
// its booking, whatever was open before.
func (o Op) settles() bool {
	return o.Kind == Admit && o.Result == Held || o.Kind == Release && (o.Result == Freed || o.Result == Gone)
}

const never = time.Duration(math.MaxInt64)

// History are the operations on one sale, in no order.
type History struct {
	start time.Time
	mu    sync.Mutex
	ops   []Op
}

// NewHistory starts the clock of a history.
func NewHistory(start time.Time) *History { return &History{start: start} }

// Do runs one operation and records when it was called and when it returned.
func (h *History) Do(o Op, run func(*Op)) Op {
	o.Call = time.Since(h.start)
	run(&o)
	o.Return = time.Since(h.start)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, o)
	return o
}

// Ops returns a copy of what was recorded.
func (h *History) Ops() []Op {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Op(nil), h.ops...)
}

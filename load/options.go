package load

import (
	"context"
	"time"
)

// Sample is one look at the sale from outside the pipeline.
type Sample struct {
	At       time.Time
	Used     map[string]int // admitted seats by level
	Caps     map[string]int
	Total    int
	TotalCap int
	Free     map[string]int
	// What has not come to rest yet; all zero when the pipeline is quiet.
	Pending, Queued, Held, Undos, Refunds int

	States map[string]string // levels as the public sees them: available or full
}

// quiet reports whether nothing is under way any more.
func (s Sample) quiet() bool { return s.Pending+s.Queued+s.Held+s.Undos+s.Refunds == 0 }

// Options say what crowd comes to which sale.
type Options struct {
	BaseURL, Sale string
	People        []Person
	Levels        []string
	Requests      int
	Rate          float64 // requests per second
	Profile       Profile // in place of Requests and Rate, if it is not empty
	Seed          uint64
	Mix           Mix
	Paying        Paying
	Seats         *Seating      // named seats: the crowd holds, changes and books; nil: a counted sale
	MaxInFlight   int           // requests that wait for an answer at once; 0: 4,096
	SettleWithin  time.Duration // how long the sale may take to come to rest afterwards
	// Probe looks at the caps, cheaply; Rest also at everything that has to come
	// to rest. Both may be nil: then only what the public sees is judged.
	Probe, Rest func(context.Context) (Sample, error)
	Progress    func(Progress) // told about once a second; may be nil
}

// profile is the wished profile.
func (o *Options) profile() Profile {
	if len(o.Profile) == 0 && o.Requests > 0 && o.Rate > 0 {
		return Constant(o.Requests, o.Rate)
	}
	return o.Profile
}

// Progress is what a live view shows.
type Progress struct {
	Phase         string // "crowd", "second wave" or "settling"
	Elapsed       time.Duration
	Sent, Total   int
	InFlight      int
	Figures       Figures
	Series        []Point
	Last          Sample
	Paid, Waiting int // people
}

// Result is what a run came to; Judge judges it.
type Result struct {
	Figures     Figures        `json:"figures"`
	Series      []Point        `json:"series"`
	Crowd       time.Duration  `json:"crowd"`    // from the first request to the last answer
	Pipeline    time.Duration  `json:"pipeline"` // from the last request until nothing was pending or queued for the first time
	Drain       time.Duration  `json:"drain"`    // from the last request until all was quiet: holds run out, late money resolved
	Samples     int            `json:"samples"`
	OverCap     []string       `json:"over_cap"` // samples in which a cap did not hold
	ProbeErrors int            `json:"probe_errors"`
	Waiting     map[string]int `json:"waiting"` // people who still want a seat of the level and would pay
	Late        int            `json:"late_payers"`
	Abandoned   int            `json:"abandoned"`
	Failed      int            `json:"failed_payments"`
	Pressed     int            `json:"pressed_pay"`
	PressErrors int            `json:"press_errors"`
	PageOver    int            `json:"page_over"` // presses after the payment's end, or after one whose answer was lost
	NotHome     int            `json:"not_home"`  // payers who never got to see the shop's return page
	// Acked are the bookings that an answer named, by the state in which they
	// ended; Unaccounted are those that could not be found again.
	Acked       map[string]int `json:"acked"`
	Unaccounted []string       `json:"unaccounted"`
	Seats       *SeatsResult   `json:"seats,omitempty"`
	Last        Sample         `json:"-"`
	Quiet       bool           `json:"quiet"`
	Watched     bool           `json:"watched"` // caps and rest were looked at from inside
}

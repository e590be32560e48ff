// Package report makes the report on a sale: one document of what the ledger,
// its trail and the ingresses' minutes say, drawn as one page that needs nothing
// from elsewhere, and sealed with the deployment's key, so that an auditor can
// check that not a byte of it was changed.
//
// Everything here is pure but Collect, which reads.
package report

import "time"

// Format names how a document is written and drawn. It changes with every change
// of either, so that an old report is never judged by a newer drawing.
const Format = 1

// Document is everything that a report says. Times are UTC.
type Document struct {
	Format   int       `json:"format"`
	Sale     string    `json:"sale"`
	Title    string    `json:"title"`
	Zone     string    `json:"time_zone"`
	OpensAt  time.Time `json:"opens_at"`
	ClosesAt time.Time `json:"closes_at"`
	Hold     int       `json:"hold_seconds"`
	Open     bool      `json:"open"` // still, when the report was made
	MadeAt   time.Time `json:"made_at"`
	MadeBy   string    `json:"made_by"`

	Levels   []Standing `json:"levels"`   // in seats
	Seats    Standing   `json:"seats"`    // of all levels
	Bookings Standing   `json:"bookings"` // in bookings; Cap is 0
	Releases []Count    `json:"releases"` // bookings released, by reason
	Money    []Money    `json:"money"`    // by currency
	Sums     []Sum      `json:"sums"`

	Requests  int     `json:"requests"` // booking requests that ingresses answered
	Answers   []Count `json:"answers"`  // by outcome
	Latencies []Speed `json:"latencies"`

	Curve []Point `json:"curve"` // seats over time
	Rates []Rate  `json:"rates"` // requests over time

	Incidents []Incident `json:"incidents"`
	Acts      []Act      `json:"acts"`
	Audit     Audit      `json:"audit"`
}

// Standing is where admitted things ended: Admitted = Paid + Held + Released.
type Standing struct {
	Name     string `json:"name"`
	Cap      int    `json:"cap"`
	Admitted int    `json:"admitted"`
	Paid     int    `json:"paid"`
	Held     int    `json:"held"`
	Released int    `json:"released"`
}

// Count is how often something happened.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Money is what came of the payments in one currency, in minor units.
type Money struct {
	Currency string `json:"currency"`
	Captured int64  `json:"captured_minor"`
	Applied  int64  `json:"applied_minor"`  // pays a seat
	Refunded int64  `json:"refunded_minor"` // given back
	Due      int64  `json:"due_minor"`      // a refund that is under way
	Review   int64  `json:"review_minor"`   // waits for an operator
}

// Sum is an equation that must hold; both sides are counted on their own.
type Sum struct {
	Text  string `json:"text"`
	Left  int64  `json:"left"`
	Right int64  `json:"right"`
}

// OK says that both sides are equal.
func (s Sum) OK() bool { return s.Left == s.Right }

// Speed is how long something took. Each figure is the upper bound of a bucket
// in milliseconds; "over" figures are slower than the last bound.
type Speed struct {
	What  string  `json:"what"`
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P90   float64 `json:"p90_ms"`
	P99   float64 `json:"p99_ms"`
	Over  int     `json:"over"` // how many were slower than the last bound
}

// Point is how many seats were held and paid at an instant.
type Point struct {
	At   time.Time `json:"at"`
	Held int       `json:"held"`
	Paid int       `json:"paid"`
}

// Rate is what was answered from At on, until the next one's At.
type Rate struct {
	At          time.Time `json:"at"`
	Seconds     int       `json:"seconds"`
	Created     int       `json:"created"`
	Refused     int       `json:"refused"`
	Unavailable int       `json:"unavailable"` // 503: try again
}

// Incident is something that went wrong, and when.
type Incident struct {
	Kind   string    `json:"kind"` // failover, frozen, rebuilt, breaker_opened, breaker_closed, unavailable
	From   time.Time `json:"from"`
	To     time.Time `json:"to"` // the same as From: an instant
	Detail string    `json:"detail"`
}

// Act is what an operator did, and why.
type Act struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Action string    `json:"action"`
	Reason string    `json:"reason"`
	Before string    `json:"before"`
	After  string    `json:"after"`
}

// Audit is which invariants were checked when the report was made, and what was
// found.
type Audit struct {
	At         time.Time   `json:"at"`
	OK         bool        `json:"ok"`
	Frozen     bool        `json:"frozen"` // Redis was lost and could not be judged
	Invariants []string    `json:"invariants"`
	NotJudged  []string    `json:"not_judged"`
	Violations []Violation `json:"violations"`
	OpenWork   []Count     `json:"open_work"`
	InRedis    int         `json:"in_redis"`
	Captured   int         `json:"captured"` // payments that the gateways call captured
}

// Violation is one broken promise about one thing.
type Violation struct {
	Invariant string `json:"invariant"`
	ID        string `json:"id"`
	Detail    string `json:"detail"`
}

// Holds says that every sum adds up and the audit found nothing.
func (d Document) Holds() bool {
	for _, s := range d.Sums {
		if !s.OK() {
			return false
		}
	}
	return d.Audit.OK
}

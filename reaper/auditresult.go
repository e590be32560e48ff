package reaper

import (
	"time"

	"github.com/holdfast/holdfast/ledger/invariant"
)

// AuditOptions widen an audit. The zero value is the audit of a running sale.
type AuditOptions struct {
	// AtRest also holds the sale to what is true only when nothing is under way:
	// no request, no message, all sweeps done.
	AtRest bool
	// Acked are booking ids that a client was told of (201 or 200).
	Acked []string
}

// AuditResult says whether the promises hold, and what waits for a person.
type AuditResult struct {
	Sale   string        `json:"sale"`
	At     time.Time     `json:"at"`
	Took   time.Duration `json:"took_ns"`
	OK     bool          `json:"ok"`     // every invariant holds, and all could be judged
	Frozen bool          `json:"frozen"` // Redis is lost or being rebuilt, and was not judged
	Looks  int           `json:"looks"`  // how often everything was read
	// Moving: bookings changed while they were read, so counters were not
	// compared with the records; conservation, which one script reads, was.
	Moving     bool        `json:"moving"`
	Violations []Violation `json:"violations"`
	// NotJudged names what could not be looked at: gateways without a list of
	// captured payments, and maps of Redis that were taken from its records.
	NotJudged []string `json:"not_judged"`

	Bookings map[string]int `json:"bookings"` // by state
	InRedis  int            `json:"in_redis"`
	Captured int            `json:"captured"` // payments that gateways call captured
	Work     []OpenWork     `json:"open_work"`
}

// Violation is one broken promise about one thing.
type Violation struct {
	Invariant string `json:"invariant"`
	ID        string `json:"id"` // booking, candidate, token, level or payment
	Detail    string `json:"detail"`
}

// OpenWork is something that has to be brought to its end: by an operator
// (review, inbox) or by the sweeps (refund, undo, pending). It breaks no promise.
type OpenWork struct {
	Kind   string    `json:"kind"` // review, inbox, refund, undo, pending
	ID     string    `json:"id"`
	Detail string    `json:"detail"`
	Since  time.Time `json:"since"`
}

// maxWork bounds the list of open work of each kind.
const maxWork = 100

func violation(v invariant.Violation) Violation {
	return Violation{Invariant: v.Invariant, ID: v.ID, Detail: v.Detail}
}

func (r *AuditResult) work(w OpenWork) {
	n := 0
	for _, o := range r.Work {
		if o.Kind == w.Kind {
			n++
		}
	}
	if n < maxWork {
		r.Work = append(r.Work, w)
	}
}

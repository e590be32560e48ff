package reaper

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// NoteSweep is the kind of the note that each sweep leaves; protocol.md 3.9 row
// 27 alarms on its age.
const NoteSweep = "sweep"

// SweepResult is what one sweep found and did.
type SweepResult struct {
	Sale        string        `json:"sale"`
	At          time.Time     `json:"at"`
	Took        time.Duration `json:"took_ns"`
	Over        bool          `json:"over"`   // the sale has closed and its last hold is due
	Frozen      bool          `json:"frozen"` // only refunds were swept
	Replication Replication   `json:"replication"`
	Breaker     string        `json:"breaker,omitempty"` // why attached orphans were left

	Pending  Tally `json:"pending"`
	Holds    Tally `json:"holds"`
	Undos    Tally `json:"undos"`
	Refunds  Tally `json:"refunds"`
	Replayed int   `json:"replayed"` // events put aside during a rebuild

	OldestPending   time.Duration `json:"oldest_pending_ns"`  // by Redis TIME
	OldestAttached  time.Duration `json:"oldest_attached_ns"` // of those over age, as far as looked at
	StatusPublished bool          `json:"status_published"`
}

// Failed is how many ids the sweep could not bring on.
func (r SweepResult) Failed() int {
	return r.Pending.Failed + r.Holds.Failed + r.Undos.Failed + r.Refunds.Failed
}

// Left is how many ids the sweep did not get to.
func (r SweepResult) Left() int {
	return r.Pending.Left + r.Holds.Left + r.Undos.Left + r.Refunds.Left
}

// Quiet reports whether there was nothing to do.
func (r SweepResult) Quiet() bool {
	return r.Pending.Found+r.Holds.Found+r.Undos.Found+r.Refunds.Found+r.Replayed == 0
}

// Tally counts what became of the ids of one kind. Every id that was found is
// in exactly one of the others.
type Tally struct {
	Found     int `json:"found"`
	Done      int `json:"done"`      // released, undone, driven on
	Captured  int `json:"captured"`  // its payment was faster and is queued
	Settled   int `json:"settled"`   // the ledger has it: Redis was told
	Postponed int `json:"postponed"` // the gateway or the replicas can't say, or the breaker is open
	Gone      int `json:"gone"`      // somebody else was faster
	Failed    int `json:"failed"`
	Left      int `json:"left"` // the pass ended before
}

// score adds to a tally from many goroutines.
type score struct {
	mu sync.Mutex
	to *Tally
}

// add returns the new count.
func (s *score) add(field func(*Tally) *int, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field(s.to) += n
	return *field(s.to)
}

// The fields of a tally.
var (
	found     = func(t *Tally) *int { return &t.Found }
	done      = func(t *Tally) *int { return &t.Done }
	captured  = func(t *Tally) *int { return &t.Captured }
	settled   = func(t *Tally) *int { return &t.Settled }
	postponed = func(t *Tally) *int { return &t.Postponed }
	gone      = func(t *Tally) *int { return &t.Gone }
	failed    = func(t *Tally) *int { return &t.Failed }
	left      = func(t *Tally) *int { return &t.Left }
)

func (r SweepResult) note() ledger.SweepNote {
	n := ledger.SweepNote{Kind: NoteSweep, At: r.At, Counts: map[string]int{
		"replayed": r.Replayed, "oldest_pending_ms": int(r.OldestPending.Milliseconds()), "took_ms": int(r.Took.Milliseconds()),
		"failed": r.Failed(), "left": r.Left(),
	}}
	if r.AtRest() {
		n.Counts["at_rest"] = 1
	}
	for name, t := range map[string]Tally{"pending": r.Pending, "holds": r.Holds, "undos": r.Undos, "refunds": r.Refunds} {
		n.Counts[name+"_found"], n.Counts[name+"_done"], n.Counts[name+"_captured"] = t.Found, t.Done, t.Captured
	}
	return n
}

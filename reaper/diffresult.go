package reaper

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// NoteDiff is the kind of the note that each complete diff leaves: the one
// published figure of drift (case J10).
const NoteDiff = "diff"

// Kind names a kind of drift. The set is closed; fit for a metric label.
type Kind string

// The kinds of drift (protocol.md 3.8, sweep 5).
const (
	KindUndoLost Kind = "undo_lost"       // Redis holds what the ledger has released: given back
	KindUnknown  Kind = "unknown"         // Redis holds what the ledger never saw, and it is not pending: impossible by INV4
	KindSoft     Kind = "soft_expired"    // a soft hold long past its deadline: given back
	KindLost     Kind = "lost"            // live in the ledger, missing in Redis: reseeded
	KindConflict Kind = "reseed_conflict" // in the way of a reseed stands a booking that the ledger has as live
	KindNoSeat   Kind = "reseed_refused"  // a reseed found no free seat, or a barred id
	KindIntent   Kind = "cap_intent"      // a cap change left open: finished
	KindCap      Kind = "cap"             // cfg has another cap than the plan: repeated
	KindSeats    Kind = "seats"           // named seats are not those of the plan: brought and taken, unless somebody has one
	KindTimes    Kind = "times"           // cfg has other times
	KindHold     Kind = "hold"            // cfg holds new bookings for another time
	KindOpen     Kind = "open"            // cfg is open and the control item is not, or the reverse
	KindRoster   Kind = "roster"          // cfg has another roster version, or Redis other rows
	KindCounts   Kind = "conservation"    // used + free is not the cap
	KindPaid     Kind = "paid_count"      // the numbers of paid seats are not those of the records: corrected
)

// maxExamples bounds the examples of each kind; maxSuspects bounds the note.
const (
	maxExamples = 10
	maxSuspects = 1000
)

// Drift is what a diff found of one kind.
type Drift struct {
	Count    int      `json:"count"`
	Repaired int      `json:"repaired"`
	Examples []string `json:"examples"` // ids, ten at most
}

// DiffResult is what one diff found and did.
type DiffResult struct {
	Sale        string        `json:"sale"`
	At          time.Time     `json:"at"`
	Took        time.Duration `json:"took_ns"`
	DryRun      bool          `json:"dry_run"`
	Frozen      bool          `json:"frozen"` // nothing was compared: rebuild first
	Replication Replication   `json:"replication"`

	Records int             `json:"records"` // bookings in Redis
	Live    int             `json:"live"`    // bookings in the ledger that are held or paid
	Drift   map[Kind]*Drift `json:"drift"`
	Failed  int             `json:"failed"` // ids that could not be looked into
	// Suspects are differences that could not be repaired, as kind:id. Alarmed
	// are those that were suspects of the run before, too.
	Suspects []string `json:"suspects"`
	Alarmed  []string `json:"alarmed"`
}

// Clean reports whether Redis and the ledger agree in everything compared.
func (r DiffResult) Clean() bool { return !r.Frozen && len(r.Drift) == 0 && r.Failed == 0 }

// Open counts the differences that are still there.
func (r DiffResult) Open() int {
	n := r.Failed
	for _, d := range r.Drift {
		n += d.Count - d.Repaired
	}
	return n
}

// findings collects drift from many goroutines.
type findings struct {
	mu       sync.Mutex
	drift    map[Kind]*Drift
	suspects map[string]bool
	failed   int
}

func newFindings() *findings {
	return &findings{drift: map[Kind]*Drift{}, suspects: map[string]bool{}}
}

// found notes a difference; one that is not repaired is a suspect.
func (f *findings) found(k Kind, id string, repaired bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.drift[k]
	if d == nil {
		d = &Drift{}
		f.drift[k] = d
	}
	d.Count++
	if len(d.Examples) < maxExamples {
		d.Examples = append(d.Examples, id)
	}
	if repaired {
		d.Repaired++
		return
	}
	f.suspects[suspect(k, id)] = true
}

func (f *findings) fail() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed++
	return f.failed
}

func suspect(k Kind, id string) string { return string(k) + ":" + id }

// into writes the findings into the result; before are the last run's suspects.
func (f *findings) into(r *DiffResult, before []string) {
	r.Drift, r.Failed = f.drift, f.failed
	r.Suspects = slices.Sorted(maps.Keys(f.suspects))
	for _, s := range before {
		if f.suspects[s] {
			r.Alarmed = append(r.Alarmed, s)
		}
	}
	for _, d := range r.Drift {
		slices.Sort(d.Examples)
	}
}

func (r DiffResult) note() ledger.SweepNote {
	n := ledger.SweepNote{Kind: NoteDiff, At: r.At, Suspects: r.Suspects[:min(len(r.Suspects), maxSuspects)], Counts: map[string]int{
		"records": r.Records, "live": r.Live, "failed": r.Failed, "open": r.Open(), "alarmed": len(r.Alarmed), "took_ms": int(r.Took.Milliseconds()),
	}}
	for k, d := range r.Drift {
		n.Counts["drift_"+string(k)], n.Counts["repaired_"+string(k)] = d.Count, d.Repaired
	}
	return n
}

// idOf is the booking id of a suspect whose kind is about bookings, or "".
func idOf(s string) string {
	kind, id, _ := strings.Cut(s, ":")
	switch Kind(kind) {
	case KindUndoLost, KindUnknown, KindSoft, KindLost, KindConflict, KindNoSeat:
		return id
	}
	return ""
}

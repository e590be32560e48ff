package reaper

import (
	"context"
	"errors"
	"time"
)

// RebuildStep names a step of a rebuild, in their order (protocol.md 3.9, full
// rebuild).
type RebuildStep string

// The steps of a rebuild.
const (
	StepClaim   RebuildStep = "claim"   // the sale is frozen, and this is its one rebuilder
	StepSettle  RebuildStep = "settle"  // until every process has seen that
	StepDrain   RebuildStep = "drain"   // until the queue is empty
	StepPrepare RebuildStep = "prepare" // what the caller changes in the ledger
	StepLoad    RebuildStep = "load"    // levels and roster
	StepSeed    RebuildStep = "seed"    // every live booking
	StepCheck   RebuildStep = "check"   // Redis holds what the ledger has
	StepOpen    RebuildStep = "open"    // cfg with the new generation, and unfrozen
	StepCompare RebuildStep = "compare" // what was put aside, and a diff
)

// RebuildProgress says where a rebuild is. Total is 0 where it is not known.
type RebuildProgress struct {
	Step        RebuildStep
	Done, Total int
	Detail      string
}

// Defaults of RebuildOptions.
const (
	DefaultDrainMax = 15 * time.Minute
	DefaultLease    = time.Minute
)

// RebuildOptions say how to rebuild.
type RebuildOptions struct {
	Progress func(RebuildProgress) // nil: nobody looks; called from one goroutine at a time
	DrainMax time.Duration         // 0: DefaultDrainMax; then ErrNotDrained
	// SkipDrain goes on with messages in the queue. It loses no promise: their
	// bookings are admitted again under the caps when they are handled, if seats
	// are left (protocol.md 3.6). Those customers may lose their seats.
	SkipDrain bool
	Lease     time.Duration // 0: DefaultLease; a rebuilder that dies is followed after it
	// Prepare, if set, changes the ledger while the sale is frozen and its queue
	// is drained, before Redis is filled from it: nobody else looks meanwhile. It
	// calls keep every few seconds, from one goroutine, and stops at its error.
	Prepare func(ctx context.Context, keep func(context.Context) error) error
}

// Errors of a rebuild. After any error the sale stays frozen: rebuild it again.
var (
	// ErrRebuilding: another rebuilder is at work, or died less than its lease ago.
	ErrRebuilding = errors.New("reaper: the sale is being rebuilt by another process: wait for it, or until its lease has run out")
	// ErrNotDrained: messages were still in the queue after DrainMax.
	ErrNotDrained = errors.New("reaper: the queue does not drain: start workers, or rebuild with the drain skipped")
	// ErrLeaseLost: another rebuilder has taken over.
	ErrLeaseLost = errors.New("reaper: another process has taken the rebuild over")
	// ErrUnfaithful: Redis does not hold what was put into it.
	ErrUnfaithful = errors.New("reaper: Redis does not hold what the ledger has: rebuild again")
)

// RebuildResult is what a rebuild came to.
type RebuildResult struct {
	Sale     string        `json:"sale"`
	At       time.Time     `json:"at"`
	Took     time.Duration `json:"took_ns"`
	Gen      int64         `json:"gen"`    // the generation that Redis has now
	Opened   bool          `json:"opened"` // the sale is not frozen any more, whatever the error says
	Roster   int           `json:"roster"` // rows loaded
	Live     int           `json:"live"`   // bookings put back
	Seats    int           `json:"seats"`  // their seats
	Replayed int           `json:"replayed"`
	Diff     DiffResult    `json:"diff"` // the comparison at the end
}

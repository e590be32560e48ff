package admission

import (
	"context"
	"time"
)

// Admitter admits. It is safe to call again with the same booking id at any
// time; a nil error means the answer is final and, for Admitted and Replayed,
// acknowledged by every required replica (protocol.md R4).
type Admitter interface {
	Admit(ctx context.Context, r Request) (Answer, error)
}

// UndoMode says how far an undo may go (protocol.md 3.4, S2).
type UndoMode string

// The modes of an undo.
const (
	UndoQuick   UndoMode = "quick"   // by the driver itself, before anything was sent: stage S, or A of the same driver
	UndoAbort   UndoMode = "abort"   // after a tombstone; the candidate was never answered
	UndoRelease UndoMode = "release" // after a release of a booking the candidate knows
)

// Undo gives a booking's seats back. Level and Driver as in the record. Seats that
// went back to a soft hold are not free, and not counted in the answer.
type Undo struct {
	Sale, BookingID, Candidate, Level string
	Mode                              UndoMode
	Driver                            int    // quick only
	HoldID                            string // quick only: the soft hold that was promoted gets its seats back, if it still had time
}

// UndoOutcome is the closed set of answers of an undo.
type UndoOutcome int

// The outcomes of an undo. Undone and Gone both mean: the seats are not held by
// this booking (any more).
const (
	Undone     UndoOutcome = iota + 1
	Gone                   // there was nothing to give back; the id is barred all the same
	Armed                  // quick: a payment is attached, the booking has gone on
	Superseded             // quick: another driver has taken over
)

// UndoAnswer is what an undo came to. Acknowledged says that every required
// replica has it; only then may T5 clear the owed undo (protocol.md 3.3, T5).
type UndoAnswer struct {
	Outcome      UndoOutcome
	Seats        int
	Version      int64 // greater than 0 if the public state changed
	Acknowledged bool
}

// Undoer undoes. Safe to call any number of times.
type Undoer interface {
	Undo(ctx context.Context, u Undo) (UndoAnswer, error)
}

// Settler marks that the ledger knows the booking: its pending entry goes if it
// is this booking's; paid also moves the record to stage P (protocol.md S3). It
// reports whether a pending entry went. Safe to call any number of times.
type Settler interface {
	Settle(ctx context.Context, sale, bookingID, candidate string, paid bool) (bool, error)
}

// Attachment binds a payment to an admitted booking (protocol.md S5).
type Attachment struct {
	Sale, BookingID string
	Driver          int
	PaymentID, URL  string
	HoldUntil       time.Time     // raises the hold, never shortens it
	StashFor        time.Duration // how long the URL is kept for duplicates
	Acknowledge     bool          // wait for the replicas (a resumed booking: protocol.md 3.5)
}

// AttachOutcome is the closed set of answers of an attach.
type AttachOutcome int

// The outcomes of an attach.
const (
	Attached         AttachOutcome = iota + 1
	AlreadyAttached                // AttachAnswer.PaymentID is the one that counts
	AttachGone                     // reaped or undone meanwhile: stop
	AttachSuperseded               // another driver has taken over: stop
)

// AttachAnswer is what an attach came to.
type AttachAnswer struct {
	Outcome   AttachOutcome
	PaymentID string
	HoldUntil time.Time
}

// Attacher attaches. Safe to call again with the same arguments. With
// Acknowledge set, a short acknowledgement is ErrUnacknowledged and the attach
// may or may not have happened.
type Attacher interface {
	Attach(ctx context.Context, a Attachment) (AttachAnswer, error)
}

// ResumeOutcome is the closed set of answers of a resume (protocol.md S10).
type ResumeOutcome int

// The outcomes of a resume.
const (
	Resumed        ResumeOutcome = iota + 1 // ResumeAnswer.Record has the new driver number
	ResumeBusy                              // the driver is not silent long enough
	ResumeHave                              // a payment is attached already
	ResumeMismatch                          // other key or other input
	ResumeGone
)

// ResumeAnswer is what a resume came to.
type ResumeAnswer struct {
	Outcome ResumeOutcome
	Stage   Stage
	Record  *Record
}

// Resumer takes over a silent driver; Resumed is acknowledged by the replicas.
type Resumer interface {
	Resume(ctx context.Context, sale, bookingID, key, inputHash string, silent time.Duration) (ResumeAnswer, error)
}

// Lookup reads single records. Missing is ErrNotFound.
type Lookup interface {
	Record(ctx context.Context, sale, bookingID string) (Record, error)
	// CandidateBooking returns the booking id that the candidate holds.
	CandidateBooking(ctx context.Context, sale, candidate string) (string, error)
	// Stash returns the payment URL kept for this booking, and nothing that
	// belongs to another one.
	Stash(ctx context.Context, sale, bookingID string) (string, error)
}

// Pending is one admission that is not known to be in the ledger.
type Pending struct {
	Candidate, BookingID, Level string
	Age                         time.Duration // by Redis TIME
}

// Sweepable lists what a sweep and a diff walk through. Pages may repeat an
// element (SCAN); the callbacks must bear it. An error means the walk is
// incomplete and nothing may be concluded from absence.
type Sweepable interface {
	ScanPending(ctx context.Context, sale string, each func(Pending) error) error
	ScanRecords(ctx context.Context, sale string, each func(r Record, pending bool) error) error
	// Missing returns those of the booking ids that have no record.
	Missing(ctx context.Context, sale string, bookingIDs []string) ([]string, error)
}

// ReseedOutcome is the closed set of answers of a reseed (protocol.md S4).
type ReseedOutcome int

// The outcomes of a reseed.
const (
	Reseeded        ReseedOutcome = iota + 1
	ReseedHave                    // the booking is there already
	ReseedDead                    // it was undone
	ReseedCandidate               // the candidate holds ReseedAnswer.Other
	ReseedSeat                    // a token is held by ReseedAnswer.Other
	ReseedNoFree                  // alarm: fewer free seats than the booking has
	ReseedCorrupt                 // alarm: conservation does not hold
)

// ReseedAnswer is what a reseed came to.
type ReseedAnswer struct {
	Outcome      ReseedOutcome
	Other        string
	Retired      int // free tokens retired for tokens that were nowhere
	Version      int64
	Acknowledged bool
}

// Reseeder puts a live booking of the ledger back into Redis. Stage says
// attached or paid. Safe to call any number of times.
type Reseeder interface {
	Reseed(ctx context.Context, sale string, r Record) (ReseedAnswer, error)
}

// CapOutcome is the closed set of answers of a cap change (protocol.md S9).
type CapOutcome int

// The outcomes of a cap change.
const (
	CapSet     CapOutcome = iota + 1
	CapUsed               // below the used seats: CapAnswer.Used and Cap have the numbers
	CapGen                // the generation has moved on
	CapNoLevel            // no such level
	CapSeated             // a seat plan changes by name
	CapCorrupt
	CapBad
	CapLate // a change with a higher serial was made before
)

// CapChange sets a level's cap, or with Level "" the sale's total.
type CapChange struct {
	Sale  string
	Gen   int64
	Level string
	Cap   int
	First int // first number to mint, from the ledger; numbers are never reused
	// Serial is the intent's number, from the ledger. A change that comes after a
	// later one is refused (CapLate): its operator stalled, and its cap is history.
	// 0: unnumbered, for a sale that has had no numbered change.
	Serial int64
}

// CapAnswer is what a cap change came to. With CapSet and Cap below the wish,
// call again: a call mints at most 1,000 tokens.
type CapAnswer struct {
	Outcome      CapOutcome
	Cap, Used    int
	Next         int
	Version      int64
	Acknowledged bool
}

// Capper changes caps.
type Capper interface {
	SetCap(ctx context.Context, c CapChange) (CapAnswer, error)
}

// LevelStatus are the seats of one level.
type LevelStatus struct {
	Name      string
	Kind      string // "c" counted, "s" seated
	Cap, Used int
	Free      int
	Paid      int // of Used: the ledger has their payment
}

// Status is one consistent reading of a sale (one script: protocol.md 3.13).
type Status struct {
	Sale              string
	Gen, Version      int64
	Open              bool
	OpensAt, ClosesAt time.Time
	Hold              time.Duration // of bookings that are admitted now
	Now               time.Time     // Redis TIME
	TotalCap, Used    int
	Paid              int // of Used
	RosterVersion     string
	RosterSize        int
	Bookings, Pending int           // records, and those not known to be in the ledger
	Levels            []LevelStatus // in the order asked for
}

// StatusReader reads a sale's status. A sale Redis does not know is ErrNotFound.
type StatusReader interface {
	Status(ctx context.Context, sale string, levels []string) (Status, error)
}

// LevelPlan is a level as it is loaded: Next is the next number to mint.
type LevelPlan struct {
	Name, Kind string
	Cap, Next  int
	Tokens     []string // seated levels: the names, in seat order; nil for counted ones
}

// Plan is a sale as it is loaded into Redis.
type Plan struct {
	Sale              string
	Gen               int64
	OpensAt, ClosesAt time.Time
	Hold              time.Duration
	TotalCap          int
	Open              bool
	RosterVersion     string
	Levels            []LevelPlan
}

// RosterEntry is one candidate who may book.
type RosterEntry struct {
	Candidate string
	EmailHash string
	Levels    []string // empty: any
}

// Loader writes what is sold, and to whom.
type Loader interface {
	// Install creates the sale's keys from the plan. It refuses if the sale has
	// a cfg already, unless that is of an older generation (a rebuild). The cfg
	// is written last, so a sale that is half installed admits nobody.
	Install(ctx context.Context, p Plan, rebuild func(ctx context.Context) error) error
	// PutRoster writes rows and removes; Publish of the version is separate so
	// that the ledger and Redis are complete before any snapshot trusts them.
	PutRoster(ctx context.Context, sale string, rows []RosterEntry) error
	DropRoster(ctx context.Context, sale string, candidates []string) error
	SetRosterVersion(ctx context.Context, sale string, gen int64, version string) error
	ScanRoster(ctx context.Context, sale string, each func(RosterEntry) error) error
	// SetOpen opens or closes the sale; SetTimes moves its times. Both raise the
	// status version, wait for the replicas and answer StaleGen as an error.
	SetOpen(ctx context.Context, sale string, gen int64, open bool) (version int64, err error)
	SetTimes(ctx context.Context, sale string, gen int64, opensAt, closesAt time.Time) (version int64, err error)
	// SetHold changes how long bookings are held that are admitted from now on;
	// those that are admitted keep what they were promised. It waits for the
	// replicas and answers ErrStaleGen; nobody outside sees it, so it has no version.
	SetHold(ctx context.Context, sale string, gen int64, hold time.Duration) error
}

// Health is what a Redis deployment says about itself.
type Health struct {
	Role                  string // "master" or "slave"
	ReplicationID         string
	PreviousReplication   string // master_replid2
	PreviousOffset        int64  // second_repl_offset: this server has the previous history up to here, not including it
	Offset                int64
	ConnectedReplicas     int
	ReplicaLagBytes       int64
	EvictionPolicy        string
	UsedMemory, MaxMemory int64
	Version               string
}

// HealthReader asks the primary that serves the sale.
type HealthReader interface {
	Health(ctx context.Context, sale string) (Health, error)
}

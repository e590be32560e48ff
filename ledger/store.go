package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/sale"
)

// Store keeps bookings, ownership, payments, control items and rosters. Single
// reads are consistent; listings by index are only proposals and may be stale:
// a conditional write decides (protocol.md 1.7). Every method is safe to repeat.
type Store interface {
	// Apply writes the transition if all of its conditions hold. If one fails
	// the error is a *ConditionError that carries what is there instead. Any
	// other error means that the outcome is unknown or nothing was decided:
	// repeat it, conditions make that safe. ErrBusy is worth a quick repeat.
	Apply(ctx context.Context, t Transition) error

	Booking(ctx context.Context, bookingID string) (Booking, error) // ErrNotFound
	Payment(ctx context.Context, k PaymentKey) (PaymentRecord, error)
	CandidateBooking(ctx context.Context, saleID, candidate string) (string, error) // C; ErrNotFound
	SeatBooking(ctx context.Context, saleID, token string) (string, error)          // S; ErrNotFound

	// DueHolds proposes held bookings whose hold ended at or before cut.
	DueHolds(ctx context.Context, saleID string, cut time.Time, each func(bookingID string) error) error
	// OwedUndos proposes released bookings that Redis may still hold.
	OwedUndos(ctx context.Context, saleID string, each func(bookingID string) error) error
	// DueRefunds proposes payments whose refund is DUE or SENT.
	DueRefunds(ctx context.Context, saleID string, each func(PaymentKey) error) error

	// Scan walks every item of a sale with consistent reads. It is not a
	// snapshot: counts from it are evidence, ids are proof. An error means the
	// walk is incomplete.
	Scan(ctx context.Context, saleID string, v Visitor) error

	ControlStore
	RosterStore
	StatusStore
	Inbox
}

// Visitor gets what Scan meets; nil functions skip their kind. The functions
// may be called from several goroutines unless the store says otherwise; both
// stores of this repository call them from one at a time.
type Visitor struct {
	Booking   func(Booking) error
	Candidate func(candidate, bookingID string) error
	Seat      func(token, bookingID string) error
	Payment   func(PaymentRecord) error
	Roster    func(RosterRow) error
}

// Control is the G item of a sale (protocol.md 3.3): the plan that a rebuild
// reopens, and the switches that fence generations.
type Control struct {
	Sale           string
	Gen            int64
	Frozen         bool
	Rebuilder      string
	RebuilderUntil time.Time // the rebuilder's lease
	Plan           sale.Sale
	Open           bool
	Next           map[string]int // level -> next token number, never reused
	RosterVersion  string
	RosterSize     int
	CapIntent      *CapIntent
	CapSerial      int64     // of the last cap change that was begun; never goes back
	SeatSerial     int64     // of the last edit of named seats that was begun; never goes back. Only who took it writes seats
	SeatsAt        time.Time // when it was begun; zero once the plan has it
	Epoch          int64     // rises when the replication id changes (protocol.md 3.13)
	ReplicationID  string    // of the primary last seen
	Breaker        string    // why the breaker is open, or ""
	Rev            int64     // optimistic lock; set by the store
}

// CapIntent is a cap change under way (protocol.md 3.4). Level "" is the total.
type CapIntent struct {
	Serial   int64 // Control.CapSerial when it was begun
	Level    string
	From, To int
	First    int // first number to mint
	Actor    Actor
	Reason   string
	At       time.Time
}

// SweepNote is what a sweep or diff leaves behind for alarms and status.
type SweepNote struct {
	Kind     string // "sweep", "diff" and others of the reaper's
	At       time.Time
	Counts   map[string]int
	Suspects []string // ids a diff could not explain; alarmed when seen twice
	Mark     string   // that every replica of Redis had when a sweep looked (protocol.md 3.9)
}

// AuditEntry is one act of an operator on a sale, or an incident.
type AuditEntry struct {
	At             time.Time
	Actor          Actor
	Action, Reason string
	Before, After  string
}

// ControlStore keeps the G items.
type ControlStore interface {
	Sales(ctx context.Context) ([]string, error)
	Control(ctx context.Context, saleID string) (Control, error) // ErrNotFound
	// CreateControl fails with ErrExists if the sale has a control item.
	CreateControl(ctx context.Context, c Control) error
	// UpdateControl reads, lets change edit, and writes if nobody was faster,
	// else starts again (bounded). An error of change stops it and is returned.
	// change may run several times, after a lost answer also on its own effect:
	// it must look before it counts up. ErrNotFound without a control item.
	UpdateControl(ctx context.Context, saleID string, change func(*Control) error) (Control, error)
	// NoteSweep and LastSweep keep the newest note of each kind (an older one that
	// comes late is dropped without an error), without touching the control
	// item's revision. None yet: ErrNotFound.
	NoteSweep(ctx context.Context, saleID string, n SweepNote) error
	LastSweep(ctx context.Context, saleID, kind string) (SweepNote, error)
	// AppendAudit and Audit keep the trail, oldest first: operators' acts, and the
	// incidents that the reaper saw. The very same entry twice is one, so an unknown
	// outcome may be repeated.
	AppendAudit(ctx context.Context, saleID string, e AuditEntry) error
	Audit(ctx context.Context, saleID string, each func(AuditEntry) error) error
}

// RosterRow is the R item: who may book. No code and no e-mail, only hashes.
type RosterRow struct {
	Candidate, EmailHash string
	Levels               []string
}

// RosterStore keeps the R items.
type RosterStore interface {
	// PutRoster writes any number of rows, not in one piece: after an error repeat
	// it all. Of two rows of one candidate the last one stays.
	PutRoster(ctx context.Context, saleID string, rows []RosterRow) error
	// DropRoster removes rows; one that is not there is no error.
	DropRoster(ctx context.Context, saleID string, candidates []string) error
}

// StatusStore keeps the published status document of each sale (protocol.md 3.13).
type StatusStore interface {
	// PutStatus stores the document only if (epoch, n) is greater than what is
	// stored; ErrStale otherwise. A repeat is stale: it is stored already.
	PutStatus(ctx context.Context, saleID string, epoch, n int64, doc []byte) error
	// StatusDoc returns the newest document and its version. None: ErrNotFound.
	StatusDoc(ctx context.Context, saleID string) (doc []byte, epoch, n int64, err error)
}

// InboxItem is a payment or event that nothing could be made of and that an
// operator must see (protocol.md 3.6): never dropped.
type InboxItem struct {
	Sale    string
	ID      string // stable: parking the same thing twice is one item
	Payment PaymentKey
	Reason  string
	Detail  string // JSON without codes or e-mails
	At      time.Time
	Done    bool // an operator has dealt with it; set by the store, like the next two
	DoneBy  Actor
	DoneAt  time.Time
}

// Inbox keeps what was parked.
type Inbox interface {
	// Park keeps the item. Parked again it is open again, also after it was
	// resolved: what came back has not been dealt with.
	Park(ctx context.Context, it InboxItem) error
	// Parked lists open and resolved items, in the order of their ids.
	Parked(ctx context.Context, saleID string, each func(InboxItem) error) error
	// ResolveParked closes an item; the first one to do so is remembered.
	// ErrNotFound if it was never parked.
	ResolveParked(ctx context.Context, saleID, id string, actor Actor) error
}

// Found is what a failed transition met. Every item that the transition names
// is looked at, by the store's answer or by a consistent read.
type Found struct {
	Booking   *Booking          // the created or updated B; nil: absent
	Candidate string            // C: the booking id that owns the candidate, "" if nobody
	Seats     map[string]string // S: token -> booking id, only tokens that somebody owns
	Payment   *PaymentRecord    // P; nil: absent
	Linked    *Booking          // the B that Link names; nil: absent
}

// ConditionError: a condition of the transition did not hold, so nothing was
// written. The functions in read.go say what that means.
type ConditionError struct {
	Name  Name
	Found Found
}

// Error implements error.
func (e *ConditionError) Error() string {
	return fmt.Sprintf("ledger: %s: a condition does not hold", e.Name)
}

// Errors of a store.
var (
	ErrNotFound = errors.New("ledger: not found")
	ErrExists   = errors.New("ledger: exists already")
	// ErrStale: a newer version is stored.
	ErrStale = errors.New("ledger: a newer version is stored")
	// ErrBusy: throttled, or in the way of another transaction; nothing was decided.
	ErrBusy = errors.New("ledger: busy, nothing was decided")
)

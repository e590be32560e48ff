// Package admission names the outcomes of admission and the port through which
// the rest of Holdfast asks for it. It knows no Redis: the adapter lives in
// admission/redis, and every rule it must keep is in protocol.md 3.4.
package admission

import (
	"errors"
	"fmt"
	"time"
)

// Outcome is the closed set of answers to an admission (protocol.md 3.4, S1).
// The zero value is no answer at all and is never returned with a nil error.
type Outcome int

// The outcomes of an admission. Only Admitted and Replayed mean that the
// booking holds its seats and that every required replica has said so.
const (
	Admitted      Outcome = iota + 1 // the seats were taken just now
	Replayed                         // the same booking id was admitted before; same seats
	Same                             // same idempotency key and input: Answer names that booking
	Mismatch                         // same idempotency key, other input
	Duplicate                        // the candidate holds another booking
	Released                         // same idempotency key, its booking has been released
	StaleGen                         // the sale's generation has moved on, or Redis is empty
	Dead                             // this booking id was undone; a delayed copy asks again
	UnknownCode                      // the code is not on the roster
	EmailMismatch                    // the roster has another e-mail for the code
	NotAllowed                       // the roster does not allow this level
	Closed                           // the sale is not open (Answer.OpensAt)
	UnknownLevel                     // the sale has no such level, or no caps
	Corrupt                          // conservation does not hold: alarm, refuse
	Taken                            // a named seat is not free (Answer.TakenSeat)
	LevelFull                        // not enough free seats in the level
	SoldOut                          // the sale's total cap is reached
	BadArgument                      // refused before anything was read
	HoldGone                         // the soft hold is not there any more, or its deadline has passed
)

var outcomeNames = map[Outcome]string{
	Admitted: "admitted", Replayed: "replayed", Same: "same", Mismatch: "mismatch",
	Duplicate: "duplicate", Released: "released", StaleGen: "stale_gen", Dead: "dead",
	UnknownCode: "unknown_code", EmailMismatch: "email_mismatch", NotAllowed: "not_allowed",
	Closed: "closed", UnknownLevel: "unknown_level", Corrupt: "corrupt", Taken: "taken",
	LevelFull: "level_full", SoldOut: "sold_out", BadArgument: "bad_argument",
	HoldGone: "hold_gone",
}

// String returns the outcome's name as metrics and logs use it.
func (o Outcome) String() string {
	if s, ok := outcomeNames[o]; ok {
		return s
	}
	return fmt.Sprintf("outcome(%d)", int(o))
}

// Stage is how far an admitted booking has come in Redis (protocol.md 3.2).
type Stage string

// The stages of a record.
const (
	StageSoft     Stage = "S" // seats chosen, nothing promised
	StageAdmitted Stage = "A"
	StageAttached Stage = "E" // a payment exists
	StagePaid     Stage = "P"
)

// ProvenRoster in Request.RosterVersion skips entitlement, opening flag and
// times, for an admission that its own event proves (protocol.md 3.6). Caps are
// never skipped.
const ProvenRoster = "*"

// Request asks for seats for one candidate. Every string that reaches a script
// is a validated name, a hash or a number (protocol.md 3.4).
type Request struct {
	Sale          string
	BookingID     string // minted by the caller; a repeat of it is a replay
	Candidate     string // the code's keyed hash
	Level         string
	Gen           int64
	Key           string // hash of the client's idempotency key, or ""
	InputHash     string // hash of the client's input, compared when Key repeats
	RosterVersion string // the version the caller checked against; "" = check here; ProvenRoster
	EmailHash     string // "" skips only the e-mail test
	AmountMinor   int64  // of the whole booking
	Currency      string
	Count         int      // counted level: 1..10
	Seats         []string // seated level: the names; Count is then ignored
}

// Answer is what an admission came to. Which fields are set depends on Outcome.
type Answer struct {
	Outcome      Outcome
	BookingID    string   // ours, or for Same, Duplicate, Released the other one
	Tokens       []string // Admitted, Replayed
	Stage        Stage    // Admitted, Replayed, Same, Duplicate
	Driver       int      // Admitted, Replayed: the driver number for Attach and Undo
	AdmittedAt   time.Time
	HoldUntil    time.Time // Admitted, Replayed, Same, Duplicate
	Version      int64     // greater than 0 if the public state changed: publish it (protocol.md 3.13)
	EmailMatches bool      // Duplicate: the request's e-mail is the booking's
	Level        string    // Duplicate: the level of the other booking
	TakenSeat    string    // Taken
	OpensAt      time.Time // Closed, zero if the sale has no times
	Record       *Record   // Same: the booking as it stands
}

// Record is an admitted booking as Redis keeps it (`bk`, protocol.md 3.2).
type Record struct {
	BookingID   string
	Candidate   string
	Level       string
	Tokens      []string
	Scores      []int64 // the tokens' order in the level, same length as Tokens
	Key         string
	InputHash   string
	EmailHash   string
	AdmittedAt  time.Time
	DriverAt    time.Time // last take-over
	Stage       Stage
	Driver      int
	PaymentID   string
	AmountMinor int64
	Currency    string
	HoldUntil   time.Time
	Gen         int64
}

// Errors of the port. Anything else that comes back as an error is a fault of
// the connection or the server, with the outcome unknown.
var (
	// ErrUnacknowledged: the replicas did not acknowledge in time. The admission
	// was undone, or will be by the reaper; nothing was promised (protocol.md 3.5).
	ErrUnacknowledged = errors.New("admission: not acknowledged by the required replicas")
	// ErrUnavailable: refused before anything ran, locally (three short WAITs in a
	// row, a full queue, a deadline that ran out while queued: protocol.md 3.12) or
	// by the server (out of memory, loading, a replica, too few replicas).
	ErrUnavailable = errors.New("admission: refused locally, try again later")
	// ErrUnknown: the outcome could not be learned with the same booking id; a
	// quick undo was tried.
	ErrUnknown = errors.New("admission: outcome unknown")
	// ErrInvalid: an argument that no script may see (protocol.md 3.4). Admit
	// answers BadArgument instead.
	ErrInvalid = errors.New("admission: invalid argument")
	// ErrStaleGen: the sale has another generation, or is not installed.
	ErrStaleGen = errors.New("admission: the sale's generation has moved on: read it from the ledger again")
	// ErrInstalled: the sale is installed with this generation or a later one.
	ErrInstalled = errors.New("admission: the sale is installed already: change its caps, times or roster instead")
	// ErrCorrupt: used + free is not the cap: run the audit.
	ErrCorrupt = errors.New("admission: conservation does not hold: run the audit")
	// ErrLayout: Redis keeps the sale in the form of another build. Nothing was read
	// or written. The build that loaded it can serve it; a rebuild with this one
	// makes its keys anew from the ledger (protocol.md 3.9).
	ErrLayout = errors.New("admission: Redis keeps the sale in the form of another build")
	// ErrNotFound: no such record.
	ErrNotFound = errors.New("admission: not found")
)

// Package invariant holds the promises of protocol.md 5.3 as pure functions over
// a snapshot: plain data about the ledger, Redis and the gateways. Audit, the
// counter-diff, the simulator and tests all run the same functions.
//
// A snapshot of a running system is not taken at one moment, so a violation in
// it is a suspicion that has to survive a second look by id (protocol.md 3.8);
// of a system at rest it is a proof.
package invariant

import (
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// Snapshot is what is known of one sale.
type Snapshot struct {
	Plan       sale.Sale // the caps
	Bookings   map[string]ledger.Booking
	Claims     map[string]string // C items: candidate -> booking id
	SeatOwners map[string]string // S items: token -> booking id
	Payments   map[ledger.PaymentKey]ledger.PaymentRecord

	Redis    *RedisView              // nil: Redis was not looked at, and what needs it holds
	Captured []CapturedPayment       // nil: the gateways were not asked
	Acked    []string                // booking ids that a client got with a 201 or 200
	Earlier  map[string]ledger.State // states in an earlier snapshot; nil: none
}

// CapturedPayment is a payment that its gateway calls completed.
type CapturedPayment struct {
	Key         ledger.PaymentKey
	AmountMinor int64
	Currency    string
}

// RedisView is the admission state of the sale as data (protocol.md 3.2).
type RedisView struct {
	Gen     int64
	Records map[string]Record    // bk: booking id -> record
	Seen    map[string]string    // candidate -> booking id
	Seats   map[string]string    // token -> booking id
	Free    map[string]int       // level -> free tokens
	Levels  map[string]int       // level -> published counter
	Total   int                  // published counter
	Pending map[string]Pending   // candidate -> entry
	Soft    map[string]time.Time // soft-held booking id -> deadline
}

// Stage is how far an admission has come (protocol.md 3.2).
type Stage string

// The stages.
const (
	SoftHeld Stage = "S"
	Admitted Stage = "A"
	Attached Stage = "E"
	Settled  Stage = "P"
)

// Record is an admission.
type Record struct {
	Candidate, Level string
	Tokens           []string
	Stage            Stage
}

// Pending is an admission that is not known to be in the ledger.
type Pending struct {
	BookingID, Level string
	At               time.Time
}

// Violation is one broken promise about one thing.
type Violation struct {
	Invariant string // the function's name
	ID        string // booking, candidate, token, level or payment
	Detail    string // for an operator
}

// always are the invariants that hold at any time.
var always = []struct {
	name  string
	holds func(Snapshot) []Violation
}{
	{"Caps", Caps}, {"OneLive", OneLive}, {"TokenOwner", TokenOwner}, {"LsubR", LsubR}, {"NoOrphan", NoOrphan},
	{"Conserve", Conserve}, {"PendHasSeat", PendHasSeat}, {"PayOnce", PayOnce}, {"Terminal", Terminal}, {"AckDurable", AckDurable},
}

// Names are the names of what Check checks.
func Names() []string {
	names := make([]string, len(always))
	for i, a := range always {
		names[i] = a.name
	}
	return names
}

// Check runs all invariants that hold at any time.
func Check(s Snapshot) []Violation {
	var all []Violation
	for _, a := range always {
		all = append(all, a.holds(s)...)
	}
	return all
}

// CheckQuiet runs all of them and those that hold only at rest: no request, no
// message, all sweeps done.
func CheckQuiet(s Snapshot) []Violation { return append(Check(s), Quiet(s)...) }

package admission

import (
	"context"
	"time"
)

// HoldRequest asks for named seats for a candidate who is choosing (protocol.md
// 3.4 S6, 4). Nothing is promised by a soft hold: it lives in Redis alone, and a
// failover may lose it.
type HoldRequest struct {
	Sale        string
	HoldID      string // minted by the caller for each attempt; whoever knows it owns the hold
	Candidate   string
	Level       string
	Gen         int64
	Key         string // hash of the client's idempotency key, or ""
	InputHash   string
	EmailHash   string
	AmountMinor int64 // of all the seats; what a booking of this hold costs
	Currency    string
	Seats       []string      // 1..10 names, all or none
	For         time.Duration // how long to hold them
	Max         time.Duration // the longest life of the candidate's holds, from the first one
	Change      bool          // the hold must be there: change its choice
}

// Extension asks for more time for a soft hold (protocol.md 3.4 S7).
type Extension struct {
	Sale, HoldID, Level string
	Gen                 int64
	For, Max            time.Duration
}

// HoldAnswer is what a soft hold, its change or its extension came to. Outcome is
// one of Admitted (held), Same, Mismatch, Duplicate, StaleGen, Dead, UnknownCode,
// EmailMismatch, NotAllowed, Closed, UnknownLevel, Corrupt, Taken, SoldOut,
// BadArgument, HoldGone; an extension answers Admitted, StaleGen or HoldGone.
type HoldAnswer struct {
	Outcome   Outcome
	HoldID    string
	Record    *Record   // Admitted, Same
	Until     time.Time // Admitted, Same: the deadline, by Redis TIME
	First     time.Time // Admitted: when the candidate's first hold began
	Now       time.Time // Admitted: Redis TIME
	Version   int64     // greater than 0 if the public state changed
	Taken     []string  // Taken: all that are not free
	OpensAt   time.Time // Closed
	BookingID string    // Duplicate: the candidate's booking, with Stage, Level, HoldUntil and EmailMatches
	Stage     Stage
	Level     string
	HoldUntil time.Time

	EmailMatches bool
}

// SoftHolder keeps the seats of candidates who are choosing. A hold past its
// deadline refuses nobody, whether or not anybody has released it.
type SoftHolder interface {
	// Hold takes the seats, all or none. A live hold of the same candidate under
	// another id is replaced in the same step: seats in common are never free, and
	// the other id is dead. Safe to call again with the same arguments.
	Hold(ctx context.Context, r HoldRequest) (HoldAnswer, error)
	// Extend moves a live hold's deadline: never beyond Max from the first hold,
	// and never back. Safe to call again.
	Extend(ctx context.Context, e Extension) (HoldAnswer, error)
	// Promote turns a hold into an admission under r.BookingID (protocol.md 3.4
	// S8). Of r the seats, the amount and the count are ignored: the hold has them,
	// and Answer.Record says them. What Admitter says of errors and of calling
	// again holds here too.
	Promote(ctx context.Context, r Request, holdID string) (Answer, error)
	// Lapse releases at most limit expired holds of a level and says how many.
	// Nobody has to call it for the seats' sake; it gives the sale's total back to
	// other levels, and keeps the figures of the status true. Safe to call again.
	Lapse(ctx context.Context, sale, level string, limit int) (n int, version int64, err error)
}

// SeatMap is one consistent reading of who has which named seats.
type SeatMap struct {
	Gen, Version int64
	Now          time.Time // Redis TIME
	Holders      []Holder
}

// Holder is a booking or a soft hold with its named seats.
type Holder struct {
	ID    string // secret: never shown to others
	Level string
	Stage Stage
	Until time.Time // of a soft hold the deadline, of a booking hold_until
	Seats []string
}

// SeatReader reads seat maps.
type SeatReader interface {
	// SeatVersion is the version of the public state: cheap, to see whether a map
	// is still the newest. ErrNotFound if the sale is not installed.
	SeatVersion(ctx context.Context, sale string) (gen, version int64, err error)
	// Seats reads the holders of seats in these levels, in one round trip however
	// many there are. ErrNotFound if the sale is not installed.
	Seats(ctx context.Context, sale string, levels []string) (SeatMap, error)
}

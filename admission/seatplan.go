package admission

import "context"

// SeatEditOp says what to do with named seats of a level.
type SeatEditOp string

// The edits.
const (
	CheckSeats   SeatEditOp = "check"   // may they be dropped? nothing is changed
	MissingSeats SeatEditOp = "missing" // which of them are not there? nothing is changed
	DropSeats    SeatEditOp = "drop"    // all of them or none: none may be held or sold
	AddSeats     SeatEditOp = "add"     // those that are there already get their new place in the order while they are free
)

// MaxSeatEdit is the most seats of one edit: it keeps the script short.
const MaxSeatEdit = 500

// SeatEdit changes a seated level by name, while its sale goes on (protocol.md 4).
type SeatEdit struct {
	Sale   string
	Gen    int64
	Level  string
	Op     SeatEditOp
	Serial int64 // DropSeats, AddSeats: ledger.Control.SeatSerial of whoever edits
	Seats  []string
	Scores []int64 // AddSeats: the seats' order, as many as Seats
}

// SeatEditAnswer is what an edit came to. Held has every seat that is in the way;
// then nothing was changed.
type SeatEditAnswer struct {
	Held    []string
	Missing []string // MissingSeats: in their order
	Changed int
	Cap     int // of the level, afterwards
	Version int64
}

// SeatEditor edits seats. A change is acknowledged by every required replica, or
// the error is ErrUnacknowledged: then it is done, and may be repeated. Safe to
// call again, and safe to come late: an edit whose serial is below one that was
// made before is ErrMoved, and changes nothing. ErrStaleGen, ErrNotFound (no such
// seated level), ErrCorrupt.
type SeatEditor interface {
	EditSeats(ctx context.Context, e SeatEdit) (SeatEditAnswer, error)
}

// FreeScanner walks the free seats of a level. A seat may come twice; one that is
// taken or given back meanwhile may be left out. An error means the walk is
// incomplete.
type FreeScanner interface {
	ScanFree(ctx context.Context, saleID, level string, each func(token string) error) error
}

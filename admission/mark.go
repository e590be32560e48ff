package admission

import "context"

// Mark asks a primary to prove which history it has (protocol.md 3.9, Redis
// lost). A mark is a random word that was put into the sale's cfg and that every
// required replica has; the ledger knows the last one. By the prefix property
// (1.2) a primary that has it holds everything that was acknowledged before it,
// however many failovers lie between.
type Mark struct {
	Sale  string
	Gen   int64
	Known string // the last one that the ledger knows; "" if none of this generation
	Next  string // what to put in its place
}

// MarkAnswer is what the primary came to.
type MarkAnswer struct {
	// Mark is the mark that is there now: Next, or one that somebody put there
	// after Known and nobody has noted yet. "" if the primary has neither: it
	// does not have the history that the ledger knows of, or others have gone on
	// since Known was read.
	Mark         string
	Acknowledged bool // every required replica follows this primary, and has Mark
}

// Marker moves the mark on. Safe to call twice: a mark that nobody has noted
// stays until somebody does, so at most one is ahead of the ledger.
//
// ErrStaleGen says that the primary does not have the sale, or not with this
// generation. The answer beside it has no mark, and Acknowledged of this very
// primary: without it, it may be one that was deposed.
type Marker interface {
	SetMark(ctx context.Context, m Mark) (MarkAnswer, error)
}

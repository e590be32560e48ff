package admissiontest

import "errors"

// Fault is what goes wrong with one call.
type Fault int

// The faults.
const (
	NoFault    Fault = iota
	FailBefore       // ErrFailed, and nothing is done
	LoseAnswer       // everything is done, but the caller gets ErrAnswerLost; nothing is undone
	ShortWait        // the replicas do not acknowledge; an admission of one driver is undone at once
	GhostWait        // the same, but the undo of an admission fails too: a ghost stays pending
)

// What a caller gets from an injected fault.
var (
	ErrFailed     = errors.New("admissiontest: injected: failed before anything was done")
	ErrAnswerLost = errors.New("admissiontest: injected: the answer was lost")
)

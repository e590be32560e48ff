package lifecycletest

import (
	"errors"
	"sync"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger/ledgertest"
)

// ErrCrashed is what every call gets once the process has crashed.
var ErrCrashed = errors.New("lifecycletest: injected: the process has crashed")

// Fault is what goes wrong with one call of any port.
type Fault int

// The faults. The short waits are of Redis; elsewhere they are no fault.
const (
	NoFault Fault = iota
	FailBefore
	LoseAnswer
	ShortWait
	GhostWait
)

// Faults numbers every call of every port, and crashes the process at one of
// them: from there on nothing gets through any more, until Restart.
type Faults struct {
	// Yield and Inject, if set before the first call, are asked at every call,
	// outside of all locks: a scheduler's turn, and a fault of its choice.
	Yield  func(op string)
	Inject func(op string) Fault

	mu      sync.Mutex
	calls   int
	at      int  // the call that crashes, counted from 1; 0: none
	after   bool // it is done, only its answer is lost
	crashed bool
	ops     []string
}

// CrashAt makes the k-th call from now crash the process: before it is done, or
// after it is done and before its answer is read.
func (f *Faults) CrashAt(k int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.at, f.after, f.crashed, f.ops = 0, k, after, false, nil
}

// Restart ends the crash; nothing goes wrong any more.
func (f *Faults) Restart() { f.CrashAt(0, false) }

// Crashed reports whether the crash came, and the calls up to it.
func (f *Faults) Crashed() (bool, []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crashed, f.ops
}

func (f *Faults) next(op string) Fault {
	if f.Yield != nil {
		f.Yield(op)
	}
	if f.Inject != nil {
		if fault := f.Inject(op); fault != NoFault {
			return fault
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed {
		return FailBefore
	}
	f.calls++
	f.ops = append(f.ops, op)
	if f.at == 0 || f.calls < f.at {
		return NoFault
	}
	f.crashed = true
	if f.after {
		return LoseAnswer
	}
	return FailBefore
}

func (f *Faults) ledger(op string) ledgertest.Fault {
	switch f.next("ledger " + op) {
	case FailBefore:
		return ledgertest.FailBefore
	case LoseAnswer:
		return ledgertest.LoseAnswer
	}
	return ledgertest.NoFault
}

func (f *Faults) redis(op string) admissiontest.Fault {
	return map[Fault]admissiontest.Fault{NoFault: admissiontest.NoFault, FailBefore: admissiontest.FailBefore,
		LoseAnswer: admissiontest.LoseAnswer, ShortWait: admissiontest.ShortWait, GhostWait: admissiontest.GhostWait}[f.next("redis "+op)]
}

// Package fault describes what can go wrong with one call to a service of the local cloud. The engines (queues, tables) ask a Plan before each call and act on its Verdict, so that tests, torture runs and the simulator inject the faults of protocol.md 5.4 into the production adapters from one place.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Point names one call: the service ("sqs", "dynamodb"), its operation as the wire spells it ("SendMessage") and the queue or table that it addresses.
type Point struct {
	Service, Op, Resource string
}

// Kind says what happens to a call.
type Kind uint8

const (
	// None lets the call through.
	None Kind = iota
	// Throttle refuses the call with the service's throttling error; nothing is changed.
	Throttle
	// FailBefore refuses the call with an internal error; nothing is changed.
	FailBefore
	// LoseAnswer executes the call and then drops the answer: the caller can't know.
	LoseAnswer
	// Duplicate makes the effect happen twice: a sent message is stored twice, a received one is visible again at once. Services without such a fault treat it as None.
	Duplicate
	// Conflict refuses a transaction because of another one. Services without transactions treat it as FailBefore.
	Conflict
	// Slow lets the call through after Verdict.Delay.
	Slow
	// Partial fails the entries of a batch that Verdict.Entries names and executes the others. Outside a batch it is None.
	Partial
)

var kindNames = [...]string{"none", "throttle", "fail-before", "lose-answer", "duplicate", "conflict", "slow", "partial"}

// String returns the kind's name for logs and metrics.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Verdict is a Plan's decision about one call. The zero Verdict is no fault.
type Verdict struct {
	Kind    Kind
	Delay   time.Duration // only with Slow
	Entries uint64        // only with Partial: bit i fails entry i
}

// SlowBy is the verdict of a call that takes d longer.
func SlowBy(d time.Duration) Verdict { return Verdict{Kind: Slow, Delay: d} }

// FailEntries is the verdict of a batch whose entries at these indexes (0 to 63) fail.
func FailEntries(indexes ...int) Verdict {
	v := Verdict{Kind: Partial}
	for _, i := range indexes {
		v.Entries |= 1 << uint(i)
	}
	return v
}

// Fails reports whether entry i of a batch fails.
func (v Verdict) Fails(i int) bool { return v.Kind == Partial && v.Entries>>uint(i)&1 == 1 }

// The errors by which an engine reports an injected fault. A wire shell maps them to what its protocol says; a simulator hands them to the caller.
var (
	// ErrThrottled: refused, nothing changed, try again later.
	ErrThrottled = errors.New("fault: throttled; back off and call again")
	// ErrFailed: refused, nothing changed.
	ErrFailed = errors.New("fault: failed before it had an effect; call again")
	// ErrConflict: a transaction was refused because of another one, nothing changed.
	ErrConflict = errors.New("fault: transaction conflict; call again")
	// ErrAnswerLost: the call took effect and its answer is lost; a shell must break the connection.
	ErrAnswerLost = errors.New("fault: executed, answer lost; read back what happened")
)

// Refusal returns the error of a verdict that keeps the call from having an effect, else nil.
func (v Verdict) Refusal() error {
	switch v.Kind {
	case Throttle:
		return ErrThrottled
	case FailBefore:
		return ErrFailed
	case Conflict:
		return ErrConflict
	default:
		return nil
	}
}

// Plan decides the fate of each call. Engines call Decide exactly once per call, without holding a lock, from many goroutines.
type Plan interface {
	Decide(Point) Verdict
}

// PlanFunc is a function as a Plan.
type PlanFunc func(Point) Verdict

// Decide calls f.
func (f PlanFunc) Decide(p Point) Verdict { return f(p) }

// Healthy is the plan without faults.
var Healthy Plan = PlanFunc(func(Point) Verdict { return Verdict{} })

// Sleep blocks the calling goroutine for d. It is the reaction to Slow of shells that live in real time; a simulator schedules the call later instead.
func Sleep(_ Point, d time.Duration) { time.Sleep(d) }

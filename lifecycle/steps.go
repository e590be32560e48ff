// Package lifecycle holds the walks of a booking's life that take more than
// one step: withdrawing it, giving its seats back, the release gate, expiry,
// cancellation and refunds. Every door (ingress, workers, reaper) walks them
// through this one place, so that the order of the steps is written once.
//
// Each walk is a chain of steps that are safe to repeat. A process may die
// between any two of them, and any number of processes may walk the same
// booking at once: whoever comes later finds what was done and goes on from
// there (protocol.md 3.9). The order is always R1's: admission is Redis first,
// release is ledger first.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
)

// Redis is what the walks need of admission.
type Redis interface {
	admission.Admitter
	admission.Attacher
	admission.Undoer
	admission.Settler
	admission.Reseeder
	admission.Lookup
}

// StatusNotifier is told that a script changed what the public sees of a sale, or may have;
// it publishes soon and must not block (protocol.md 3.13).
type StatusNotifier interface {
	Changed(sale string, version int64)
}

// ControlReader reads a sale's control item: its plan, generation and whether
// it is frozen. What it returns may be at most five seconds old (protocol.md
// 3.9: a rebuild waits that long). ledger.Store is one; ControlCache is a
// cheaper one.
type ControlReader interface {
	Control(ctx context.Context, saleID string) (ledger.Control, error)
}

// Steps are the walks and what they walk on. Every field but Log is required.
// It is safe for use by many goroutines.
type Steps struct {
	Store    ledger.Store
	Redis    Redis
	Gateways payment.Gateways
	Guard    payment.ExecuteGuard
	Publish  events.Publisher
	Status   StatusNotifier
	Controls ControlReader
	Alarm    func(Alarm)
	Now      func() time.Time
	Log      *slog.Logger // nil: slog.Default
}

// Errors of the walks.
var (
	// ErrFrozen: the sale is being rebuilt, so Redis is left alone; what is owed
	// to Redis stays owed by the ledger (protocol.md 3.6, 3.9).
	ErrFrozen = errors.New("lifecycle: the sale is frozen for a rebuild: try again when it is done")
	// ErrNotReleased: seats may be given back only after the ledger has released
	// their booking (protocol.md R1).
	ErrNotReleased = errors.New("lifecycle: the ledger has not released this booking: release it there first")
	// ErrNotPaid: only a paid booking can be cancelled; a held one is released.
	ErrNotPaid = errors.New("lifecycle: the booking is not paid: release it instead of cancelling it")
	// ErrUnknownGateway: a payment names a gateway that this process does not have.
	ErrUnknownGateway = errors.New("lifecycle: no such payment gateway here: configure it")
)

// busyRepeats is how often a write that was in the way of another transaction
// is repeated at once; later repeats are the queue's or the sweep's.
const busyRepeats = 3

// Write applies a transition and repeats it a few times while the ledger is
// busy. Its errors are those of ledger.Store.Apply.
func (s *Steps) Write(ctx context.Context, t ledger.Transition) error {
	var err error
	for range busyRepeats {
		if err = s.Store.Apply(ctx, t); !errors.Is(err, ledger.ErrBusy) {
			return err
		}
		if ctx.Err() != nil {
			return err
		}
	}
	return err
}

// found unpacks a failed condition: ok is false for every other error.
func found(err error) (ledger.Found, bool) {
	var c *ledger.ConditionError
	if errors.As(err, &c) {
		return c.Found, true
	}
	return ledger.Found{}, false
}

// Frozen reports whether the sale is being rebuilt, as seen at most five
// seconds ago.
func (s *Steps) Frozen(ctx context.Context, sale string) (bool, error) {
	c, err := s.Controls.Control(ctx, sale)
	if err != nil {
		return false, fmt.Errorf("lifecycle: read the control item of sale %s: %w", sale, err)
	}
	return c.Frozen, nil
}

// Notify passes a public state on that has changed, or may have; 0 means that
// nothing changed.
func (s *Steps) Notify(sale string, version int64) {
	if version > 0 {
		s.Status.Changed(sale, version)
	}
}

func (s *Steps) log() *slog.Logger {
	if s.Log != nil {
		return s.Log
	}
	return slog.Default()
}

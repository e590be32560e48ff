// Package operator holds the acts of the people who run a sale: apply a plan,
// import a roster, open and close, change caps, look, release, cancel, export.
//
// Every act is safe to repeat: after a crash at any step the same act again ends
// in the same state. Every act that changes something is written to the sale's
// audit trail before it changes anything, with who and why (case K07). What
// can't be granted is a *RefusedError with a stable code and the numbers that
// show it (case F11). The order of writes is R1's: the ledger is the plan, Redis
// follows it.
package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// Redis is what the acts need of admission.
type Redis interface {
	admission.Loader
	admission.Capper
	admission.StatusReader
	admission.Sweepable
	admission.Lookup
}

// Server answers for the Redis deployment behind a sale.
type Server interface {
	admission.HealthReader
	// CheckServer refuses a deployment that could lose or resell seats
	// (protocol.md 3.12), one line for each reason.
	CheckServer(ctx context.Context, sale string) error
}

// Queue answers for the queue of events.
type Queue interface {
	Depth(ctx context.Context) (events.Depth, error)
}

// Desk is where operators act. The last two fields may be left out. It keeps
// nothing of its own and is safe for use by many goroutines.
type Desk struct {
	Store    ledger.Store
	Redis    Redis
	Server   Server
	Queue    Queue
	Steps    *lifecycle.Steps
	Status   lifecycle.StatusNotifier
	Gateways payment.Gateways
	Gateway  string // where new bookings pay
	Hasher   *sale.Hasher
	Now      func() time.Time
	Log      *slog.Logger // nil: slog.Default

	RosterBatch int // rows written at once; 0: DefaultRosterBatch
}

// By is who acts, and why; both are kept with what was done.
type By struct {
	Actor  ledger.Actor // "operator:<name>"
	Reason string       // free text for people
}

// tries bounds what is repeated because somebody else was faster, or because a
// replica was slow to acknowledge.
const tries = 5

func (d *Desk) log() *slog.Logger {
	if d.Log != nil {
		return d.Log
	}
	return slog.Default()
}

// control reads the control item; a sale that nobody applied is a refusal.
func (d *Desk) control(ctx context.Context, saleID string) (ledger.Control, error) {
	c, err := d.Store.Control(ctx, saleID)
	if errors.Is(err, ledger.ErrNotFound) {
		return c, refuse(CodeUnknownSale, nil, "there is no sale %q: apply its sale file first", saleID).because(err)
	}
	if err != nil {
		return c, fmt.Errorf("operator: read the control item of sale %s: %w", saleID, err)
	}
	return c, nil
}

// working reads the control item of a sale whose Redis side may be changed.
func (d *Desk) working(ctx context.Context, saleID string) (ledger.Control, error) {
	c, err := d.control(ctx, saleID)
	if err != nil {
		return c, err
	}
	return c, whyNotWorking(c)
}

func whyNotWorking(c ledger.Control) error {
	switch {
	case unfinished(c):
		return refuse(CodeNotInstalled, nil, "sale %s is not completely installed: apply its sale file again", c.Sale)
	case c.Frozen:
		return refuse(CodeFrozen, nil, "sale %s is frozen, its Redis side is being rebuilt by %s: wait, or run holdfast rebuild %s if that died", c.Sale, c.Rebuilder, c.Sale)
	}
	return nil
}

// audit writes an act down. The very same entry twice is one, so an act that is
// repeated under its own time stays one entry.
func (d *Desk) audit(ctx context.Context, saleID string, e ledger.AuditEntry) error {
	e.At = ledger.Instant(e.At)
	var err error
	for range tries {
		if err = d.Store.AppendAudit(ctx, saleID, e); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("operator: nothing was done, because it could not be written to the audit trail of sale %s: %w", saleID, err)
	}
	return nil
}

func (d *Desk) note(ctx context.Context, saleID string, by By, action, before, after string) error {
	return d.audit(ctx, saleID, ledger.AuditEntry{At: d.Now(), Actor: by.Actor, Action: action, Reason: by.Reason, Before: before, After: after})
}

// acknowledged repeats a write to Redis until the replicas have it: what an
// operator was told must survive a failover.
func acknowledged(ctx context.Context, write func() error) error {
	var err error
	for range tries {
		if err = write(); !errors.Is(err, admission.ErrUnacknowledged) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("done, but not acknowledged by the replicas: repeat the command when they are back: %w", err)
}

// public passes a version on that the public has to see (protocol.md 3.13).
func (d *Desk) public(saleID string, version int64) {
	if version > 0 {
		d.Status.Changed(saleID, version)
	}
}

// Plan is the sale as it is applied now.
func (d *Desk) Plan(ctx context.Context, saleID string) (sale.Sale, error) {
	c, err := d.control(ctx, saleID)
	return c.Plan, err
}

// Trail calls each for every act of an operator on the sale, oldest first.
func (d *Desk) Trail(ctx context.Context, saleID string, each func(ledger.AuditEntry) error) error {
	if _, err := d.control(ctx, saleID); err != nil {
		return err
	}
	return d.Store.Audit(ctx, saleID, each)
}

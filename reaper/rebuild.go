package reaper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// Rebuilder makes Redis anew from the ledger (protocol.md 3.9, full rebuild).
type Rebuilder struct {
	*tools
	differ *Differ
}

// rebuild is one run. Its name is its own, so that two runs in one process are
// two rebuilders.
type rebuild struct {
	*tools
	o       RebuildOptions
	me      string
	control ledger.Control // as claimed
	renewed time.Time
	begun   bool // the install has begun: this generation is used up
	seeded  map[string]seeded
	result  RebuildResult
}

// seeded is a live booking that was put into Redis.
type seeded struct {
	level string
	seats int
}

// Rebuild freezes the sale, makes Redis anew and opens it again. Until then
// every admission is refused. It may die at any point: another rebuilder follows
// when the lease has run out, with a generation of its own, and begins anew;
// nothing of a half-made Redis is trusted. An error leaves the sale frozen,
// unless RebuildResult.Opened.
func (r *Rebuilder) Rebuild(ctx context.Context, saleID string, o RebuildOptions) (RebuildResult, error) {
	o.DrainMax, o.Lease = or(o.DrainMax, DefaultDrainMax), or(o.Lease, DefaultLease)
	if o.Progress == nil {
		o.Progress = func(RebuildProgress) {}
	}
	b := &rebuild{tools: r.tools, o: o, me: rand.Text(), seeded: map[string]seeded{}}
	b.result.Sale, b.result.At = saleID, r.now()
	err := b.run(ctx, saleID)
	if err != nil && !b.result.Opened {
		b.letGo(ctx, saleID)
	} else if b.result.Opened {
		err = errors.Join(err, b.after(ctx, r.differ))
	}
	b.result.Took = r.now().Sub(b.result.At)
	r.Metrics.Rebuilt(b.result, err)
	return b.result, err
}

func (b *rebuild) run(ctx context.Context, saleID string) error {
	if err := b.claim(ctx, saleID); err != nil {
		return err
	}
	b.o.Progress(RebuildProgress{Step: StepSettle})
	// A process may have read the control item just before it was frozen; a
	// script that it then began has run by the end of the second.
	if err := b.Wait(ctx, lifecycle.ControlMaxAge+time.Second); err != nil {
		return err
	}
	if err := b.drain(ctx); err != nil {
		return err
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	before, err := b.Health.Health(ctx, saleID)
	if err != nil {
		return fmt.Errorf("reaper: ask Redis for its replication id: %w", err)
	}
	if err := b.install(ctx); err != nil {
		return err
	}
	after, err := b.Health.Health(ctx, saleID)
	if err != nil {
		return fmt.Errorf("reaper: ask Redis for its replication id: %w", err)
	}
	if before.ReplicationID != after.ReplicationID {
		return fmt.Errorf("reaper: Redis failed over during the rebuild: %w", ErrUnfaithful)
	}
	return b.open(ctx, after)
}

// prepare runs what the caller wants of the ledger first, and reads the control
// item again, which that may have changed.
func (b *rebuild) prepare(ctx context.Context) error {
	if b.o.Prepare == nil {
		return nil
	}
	b.o.Progress(RebuildProgress{Step: StepPrepare})
	if err := b.o.Prepare(ctx, b.keep); err != nil {
		return err
	}
	c, err := b.store.Control(ctx, b.control.Sale)
	if err != nil {
		return fmt.Errorf("reaper: read the control item of sale %s again: %w", b.control.Sale, err)
	}
	if !b.mine(c) {
		return ErrLeaseLost
	}
	b.control = c
	return nil
}

// open is the end of step 7: cfg has the generation already.
func (b *rebuild) open(ctx context.Context, h admission.Health) error {
	b.o.Progress(RebuildProgress{Step: StepOpen})
	// First, so that whoever dies right after has asked for a diff.
	if err := b.askDiff(ctx, b.control.Sale); err != nil {
		return err
	}
	_, err := b.store.UpdateControl(ctx, b.control.Sale, func(c *ledger.Control) error {
		if !c.Frozen && c.Gen == b.control.Gen {
			return nil // our own write, whose answer was lost
		}
		if !b.mine(*c) {
			return ErrLeaseLost
		}
		c.Frozen, c.Rebuilder, c.RebuilderUntil = false, "", time.Time{}
		c.ReplicationID = h.ReplicationID
		c.Epoch++
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: open sale %s again: %w", b.control.Sale, err)
	}
	b.result.Opened = true
	b.incident(ctx, b.control.Sale, IncidentRebuilt, "Redis was filled from the ledger", "", fmt.Sprintf("generation %d, %d live bookings", b.control.Gen, b.result.Live))
	b.log.WarnContext(ctx, "rebuild done, the sale is open again", "sale", b.control.Sale, "gen", b.control.Gen, "live", b.result.Live)
	return nil
}

// after handles what was put aside, publishes, and compares: for as long as a
// worker may believe that the sale is frozen it writes to the ledger past Redis.
func (b *rebuild) after(ctx context.Context, differ *Differ) error {
	b.o.Progress(RebuildProgress{Step: StepCompare})
	if err := b.Wait(ctx, lifecycle.ControlMaxAge+time.Second); err != nil {
		return err
	}
	var errs []error
	var err error
	if b.Parked != nil {
		b.result.Replayed, err = b.Parked.ReplayParked(ctx, b.control.Sale)
		errs = append(errs, err)
	}
	if b.Status != nil {
		_, err = b.Status.Publish(ctx, b.control.Sale)
		errs = append(errs, err)
	}
	b.result.Diff, err = differ.Diff(ctx, b.control.Sale)
	return errors.Join(append(errs, err)...)
}

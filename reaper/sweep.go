package reaper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/sale"
)

// Sweeper resolves what is over its age: orphans in the pending set, due holds,
// owed undos, refunds (protocol.md 3.8, sweeps 1 to 4 and 6).
type Sweeper struct{ *tools }

// sweep is one pass.
type sweep struct {
	*tools
	control ledger.Control
	ages    sale.Ages
	now     time.Time // Redis TIME; the own clock if Redis can't be asked
	pool    *pool
	result  SweepResult
}

// Sweep makes one bounded pass over a sale and leaves a note of it. The error
// joins what kept whole steps from being done; ids that failed are in the
// result. The steps do not depend on each other: one that fails stops none.
//
// While the sale is frozen, a deposed primary answers, or another build's layout is
// in Redis, only refunds are driven: what the ledger would release has to be given
// back to a Redis that stays.
func (s *Sweeper) Sweep(ctx context.Context, saleID string) (SweepResult, error) {
	r, err := s.sweep(ctx, saleID)
	s.Metrics.Swept(r, err)
	return r, err
}

func (s *Sweeper) sweep(ctx context.Context, saleID string) (SweepResult, error) {
	began := s.now()
	p := &sweep{tools: s.tools, now: began, pool: s.pool(), result: SweepResult{Sale: saleID, At: began}}
	pass, cancel := context.WithTimeout(ctx, s.PassMax)
	defer cancel()
	w, err := s.watch(pass, saleID)
	if w.control.Sale == "" {
		return p.result, err
	}
	if p.control = w.control; !w.status.Now.IsZero() {
		p.now = w.status.Now
	}
	p.ages = p.control.Plan.WithDefaults().Ages
	p.result.Over, p.result.Frozen, p.result.Replication = p.over(), p.control.Frozen, w.finding
	errs := []error{err}
	switch {
	case p.control.Frozen:
		p.frozen(w.finding)
		errs = append(errs, p.refunds(pass))
	case w.finding == ReplicationDeposed:
		errs = append(errs, p.refunds(pass)) // what is given back to this one is given to nobody
	case errors.Is(err, admission.ErrLayout):
		p.alarm(AlarmFrozen, saleID, "", "this build admits nobody until it is rebuilt: "+err.Error())
		errs = append(errs, p.refunds(pass))
	default:
		errs = append(errs, p.all(pass))
	}
	p.result.Took = s.now().Sub(began)
	// The note is what alarms and schedules go by: it is left even when the pass
	// ran out of time.
	if err := s.store.NoteSweep(ctx, saleID, p.result.note()); err != nil {
		errs = append(errs, fmt.Errorf("reaper: leave a note of the sweep of sale %s: %w", saleID, err))
	}
	return p.result, errors.Join(errs...)
}

// frozen pages for as long as nobody rebuilds; the watch itself has alarmed when
// it froze the sale just now.
func (p *sweep) frozen(finding Replication) {
	if finding != ReplicationLost && !p.result.At.Before(p.control.RebuilderUntil) {
		p.alarm(AlarmFrozen, p.control.Sale, "", "it admits nobody until it is rebuilt, and nobody is at it")
	}
}

// all runs every step. Undos need no gateway and free seats, so they go first;
// the others share the slots, so that no gateway can starve another's.
func (p *sweep) all(ctx context.Context) error {
	errs := []error{p.undos(ctx), p.lapse(ctx)}
	steps := []func(context.Context) error{p.pending, p.holds, p.refunds}
	found := make([]error, len(steps))
	var wg sync.WaitGroup
	for i, step := range steps {
		wg.Go(func() { found[i] = step(ctx) })
	}
	wg.Wait()
	return errors.Join(append(append(errs, found...), p.replay(ctx), p.publish(ctx))...)
}

func (p *sweep) tally(of *Tally, found int) *score {
	of.Found = found
	return &score{to: of}
}

// count puts the outcome of a release into the tally.
func (p *sweep) count(ctx context.Context, t *score, what, id string, out lifecycle.ReleaseOutcome, err error) {
	field, known := map[lifecycle.ReleaseOutcome]func(*Tally) *int{
		lifecycle.Released: done, lifecycle.AlreadyReleased: gone, lifecycle.AlreadyPaid: captured,
		lifecycle.Postponed: postponed, lifecycle.NotDue: gone, lifecycle.StillHeld: settled,
	}[out]
	if err == nil && !known {
		err = fmt.Errorf("reaper: unexpected outcome %d", out)
	}
	if err != nil {
		p.finish(ctx, t, what, id, err)
		return
	}
	t.add(field, 1)
}

// maxLogged bounds the lines of one kind in one pass: in an outage every id
// fails for the same reason.
const maxLogged = 20

func (p *sweep) finish(ctx context.Context, t *score, what, id string, err error) {
	switch {
	case err == nil:
		t.add(done, 1)
		return
	case errors.Is(err, admission.ErrUnacknowledged), errors.Is(err, lifecycle.ErrFrozen):
		t.add(postponed, 1) // owed until the replicas are back, or the rebuild is done
		return
	}
	if t.add(failed, 1) > maxLogged {
		return
	}
	p.log.WarnContext(ctx, "sweep: "+what+" failed, the next sweep tries again", "sale", p.control.Sale, "id", id, "err", err)
}

func listed(what string, err error) error {
	if err != nil {
		return fmt.Errorf("reaper: list %s: %w", what, err)
	}
	return nil
}

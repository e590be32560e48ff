package sim

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"
)

// Options say what to run.
type Options struct {
	Seed   uint64
	Mutant Mutant
	Lines  func(line string) // told of every event; nil: only the last ones are kept
	Log    func(line string) // told of what processes log; nil: discarded
}

// Result is what one run came to.
type Result struct {
	Seed      uint64
	Hash      uint64 // of the event log
	Steps     int
	Looks     int // of the auditor
	Simulated time.Duration
	Healed    time.Duration  // after the last fault
	Faults    map[string]int // by service and kind
	Troubles  map[string]int
	Holds     map[string]int // answers of the scripts of soft holds
	Acked     int            // bookings that clients were told of
	Bookings  map[string]int
	Captured  int
	Refunded  int
	Inbox     int
	Table     bool // the ledger was in the table engine, over the SDK
	Err       error
}

// bounds of a run.
const (
	mostSteps  = 400_000
	sellingFor = 40 * time.Minute
	// A payment that was approved, and whose booking Redis lost before the ledger had
	// it, is a dead letter until the gateway reverses it, three hours after the
	// approval; then come its last redrive and two looks, two minutes apart.
	healingMost = 3*time.Hour + 15*time.Minute
	tableLooks  = 16 // of so many writes to the table one is looked at
)

// Run plays one seed. It must be called in a synctest bubble; when it returns
// nothing of the run is left.
func Run(ctx context.Context, o Options) Result {
	t, err := newTown(ctx, o)
	if err != nil {
		return Result{Seed: o.Seed, Err: err}
	}
	r := Result{Seed: o.Seed, Table: t.tables != nil}
	if o.Mutant.ofHolds() && !t.seated() { // it can't show here
		t.end()
		return r
	}
	began := time.Now()
	n := newNemesis(t)
	if r.Err = t.play(n); r.Err == nil {
		calm := time.Now()
		r.Err = t.heal()
		r.Healed = time.Since(calm)
	}
	r.Hash, r.Steps, r.Looks, r.Simulated = t.log.sum, t.sched.steps, t.audit.looks, time.Since(began)
	r.Faults, r.Troubles, r.Holds, r.Acked = t.faults.fired, n.count, t.holds.count, len(t.audit.acked)
	t.count(&r)
	if r.Err != nil {
		r.Err = fmt.Errorf("seed %d, after %d steps and %v: %w\nthe last events:\n%s", o.Seed, r.Steps, r.Simulated, r.Err, t.log.tail())
	}
	t.end()
	return r
}

// must is for what the simulated world itself can't fail at.
func (t *town) must(err error) {
	if err != nil {
		panic(err)
	}
}

// boot starts every process of ours.
func (t *town) boot() {
	t.ingress, t.workers, t.reapers = nil, nil, nil
	for range t.script.ingress {
		r, err := t.bootIngress()
		t.must(err)
		t.ingress = append(t.ingress, r)
	}
	for range t.script.workers {
		r, err := t.bootWorker()
		t.must(err)
		t.workers = append(t.workers, r)
	}
	for range t.script.reapers {
		r, err := t.bootReaper()
		t.must(err)
		t.reapers = append(t.reapers, r)
	}
}

// play sells with everything going wrong, until the crowd has gone.
func (t *town) play(n *nemesis) error {
	operator, err := t.bootOperator()
	if err != nil {
		return err
	}
	t.operator = operator
	t.boot()
	t.background(func() { t.cloud.Run(t.ctx) })
	t.background(t.sendWebhooks)
	gone := make(chan struct{})
	for _, c := range t.crowd {
		c.arrive()
	}
	t.background(func() {
		for _, c := range t.crowd {
			for _, p := range c.tabs {
				p.work.Wait()
			}
		}
		close(gone)
	})
	end := time.Now().Add(sellingFor)
	for time.Now().Before(end) {
		select {
		case <-gone:
			return nil
		default:
		}
		if err := t.advance(n.next()); err != nil {
			return err
		}
		n.strike()
	}
	return nil
}

// errTooLong: a run that does not come to its end is a failure as well.
var errTooLong = errors.New("sim: too many steps: something goes round in circles")

// advance lets one turn happen and looks at what it did.
func (t *town) advance(until time.Time) error {
	t.sched.step(max(time.Until(until), time.Millisecond))
	if t.sched.steps > mostSteps {
		return errTooLong
	}
	if !t.touched {
		return nil
	}
	t.touched = false
	if err := t.holds.next(); err != nil {
		return err
	}
	if t.dirty++; t.tables != nil && t.dirty%tableLooks != 0 {
		return nil // reading a table takes a thousand times as long
	}
	return t.audit.step()
}

// count fills in what the run sold.
func (t *town) count(r *Result) {
	s, err := t.audit.look()
	if err != nil {
		r.Err = errors.Join(r.Err, err)
		return
	}
	r.Bookings = map[string]int{}
	for _, b := range s.Bookings {
		r.Bookings[string(b.State)]++
	}
	for _, e := range t.pay.Payments() {
		if e.CapturedMinor > 0 {
			r.Captured++
		}
		if e.RefundedMinor > 0 {
			r.Refunded++
		}
	}
	parked, err := t.audit.inbox()
	r.Inbox, r.Err = len(parked), errors.Join(r.Err, err)
}

// end stops everything and waits until nothing is left.
func (t *town) end() {
	for _, p := range t.everybody {
		p.crash()
	}
	t.cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		t.stray.Wait()
		for _, p := range t.everybody {
			p.work.Wait()
		}
		closing, cancel := context.WithCancel(context.WithoutCancel(t.ctx))
		cancel()
		_ = t.pay.Close(closing) // webhooks that are lost with the world
	}()
	for {
		t.sched.letGo()
		synctest.Wait()
		select {
		case <-over:
			return
		default:
			time.Sleep(time.Second)
		}
	}
}

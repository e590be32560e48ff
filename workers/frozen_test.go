package workers_test

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/sale"
)

// frozen is the first step of a rebuild, after Redis was lost.
func (r *rig) frozen() {
	r.Redis.Flush()
	r.Control(func(c *ledger.Control) { c.Gen++; c.Frozen = true })
}

// unfreeze is the rest of it: load, reseed, unfreeze, replay.
func (r *rig) unfreeze() {
	r.T.Helper()
	c, err := r.Store.Control(r.T.Context(), lifecycletest.Sale)
	if err != nil {
		r.T.Fatal(err)
	}
	r.rebuilt(c.Gen)
	var live []ledger.Booking
	err = r.Store.Scan(r.T.Context(), lifecycletest.Sale, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if b.State.Live() {
			live = append(live, b)
		}
		return nil
	}})
	if err != nil {
		r.T.Fatal(err)
	}
	for _, b := range live {
		if _, err := r.Redis.Reseed(r.T.Context(), lifecycletest.Sale, lifecycle.RecordOf(b)); err != nil {
			r.T.Fatal(err)
		}
	}
	r.Control(func(c *ledger.Control) { c.Frozen = false })
}

func (r *rig) redisCalls() int {
	n := 0
	for _, op := range []string{"Admit", "Undo", "Settle", "Attach", "Reseed"} {
		n += r.Redis.Calls(op)
	}
	return n
}

func TestScenario38_FrozenEventsGoToTheLedgerAndRedisIsLeftAlone(t *testing.T) {
	r := newRig(t)
	late := r.Book("c3", "N1", r.Page)
	r.done(late.Held)
	r.release(late)
	held, paid := r.Book("c1", "N1", r.Page), r.Book("c2", "N2", r.Page)
	r.done(paid.Held)
	r.frozen()
	before := r.redisCalls()
	r.Page.Pay(paid.PaymentID)
	r.payLate(r.Page, late)
	r.done(held.Held, r.notice(paid), r.notice(late), r.notice(late))
	if got := r.redisCalls(); got != before {
		t.Errorf("%d writes to Redis while frozen", got-before)
	}
	r.state(held.ID, ledger.Held)
	r.state(paid.ID, ledger.Paid)
	r.state(sale.LateBookingID(late.ID), ledger.None)
	if n, err := r.h.ReplayParked(t.Context(), lifecycletest.Sale); n != 0 || !errors.Is(err, lifecycle.ErrFrozen) {
		t.Errorf("replay while frozen: %d, %v", n, err)
	}
	r.unfreeze()
	if n, err := r.h.ReplayParked(t.Context(), lifecycletest.Sale); n != 1 || err != nil {
		t.Fatalf("replay: %d, %v", n, err)
	}
	r.state(sale.LateBookingID(late.ID), ledger.Paid)
	r.Check()
	if n, err := r.h.ReplayParked(t.Context(), lifecycletest.Sale); n != 0 || err != nil {
		t.Errorf("replayed again: %d, %v", n, err)
	}
	r.heal()
	r.Quiet()
}

func TestFrozen_WhatNothingProvesWaits(t *testing.T) {
	r := newRig(t)
	old, unheld := r.Book("c1", "N1", r.Page), r.Book("c2", "N2", r.Page)
	r.Control(func(c *ledger.Control) { c.Gen++ }) // two rebuilds: old is two generations old
	r.frozen()
	r.Page.Pay(unheld.PaymentID)
	r.done(old.Held, r.notice(unheld))
	r.state(old.ID, ledger.None)
	r.state(unheld.ID, ledger.None)
	r.unfreeze()
	if n, err := r.h.ReplayParked(t.Context(), lifecycletest.Sale); n != 2 || err != nil {
		t.Fatalf("replay: %d, %v", n, err)
	}
	r.state(old.ID, ledger.Held)
	r.state(unheld.ID, ledger.Paid)
	r.Check()
}

func TestFrozen_ConflictOwesItsUndo(t *testing.T) {
	r := newRig(t)
	first, second := r.soldTwice()
	r.Control(func(c *ledger.Control) { c.Gen++; c.Frozen = true })
	r.done(second.Held)
	r.state(first.ID, ledger.Paid)
	if b := r.Booking(second.ID); b.State != ledger.Released || !b.UndoOwed {
		t.Errorf("booking %+v", b)
	}
	r.unfreeze()
	r.heal()
	r.Quiet()
}

func TestOldGeneration_IsAdmittedAgainUnderTheCaps(t *testing.T) {
	r := newRig(t)
	first, second := r.Book("c1", "N1", r.Page), r.Book("c2", "N1", r.Page)
	r.rebuilt(2)
	third := r.Book("c3", "N1", r.Page)
	r.done(third.Held, second.Held, first.Held)
	r.state(second.ID, ledger.Held)
	r.state(first.ID, ledger.Released)
	if why := r.Booking(first.ID).Reason; why != ledger.ReasonStaleGeneration {
		t.Errorf("reason %q", why)
	}
	r.done(second.Held) // again: the ledger has decided
	r.Check()
}

func TestOldGeneration_DecidedLongAgoTouchesNoSeat(t *testing.T) {
	r := newRig(t)
	b := r.Book("c1", "N1", r.Page)
	r.done(b.Held)
	r.release(b)
	r.rebuilt(2)
	before := r.Redis.Calls("Admit")
	r.done(b.Held)
	if r.Redis.Calls("Admit") != before {
		t.Error("admitted a released booking")
	}
	r.Quiet()
}

// An event of a sale that another build has loaded goes back to the queue. When
// that has been rebuilt it is handled, and nothing is lost.
func TestAnotherBuildsSaleSendsEventsBack(t *testing.T) {
	r := newRig(t)
	held, paid := r.Book("c1", "N1", r.Page), r.Book("c2", "N2", r.Page)
	r.done(paid.Held)
	r.Page.Pay(paid.PaymentID)
	r.Redis.Foreign()
	for n := 1; n <= 3; n++ {
		for _, e := range []events.Event{held.Held, r.notice(paid)} {
			err := r.deliver(e, n)
			if _, park := events.ParkReason(err); park || !errors.Is(err, admission.ErrLayout) {
				t.Fatalf("%s: %v", e.Type, err)
			}
		}
	}
	r.frozen()
	r.done(held.Held, r.notice(paid))
	r.unfreeze()
	r.state(held.ID, ledger.Held)
	r.state(paid.ID, ledger.Paid)
	r.Check()
	r.heal()
	r.Quiet()
}

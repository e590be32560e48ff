package ledgertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// listingTests: what sweeps are told, and that listings follow every change.
var listingTests = []suiteTest{
	{"due holds up to and with the cut", func(w *world) {
		for n := range 60 {
			b := booking(n)
			b.HoldUntil = start.Add(time.Duration(n) * time.Second)
			w.done(ledger.Hold(b, "worker", w.now))
		}
		w.equal(len(w.lists(start.Add(29*time.Second)).Holds), 30)
		w.equal(len(w.lists(start.Add(-time.Millisecond)).Holds), 0)
	}},
	{"a hold leaves the list when it is paid, released or extended", func(w *world) {
		for n := range 4 {
			w.in(ledger.Held, booking(n))
		}
		b := as(booking(0), ledger.Held)
		w.done(ledger.Confirm(as(booking(1), ledger.Held), capture(booking(1)), "worker", w.now))
		w.done(ledger.Release(as(booking(2), ledger.Held), ledger.ReasonOwner, "candidate", w.now))
		w.done(ledger.Extend(as(booking(3), ledger.Held), b.HoldUntil.Add(time.Minute), "candidate", w.now))
		l := w.lists(b.HoldUntil)
		w.equal(fmt.Sprint(l.Holds, l.Undos), "[b0000] [b0002]")
		w.equal(len(w.lists(b.HoldUntil.Add(time.Minute)).Holds), 2)
	}},
	{"an owed undo is listed until it is done", func(w *world) {
		b := booking(1)
		w.done(ledger.Tombstone(b, ledger.ReasonUnattached, "reaper", w.now))
		w.equal(len(w.lists(start).Undos), 1)
		w.done(ledger.UndoDone(as(b, ledger.Released), w.now))
		w.equal(len(w.lists(start).Undos), 0)
	}},
	{"an error of the visitor ends a listing", func(w *world) {
		stop := errors.New("stop")
		for n := range 40 {
			w.in(ledger.Released, booking(n))
		}
		w.lists(start)
		calls := 0
		err := w.store.OwedUndos(w.ctx, theSale, func(string) error { calls++; return stop })
		w.is(err, stop)
		w.equal(calls, 1)
		err = w.store.Scan(w.ctx, theSale, ledger.Visitor{Booking: func(ledger.Booking) error { calls++; return stop }})
		w.is(err, stop)
		w.equal(calls, 2)
	}},
	{"a visitor may write", func(w *world) {
		for n := range 40 {
			w.in(ledger.Released, booking(n))
		}
		w.lists(start)
		err := w.store.OwedUndos(w.ctx, theSale, func(id string) error {
			b, err := w.store.Booking(w.ctx, id)
			if err != nil {
				return err
			}
			w.done(ledger.UndoDone(b, w.now))
			return nil
		})
		w.equal(err, nil)
		w.equal(len(w.lists(start).Undos), 0)
	}},
	{"a scan meets everything once", func(w *world) {
		for n := range 200 {
			w.in([]ledger.State{ledger.Held, ledger.Paid, ledger.Released}[n%3], booking(n))
		}
		w.same()
		w.equal(len(contents(w, w.store).Bookings), 200)
	}},
}

// is wants err to be target.
func (w *world) is(err, target error) {
	w.Helper()
	if !errors.Is(err, target) {
		w.Errorf("error %v, want %v", err, target)
	}
}

package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// theSale is the sale of the suite. Its name is a prefix of otherSale's, so a
// store that matches by prefix is found out.
const (
	theSale   = "spring"
	otherSale = "spring-2"
)

var start = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// world is one test's store beside the in-memory one that says what is right.
type world struct {
	*testing.T
	ctx    context.Context
	store  ledger.Store
	oracle *Store
	now    time.Time
}

func newWorld(t *testing.T, s ledger.Store) *world {
	return &world{T: t, ctx: t.Context(), store: s, oracle: NewStore(func() time.Time { return start }), now: start}
}

// booking is the n-th booking of the suite, not yet written.
func booking(n int) ledger.Booking {
	return ledger.Booking{
		ID: fmt.Sprintf("b%04d", n), Sale: theSale, Candidate: fmt.Sprintf("c%04d", n), Level: "N1",
		Seats:   []ledger.Seat{{Token: fmt.Sprintf("N1-%d", n), Score: int64(n)}},
		Gen:     7,
		Payment: ledger.PaymentKey{Gateway: "sandbox", ID: fmt.Sprintf("p%04d", n)},
		Price:   sale.Money{AmountMinor: 150_000, Currency: "BDT"},
		Key:     "idempotency-key", InputHash: "in", EmailHash: "em",
		AdmittedAt: start, HoldUntil: start.Add(10 * time.Minute),
	}
}

// as is b as somebody read it in a state.
func as(b ledger.Booking, s ledger.State) ledger.Booking {
	b.State = s
	return b
}

// capture is the payment of the booking's whole price.
func capture(b ledger.Booking) ledger.Capture {
	return ledger.Capture{Key: b.Payment, AmountMinor: b.Price.AmountMinor, Currency: b.Price.Currency, At: start.Add(time.Minute)}
}

// build takes what a constructor returns.
func (w *world) build(t ledger.Transition, err error) ledger.Transition {
	w.Helper()
	if err != nil {
		w.Fatalf("build the transition: %v", err)
	}
	return t
}

// attempt applies t to both stores and wants the same answer of both.
func (w *world) attempt(t ledger.Transition) error {
	w.Helper()
	got, want := patiently(w.ctx, w.store, t), w.oracle.Apply(w.ctx, t)
	var gotFailed, wantFailed *ledger.ConditionError
	if errors.As(want, &wantFailed) != errors.As(got, &gotFailed) || (want == nil) != (got == nil) {
		w.Fatalf("%s: error %v, want %v", t.Name, got, want)
	}
	if diff := cmp.Diff(wantFailed, gotFailed, cmpopts.EquateEmpty()); diff != "" {
		w.Fatalf("%s failed otherwise (-want +got):\n%s", t.Name, diff)
	}
	return got
}

// done wants the transition to be written.
func (w *world) done(t ledger.Transition, err error) {
	w.Helper()
	if err := w.attempt(w.build(t, err)); err != nil {
		w.Fatalf("%s: %v", t.Name, err)
	}
}

// refused wants a failed condition, and nothing changed by it.
func (w *world) refused(t ledger.Transition, err error) ledger.Found {
	w.Helper()
	before := contents(w, w.store)
	var failed *ledger.ConditionError
	if err := w.attempt(w.build(t, err)); !errors.As(err, &failed) {
		w.Fatalf("%s: %v, want a failed condition", t.Name, err)
	}
	if diff := cmp.Diff(before, contents(w, w.store)); diff != "" {
		w.Fatalf("%s failed but wrote (-before +after):\n%s", t.Name, diff)
	}
	return failed.Found
}

// same wants both stores to hold the same.
func (w *world) same() {
	w.Helper()
	if diff := cmp.Diff(contents(w, w.oracle), contents(w, w.store)); diff != "" {
		w.Fatalf("the store holds something else (-want +got):\n%s", diff)
	}
}

// patiently repeats what was too busy to be decided, as callers do.
func patiently(ctx context.Context, s ledger.Store, t ledger.Transition) error {
	for {
		err := s.Apply(ctx, t)
		if !errors.Is(err, ledger.ErrBusy) || ctx.Err() != nil {
			return err
		}
	}
}

// in brings booking b into a state by legal steps.
func (w *world) in(state ledger.State, b ledger.Booking) {
	w.Helper()
	if state == ledger.None {
		return
	}
	w.done(ledger.Hold(b, "worker", w.now))
	switch state {
	case ledger.Paid:
		w.done(ledger.Confirm(as(b, ledger.Held), capture(b), "worker", w.now))
	case ledger.Released:
		w.done(ledger.Release(as(b, ledger.Held), ledger.ReasonOwner, "candidate", w.now))
	}
}

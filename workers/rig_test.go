package workers_test

import (
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/workers"
)

// rig is a world with a handler.
type rig struct {
	*lifecycletest.World
	h *workers.Handler
}

func newRig(t lifecycletest.TB) *rig {
	t.Helper()
	w := lifecycletest.New(t)
	return &rig{w, newHandler(w)}
}

// newHandler is a process that has just started.
func newHandler(w *lifecycletest.World) *workers.Handler {
	return &workers.Handler{Steps: w.Steps, Log: slog.New(slog.DiscardHandler)}
}

// deliver hands the event over for the n-th time.
func (r *rig) deliver(e events.Event, n int) error {
	return r.h.Handle(r.T.Context(), e, events.Meta{ReceiveCount: n, SentAt: e.At})
}

// done delivers until the handler is done with the event, as the queue does.
func (r *rig) done(list ...events.Event) {
	r.T.Helper()
	const receives = 20
	for _, e := range list {
		var err error
		for n := 1; n <= receives; n++ {
			if err = r.deliver(e, n); err == nil {
				break
			}
		}
		if err != nil {
			r.T.Fatalf("%s is not handled after %d deliveries: %v", e.Type, receives, err)
		}
	}
}

// heal lets queue and sweeps run until nothing is left to do, with every hold
// due and every pending entry old.
func (r *rig) heal() {
	r.T.Helper()
	r.Advance(r.Plan.Hold + 2*time.Minute)
	const rounds = 4
	var err error
	for range rounds {
		err = r.Reap(r.Now(), 0)
		r.done(r.Queued()...)
	}
	if err != nil {
		r.T.Fatalf("the last sweep failed: %v", err)
	}
}

func (r *rig) state(id string, want ledger.State) {
	r.T.Helper()
	if got := r.Booking(id); got.State != want {
		r.T.Fatalf("booking %s is %q (%s), want %q", id, got.State, got.Reason, want)
	}
}

func (r *rig) resolution(b lifecycletest.Booked, want ledger.Resolution, refund ledger.RefundStep) {
	r.T.Helper()
	if got := r.Payment(b.Key); got.Resolution != want || got.Refund != refund {
		r.T.Fatalf("payment %s is %q/%q, want %q/%q", b.Key, got.Resolution, got.Refund, want, refund)
	}
}

func (r *rig) alarmed(want string) {
	r.T.Helper()
	if got := r.Alarms(); got != want {
		r.T.Fatalf("alarms %q, want %q", got, want)
	}
}

// notice is a webhook about the booking's payment, made now.
func (r *rig) notice(b lifecycletest.Booked) events.Event { return b.Notice(r.Now()) }

// release lets the hold end and the reaper release it.
func (r *rig) release(b lifecycletest.Booked) {
	r.T.Helper()
	r.Advance(r.Plan.Hold + time.Minute)
	if err := r.Reap(r.Now(), time.Hour); err != nil {
		r.T.Fatal(err)
	}
	r.state(b.ID, ledger.Released)
}

// late pays after the release, as a page does that was faster than its cancel.
func (r *rig) payLate(gw *lifecycletest.Gateway, b lifecycletest.Booked) {
	r.T.Helper()
	gw.Edit(b.PaymentID, complete(r.Now()))
}

func (r *rig) roster(candidate string) {
	r.T.Helper()
	err := r.Redis.PutRoster(r.T.Context(), lifecycletest.Sale, []admission.RosterEntry{{Candidate: candidate, EmailHash: lifecycletest.Email}})
	if err != nil {
		r.T.Fatal(err)
	}
}

// tryBook admits and delivers a held event, as far as the faults let it.
func (r *rig) tryBook(id, candidate, level string) error {
	ctx := r.T.Context()
	price := r.Plan.PriceOf(level)
	c, err := r.Store.Control(ctx, lifecycletest.Sale)
	if err != nil {
		return err
	}
	a, err := r.Redis.Admit(ctx, admission.Request{Sale: lifecycletest.Sale, BookingID: id, Candidate: candidate, Level: level, Gen: c.Gen,
		RosterVersion: "r1", EmailHash: lifecycletest.Email, AmountMinor: price.AmountMinor, Currency: price.Currency, Count: 1})
	if err != nil || a.Outcome != admission.Admitted {
		return err
	}
	_, err = r.Redis.Attach(ctx, admission.Attachment{Sale: lifecycletest.Sale, BookingID: id, Driver: 1, PaymentID: "page:pay-" + id, StashFor: time.Hour})
	if err != nil {
		return err
	}
	rec, err := r.Redis.Record(ctx, lifecycletest.Sale, id)
	if err != nil {
		return err
	}
	return r.deliver(lifecycletest.HeldEvent(rec, r.Now()), 1)
}

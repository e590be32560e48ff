package booking

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// cleanupFor bounds what is done after a failure, beyond the driver's own
// deadline: an undo must not be given up because the request was slow.
const cleanupFor = 5 * time.Second

// Driver books. Make one with New; it is safe for concurrent use.
type Driver struct {
	Options
	horizon *horizon
}

// New returns a driver.
func New(o Options) *Driver {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.MintID == nil {
		o.MintID = sale.NewBookingID
	}
	return &Driver{o, newHorizon()}
}

// Book takes one order from the local gates to its answer. From the script on
// the work is detached from ctx: closing the tab must stop neither the booking
// nor its undo. It ends within the sale's RequestMax, plus a few seconds of
// undoing if it failed, and never answers success after RequestMax (protocol.md
// 3.5). It is safe to call again; the order's key decides what that means.
func (d *Driver) Book(ctx context.Context, p *Plan, o Order) Answer {
	start := d.Now()
	id, err := d.MintID(d.Rand)
	if err != nil {
		d.Log.ErrorContext(ctx, "no booking id", "err", err)
		return d.unavailable()
	}
	w := &drive{Driver: d, plan: p, order: o, r: o.request(p, id), deadline: start.Add(p.Sale.Ages.RequestMax)}
	if a, decided := d.Gates.Decide(ctx, &w.r); decided {
		d.Observe.GateDecided(w.r.Sale, a.Outcome)
		return d.refusal(p, w.r, a)
	}
	a := w.admit(d.horizon.detached(ctx, p.Sale.Ages.RequestMax, &w.whole))
	if ok := a.Verdict == Created || a.Verdict == Repeated; ok && !d.Now().Before(w.deadline) {
		return d.unavailable() // too late to promise anything; a retry finds it
	}
	return a
}

// drive is one order on its way. It has room for what each booking needs, so that
// one allocation does for all of it; it is never used again, because an event or
// a context may outlive it.
type drive struct {
	*Driver
	plan     *Plan
	order    Order
	r        admission.Request
	deadline time.Time

	ans     admission.Answer // of the admission, or of who took it over
	resumed bool             // it is another driver's booking, which had fallen silent
	booking ledger.Booking   // as far as it is known, state None

	whole, creating, publishing term
	held                        events.Held
	seat                        [1]ledger.Seat // most bookings have one
	sent                        [1]events.Seat
}

// admit is step 2.
func (w *drive) admit(ctx context.Context) Answer {
	start := w.Now()
	a, err := w.ask(ctx)
	w.Observe.Admitted(w.r.Sale, a.Outcome, w.Now().Sub(start), err)
	if err != nil {
		w.unadmitted(ctx, err)
		return w.unavailable()
	}
	w.ans = a
	w.Gates.Learn(&w.r, &w.ans)
	w.changed(a.Version)
	if a.Outcome == admission.Admitted || a.Outcome == admission.Replayed {
		return w.pay(ctx)
	}
	return w.decided(ctx, a)
}

// unadmitted undoes an admission whose outcome nobody knows. The adapter has
// dealt with the outcomes that it names, an admission's and a promotion's. After
// any other error the script may have run, or run later: the quick undo bars the
// id (protocol.md 3.5 step 2).
func (w *drive) unadmitted(ctx context.Context, err error) {
	w.Log.WarnContext(ctx, "admission failed", "sale", w.r.Sale, "booking_id", w.r.BookingID, "err", err)
	for _, known := range []error{admission.ErrUnacknowledged, admission.ErrUnavailable, admission.ErrUnknown, admission.ErrLayout} {
		if errors.Is(err, known) {
			return
		}
	}
	_, _ = w.undoQuickly(ctx, 1) // a failure is logged, and the reaper's
}

// changed passes on that the public state of the sale changed (protocol.md 3.13).
func (w *drive) changed(version int64) {
	if version > 0 {
		w.Status.Changed(w.r.Sale, version)
	}
}

// cleanup is a context for undoing, whatever became of the one before.
func cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupFor)
}

package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// Sales lists the ids of all sales.
func (d *Desk) Sales(ctx context.Context) ([]string, error) {
	ids, err := d.Store.Sales(ctx)
	if err != nil {
		return nil, fmt.Errorf("operator: list the sales: %w", err)
	}
	return ids, nil
}

// HoldState says how far an unpaid booking has come. The set is closed.
type HoldState string

// The states of a hold.
const (
	HoldPending HoldState = "pending" // admitted, not known to be in the ledger yet
	HoldHeld    HoldState = "held"
	HoldSoft    HoldState = "soft" // seats chosen, nothing promised
)

// Hold is one unpaid booking. Owner is the candidate's hash: nobody here knows
// codes or e-mails.
type Hold struct {
	BookingID string        `json:"booking_id"`
	Owner     string        `json:"owner"`
	Level     string        `json:"level"`
	Seats     []string      `json:"seats"`
	State     HoldState     `json:"state"`
	Payment   string        `json:"payment,omitempty"`
	Age       time.Duration `json:"-"` // by Redis TIME
	HoldUntil time.Time     `json:"hold_until"`
}

// Holds calls each for every unpaid booking, oldest first, until it returns an
// error. They come from Redis, which holds every seat that anybody has.
func (d *Desk) Holds(ctx context.Context, saleID string, each func(Hold) error) error {
	c, err := d.control(ctx, saleID)
	if err != nil {
		return err
	}
	live, err := d.Redis.Status(ctx, saleID, nil)
	if err != nil {
		return lost(c, err)
	}
	found := make(map[string]Hold) // a scan may repeat
	err = d.Redis.ScanRecords(ctx, saleID, func(r admission.Record, pending bool) error {
		if r.Stage != admission.StagePaid {
			found[r.BookingID] = holdOf(r, pending, live.Now)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("operator: read the holds of sale %s: %w", saleID, err)
	}
	list := make([]Hold, 0, len(found))
	for _, h := range found {
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Hold) int {
		if a.Age != b.Age {
			return int(b.Age/time.Millisecond - a.Age/time.Millisecond)
		}
		return compareText(a.BookingID, b.BookingID)
	})
	for _, h := range list {
		if err := each(h); err != nil {
			return err
		}
	}
	return nil
}

func holdOf(r admission.Record, pending bool, now time.Time) Hold {
	h := Hold{BookingID: r.BookingID, Owner: r.Candidate, Level: r.Level, Seats: r.Tokens, State: HoldHeld,
		Payment: r.PaymentID, Age: now.Sub(r.AdmittedAt), HoldUntil: r.HoldUntil.UTC()}
	switch {
	case r.Stage == admission.StageSoft:
		h.State = HoldSoft
	case pending:
		h.State = HoldPending
	}
	return h
}

// Booking reads a booking with its history. ErrNotFound in the ledger is looked
// for in Redis: an admission whose event is still under way is shown as it will
// be written, in state ledger.None.
func (d *Desk) Booking(ctx context.Context, bookingID string) (ledger.Booking, error) {
	b, err := d.Store.Booking(ctx, bookingID)
	if err == nil || !errors.Is(err, ledger.ErrNotFound) {
		return b, err
	}
	sales, err := d.Sales(ctx)
	if err != nil {
		return b, err
	}
	var none error = refuse(CodeUnknownBooking, nil, "there is no booking %q", bookingID).because(ledger.ErrNotFound)
	for _, id := range sales {
		r, err := d.Redis.Record(ctx, id, bookingID)
		if errors.Is(err, admission.ErrNotFound) {
			continue
		}
		if errors.Is(err, admission.ErrLayout) { // of the sales beside it nothing is known less
			none = fmt.Errorf("operator: look for booking %s in sale %s: %w", bookingID, id, err)
			continue
		}
		if err != nil {
			return b, fmt.Errorf("operator: look for booking %s in Redis: %w", bookingID, err)
		}
		return lifecycle.BookingFromRecord(id, r), nil
	}
	return b, none
}

// ReleaseHold gives one held booking back, after asking the gateway: a payment
// that was faster wins (case B08). The answer is the walk's own; AlreadyPaid and
// Postponed mean that nothing was released. Safe to repeat.
func (d *Desk) ReleaseHold(ctx context.Context, bookingID string, by By) (lifecycle.ReleaseOutcome, error) {
	b, err := d.Booking(ctx, bookingID)
	if err != nil {
		return 0, err
	}
	if b.State == ledger.None || b.State == ledger.Held {
		if err := d.note(ctx, b.Sale, by, "release "+bookingID, stateName(b.State), "released"); err != nil {
			return 0, err
		}
	}
	if b.State == ledger.None {
		out, err := d.Steps.ReleaseUnheld(ctx, b, ledger.ReasonOperator, by.Actor)
		if err != nil || out != lifecycle.StillHeld {
			return out, err
		}
	}
	return d.Steps.Release(ctx, bookingID, ledger.ReasonOperator, by.Actor)
}

// CancelPaid ends a paid booking and refunds it, in one transaction of the
// ledger; what is left of it is owed and done by the sweeps. Cancelled already
// is no error.
func (d *Desk) CancelPaid(ctx context.Context, bookingID string, by By) error {
	b, err := d.Booking(ctx, bookingID)
	if err != nil {
		return err
	}
	switch b.State {
	case ledger.None, ledger.Held:
		return refuse(CodeNotPaid, nil, "booking %s is held, not paid: release it", bookingID).because(lifecycle.ErrNotPaid)
	case ledger.Paid:
		if err := d.note(ctx, b.Sale, by, "cancel "+bookingID, "paid", "cancelled, refund due"); err != nil {
			return err
		}
	}
	return d.Steps.Cancel(ctx, bookingID, by.Actor)
}

// stateName is a state for people and exports.
func stateName(s ledger.State) string {
	switch s {
	case ledger.Held:
		return "held"
	case ledger.Paid:
		return "paid"
	case ledger.Released:
		return "released"
	}
	return "pending"
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

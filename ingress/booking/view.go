package booking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// View is a booking as its owner sees it. It has neither candidate nor e-mail.
type View struct {
	BookingID, Sale, Level string
	State                  State
	Seats                  []string
	PaymentURL             string // while held, if it is still kept
	AdmittedAt, HoldUntil  time.Time
	PaidAt, ReleasedAt     time.Time
	Successor              string // the booking that a late payment got
}

// ErrNotFound: no such booking, in the ledger or in Redis.
var ErrNotFound = errors.New("booking: not found")

const idAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ValidID says whether s can be a booking id: 26 characters of Crockford's
// base32, behind an "L-" for each late re-admission.
func ValidID(s string) bool {
	for strings.HasPrefix(s, "L-") {
		s = s[2:]
	}
	return len(s) == 26 && strings.Trim(s, idAlphabet) == ""
}

// Show finds a booking by its id. The ledger's record wins; before the worker
// has written it, an attached admission in Redis is a held booking. hint is the
// sale it is thought to be in, or "". ErrNotFound if it is in neither.
func (d *Driver) Show(ctx context.Context, bookingID, hint string) (View, error) {
	if !ValidID(bookingID) {
		return View{}, ErrNotFound
	}
	b, err := d.Ledger.Booking(ctx, bookingID)
	if err == nil {
		return d.fromLedger(ctx, b)
	}
	if !errors.Is(err, ledger.ErrNotFound) {
		return View{}, fmt.Errorf("booking: read %s: %w", bookingID, err)
	}
	saleID, r, err := d.inRedis(ctx, bookingID, hint)
	if err != nil {
		return View{}, err
	}
	v := View{BookingID: bookingID, Sale: saleID, Level: r.Level, State: Held, Seats: r.Tokens,
		AdmittedAt: r.AdmittedAt, HoldUntil: r.HoldUntil, PaymentURL: d.stash(ctx, saleID, bookingID)}
	if r.Stage == admission.StagePaid {
		v.State, v.PaymentURL = Paid, ""
	}
	return v, nil
}

func (d *Driver) fromLedger(ctx context.Context, b ledger.Booking) (View, error) {
	v := View{BookingID: b.ID, Sale: b.Sale, Level: b.Level, Seats: b.Tokens(), AdmittedAt: b.AdmittedAt,
		HoldUntil: b.HoldUntil, PaidAt: b.PaidAt, ReleasedAt: b.ReleasedAt, Successor: b.Successor}
	switch b.State {
	case ledger.Held:
		v.State, v.PaymentURL = Held, d.stash(ctx, b.Sale, b.ID)
	case ledger.Paid:
		v.State = Paid
	default:
		state, err := d.refundState(ctx, b)
		if err != nil {
			return View{}, err
		}
		v.State = state
	}
	return v, nil
}

// refundState says of a released booking what became of its money.
func (d *Driver) refundState(ctx context.Context, b ledger.Booking) (State, error) {
	if b.Payment.Zero() {
		return Released, nil
	}
	p, err := d.Ledger.Payment(ctx, b.Payment)
	if errors.Is(err, ledger.ErrNotFound) {
		return Released, nil
	}
	if err != nil {
		return "", fmt.Errorf("booking: read the payment of %s: %w", b.ID, err)
	}
	switch p.Refund {
	case ledger.RefundDue, ledger.RefundSent:
		return RefundDue, nil
	case ledger.RefundDone:
		return Refunded, nil
	}
	return Released, nil
}

// inRedis looks for an attached admission: in the sale of the hint first, then
// in every sale, because an id does not name its sale.
func (d *Driver) inRedis(ctx context.Context, bookingID, hint string) (string, admission.Record, error) {
	sales := d.Sales()
	for i, s := range sales {
		if s == hint {
			sales[0], sales[i] = sales[i], sales[0]
		}
	}
	none := ErrNotFound // unless one of the sales could not be asked
	for _, s := range sales {
		r, err := d.Admission.Record(ctx, s, bookingID)
		if errors.Is(err, admission.ErrNotFound) {
			continue
		}
		if errors.Is(err, admission.ErrLayout) {
			none = fmt.Errorf("booking: look for %s in sale %s: %w", bookingID, s, err)
			continue
		}
		if err != nil {
			return "", r, fmt.Errorf("booking: look for %s in sale %s: %w", bookingID, s, err)
		}
		if r.Stage == admission.StageAttached || r.Stage == admission.StagePaid {
			return s, r, nil
		}
		break // admitted, but its candidate has not been answered yet
	}
	return "", admission.Record{}, none
}

// Refusals of the owner's release.
var (
	// ErrAlreadyPaid: the payment was faster and wins.
	ErrAlreadyPaid = errors.New("booking: it is paid")
	// ErrBusy: the customer is just paying, or the gateway can't say: later.
	ErrBusy = errors.New("booking: a payment is under way")
)

// GiveBack releases a held booking for its owner: release gate, ledger, Redis
// (T3'; T4 if the ledger does not have it yet). Safe to call again: a released
// booking stays released and is no error.
func (d *Driver) GiveBack(ctx context.Context, bookingID, hint string) error {
	if !ValidID(bookingID) {
		return ErrNotFound
	}
	out, err := d.Walks.Release(ctx, bookingID, ledger.ReasonOwner, "candidate")
	if errors.Is(err, ledger.ErrNotFound) {
		out, err = d.giveBackUnheld(ctx, bookingID, hint)
	}
	if err != nil {
		return err
	}
	switch out {
	case lifecycle.Released, lifecycle.AlreadyReleased:
		for _, s := range d.Sales() { // whose seats they were is not in the outcome; a mark lost is only a question asked
			d.Gates.Undone(s)
		}
		return nil
	case lifecycle.AlreadyPaid:
		return ErrAlreadyPaid
	}
	return ErrBusy
}

// giveBackUnheld is for a booking whose event is still under way.
func (d *Driver) giveBackUnheld(ctx context.Context, bookingID, hint string) (lifecycle.ReleaseOutcome, error) {
	saleID, r, err := d.inRedis(ctx, bookingID, hint)
	if err != nil {
		return 0, err
	}
	out, err := d.Walks.ReleaseUnheld(ctx, lifecycle.BookingFromRecord(saleID, r), ledger.ReasonOwner, "candidate")
	if err == nil && out == lifecycle.StillHeld { // the worker was faster: now it is in the ledger
		return d.Walks.Release(ctx, bookingID, ledger.ReasonOwner, "candidate")
	}
	return out, err
}

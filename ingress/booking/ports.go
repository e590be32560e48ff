package booking

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// Plan is what a process knows of a sale: an immutable snapshot, at most a few
// seconds old (protocol.md 3.9, 3.12).
type Plan struct {
	Sale   sale.Sale
	Gen    int64
	Open   bool
	Frozen bool // a rebuild is under way: nothing can be admitted
	// ClockAhead is how far Redis TIME is ahead of this host's clock; zero until
	// Redis has said.
	ClockAhead time.Duration
	// Empty: Redis has just said that it has no booking of the sale, so nobody can
	// hold a seat whose retry would have to be answered.
	Empty  bool
	ReadAt time.Time // by this host's clock
	// Halls are the seated levels, by name, ready for questions about their seats.
	Halls map[string]*sale.Hall
}

// Admission is what a driver needs of admission's adapter.
type Admission interface {
	admission.Attacher
	admission.Undoer
	admission.Lookup
}

// Gates decide without a script what a local snapshot can decide. They may
// refuse only a candidate who holds nothing (protocol.md 3.12). Implementations
// are safe for concurrent use.
type Gates interface {
	// Decide answers in place of an admission, or says that the script has to. It
	// may fill in r.RosterVersion, if it has checked the candidate against that
	// version of the roster.
	Decide(ctx context.Context, r *admission.Request) (admission.Answer, bool)
	// Learn is told of every answer of the script.
	Learn(r *admission.Request, a *admission.Answer)
	// Undone is told that seats of a sale came back.
	Undone(saleID string)
}

// Walks are the steps of a booking's end; *lifecycle.Steps has them.
type Walks interface {
	Release(ctx context.Context, bookingID string, why ledger.Reason, actor ledger.Actor) (lifecycle.ReleaseOutcome, error)
	ReleaseUnheld(ctx context.Context, b ledger.Booking, why ledger.Reason, actor ledger.Actor) (lifecycle.ReleaseOutcome, error)
}

// Ledger is what is read to show a booking. Book never touches it.
type Ledger interface {
	Booking(ctx context.Context, bookingID string) (ledger.Booking, error)
	Payment(ctx context.Context, k ledger.PaymentKey) (ledger.PaymentRecord, error)
}

// Observer is told how the steps went; it must not block.
type Observer interface {
	Admitted(saleID string, outcome admission.Outcome, took time.Duration, err error)
	GateDecided(saleID string, outcome admission.Outcome)
	Published(took time.Duration, err error)
	PaymentCreated(gateway string, took time.Duration, err error)
	Withdrawn(saleID string, why ledger.Reason, outcome lifecycle.WithdrawOutcome, err error)
}

// Options are a driver's parts. All are required but where it says otherwise.
type Options struct {
	Admit     admission.Admitter // may batch
	Admission Admission
	Gates     Gates
	Soft      admission.SoftHolder // nil: no soft holds, and so no bookings of them
	Walks     Walks
	Ledger    Ledger
	Publish   events.Publisher
	Gateway   payment.Gateway // new bookings pay here
	Status    lifecycle.StatusNotifier
	PublicURL string          // as candidates reach us, without a slash at the end
	Sales     func() []string // the sales this process serves; a fresh slice on each call
	Observe   Observer
	Now       func() time.Time
	Rand      io.Reader // crypto/rand.Reader outside of tests: ids are secrets
	// MintID makes the id of a booking from Rand; nil: sale.NewBookingID.
	MintID func(rand io.Reader) (string, error)
	Log    *slog.Logger

	// Resume takes over a driver that has been silent for ResumeAfter when its own
	// candidate retries (protocol.md 3.5, S10). Off when nil.
	Resume      admission.Resumer
	ResumeAfter time.Duration
}

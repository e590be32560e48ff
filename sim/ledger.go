package sim

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// store is the ledger as one process sees it: each method is a turn. In runs
// with the table engine the turns are the HTTP calls of the SDK instead.
type store struct {
	p  *process
	in ledger.Store
}

func (s store) Apply(ctx context.Context, t ledger.Transition) error {
	return act(ctx, s.p, "ledger.Apply", string(t.Name)+" "+bookingOf(t), func(ctx context.Context) error { return s.in.Apply(ctx, t) })
}

func bookingOf(t ledger.Transition) string {
	switch {
	case t.Create != nil:
		return t.Create.ID
	case t.Update != nil:
		return t.Update.ID
	}
	return ""
}

func (s store) Booking(ctx context.Context, id string) (ledger.Booking, error) {
	return call(ctx, s.p, "ledger.Booking", id, func(ctx context.Context) (ledger.Booking, error) { return s.in.Booking(ctx, id) })
}

func (s store) Payment(ctx context.Context, k ledger.PaymentKey) (ledger.PaymentRecord, error) {
	return call(ctx, s.p, "ledger.Payment", k.String(), func(ctx context.Context) (ledger.PaymentRecord, error) { return s.in.Payment(ctx, k) })
}

func (s store) CandidateBooking(ctx context.Context, sale, candidate string) (string, error) {
	return call(ctx, s.p, "ledger.CandidateBooking", short8(candidate), func(ctx context.Context) (string, error) {
		return s.in.CandidateBooking(ctx, sale, candidate)
	})
}

func (s store) SeatBooking(ctx context.Context, sale, token string) (string, error) {
	return call(ctx, s.p, "ledger.SeatBooking", token, func(ctx context.Context) (string, error) { return s.in.SeatBooking(ctx, sale, token) })
}

func (s store) DueHolds(ctx context.Context, sale string, cut time.Time, each func(string) error) error {
	return walk(ctx, s.p, "ledger.DueHolds", func(ctx context.Context, each func(string) error) error { return s.in.DueHolds(ctx, sale, cut, each) }, each)
}

func (s store) OwedUndos(ctx context.Context, sale string, each func(string) error) error {
	return walk(ctx, s.p, "ledger.OwedUndos", func(ctx context.Context, each func(string) error) error { return s.in.OwedUndos(ctx, sale, each) }, each)
}

func (s store) DueRefunds(ctx context.Context, sale string, each func(ledger.PaymentKey) error) error {
	return walk(ctx, s.p, "ledger.DueRefunds", func(ctx context.Context, each func(ledger.PaymentKey) error) error {
		return s.in.DueRefunds(ctx, sale, each)
	}, each)
}

// Scan is not a snapshot in production; here it is one turn, which the callers
// may not rely on.
func (s store) Scan(ctx context.Context, sale string, v ledger.Visitor) error {
	return walk(ctx, s.p, "ledger.Scan", func(ctx context.Context, each func(func() error) error) error {
		return s.in.Scan(ctx, sale, deferred(v, each))
	}, func(show func() error) error { return show() })
}

// deferred is a visitor that keeps what it is shown for later.
func deferred(v ledger.Visitor, keep func(func() error) error) ledger.Visitor {
	var d ledger.Visitor
	if v.Booking != nil {
		d.Booking = func(b ledger.Booking) error { return keep(func() error { return v.Booking(b) }) }
	}
	if v.Candidate != nil {
		d.Candidate = func(c, id string) error { return keep(func() error { return v.Candidate(c, id) }) }
	}
	if v.Seat != nil {
		d.Seat = func(token, id string) error { return keep(func() error { return v.Seat(token, id) }) }
	}
	if v.Payment != nil {
		d.Payment = func(p ledger.PaymentRecord) error { return keep(func() error { return v.Payment(p) }) }
	}
	if v.Roster != nil {
		d.Roster = func(r ledger.RosterRow) error { return keep(func() error { return v.Roster(r) }) }
	}
	return d
}

func (s store) Sales(ctx context.Context) ([]string, error) {
	return call(ctx, s.p, "ledger.Sales", "", s.in.Sales)
}

func (s store) Control(ctx context.Context, sale string) (ledger.Control, error) {
	return call(ctx, s.p, "ledger.Control", "", func(ctx context.Context) (ledger.Control, error) { return s.in.Control(ctx, sale) })
}

func (s store) CreateControl(ctx context.Context, c ledger.Control) error {
	return act(ctx, s.p, "ledger.CreateControl", "", func(ctx context.Context) error { return s.in.CreateControl(ctx, c) })
}

func (s store) UpdateControl(ctx context.Context, sale string, change func(*ledger.Control) error) (ledger.Control, error) {
	return call(ctx, s.p, "ledger.UpdateControl", "", func(ctx context.Context) (ledger.Control, error) { return s.in.UpdateControl(ctx, sale, change) })
}

func (s store) NoteSweep(ctx context.Context, sale string, n ledger.SweepNote) error {
	return act(ctx, s.p, "ledger.NoteSweep", n.Kind, func(ctx context.Context) error { return s.in.NoteSweep(ctx, sale, n) })
}

func (s store) LastSweep(ctx context.Context, sale, kind string) (ledger.SweepNote, error) {
	return call(ctx, s.p, "ledger.LastSweep", kind, func(ctx context.Context) (ledger.SweepNote, error) { return s.in.LastSweep(ctx, sale, kind) })
}

func (s store) AppendAudit(ctx context.Context, sale string, e ledger.AuditEntry) error {
	return act(ctx, s.p, "ledger.AppendAudit", e.Action, func(ctx context.Context) error { return s.in.AppendAudit(ctx, sale, e) })
}

func (s store) Audit(ctx context.Context, sale string, each func(ledger.AuditEntry) error) error {
	return walk(ctx, s.p, "ledger.Audit", func(ctx context.Context, each func(ledger.AuditEntry) error) error {
		return s.in.Audit(ctx, sale, each)
	}, each)
}

func (s store) PutRoster(ctx context.Context, sale string, rows []ledger.RosterRow) error {
	return act(ctx, s.p, "ledger.PutRoster", "", func(ctx context.Context) error { return s.in.PutRoster(ctx, sale, rows) })
}

func (s store) DropRoster(ctx context.Context, sale string, candidates []string) error {
	return act(ctx, s.p, "ledger.DropRoster", "", func(ctx context.Context) error { return s.in.DropRoster(ctx, sale, candidates) })
}

func (s store) PutStatus(ctx context.Context, sale string, epoch, n int64, doc []byte) error {
	return act(ctx, s.p, "ledger.PutStatus", "", func(ctx context.Context) error { return s.in.PutStatus(ctx, sale, epoch, n, doc) })
}

func (s store) StatusDoc(ctx context.Context, sale string) (doc []byte, epoch, n int64, err error) {
	err = act(ctx, s.p, "ledger.StatusDoc", "", func(ctx context.Context) (err error) {
		doc, epoch, n, err = s.in.StatusDoc(ctx, sale)
		return err
	})
	return doc, epoch, n, err
}

func (s store) Park(ctx context.Context, it ledger.InboxItem) error {
	return act(ctx, s.p, "ledger.Park", it.ID, func(ctx context.Context) error { return s.in.Park(ctx, it) })
}

func (s store) Parked(ctx context.Context, sale string, each func(ledger.InboxItem) error) error {
	return walk(ctx, s.p, "ledger.Parked", func(ctx context.Context, each func(ledger.InboxItem) error) error {
		return s.in.Parked(ctx, sale, each)
	}, each)
}

func (s store) ResolveParked(ctx context.Context, sale, id string, actor ledger.Actor) error {
	return act(ctx, s.p, "ledger.ResolveParked", id, func(ctx context.Context) error { return s.in.ResolveParked(ctx, sale, id, actor) })
}

package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
)

// Sight looks at a sale from inside while a crowd is at it: at Redis for the caps
// and the holders of seats, at queue and ledger for what has not come to rest. It
// changes nothing.
type Sight struct {
	Desk  *operator.Desk
	Audit func(context.Context, string, reaper.AuditOptions) (reaper.AuditResult, error)
	Plan  sale.Sale
	// Alone: no other sale uses the queue, so its depth is this sale's.
	Alone bool
	// Moving counts what is under way at the gateway: webhooks that are not
	// delivered, and late money and refunds. nil: nobody knows.
	Moving func() (webhooks, money int)
}

// Probe is one consistent reading of the caps, by one script.
func (s *Sight) Probe(ctx context.Context) (load.Sample, error) {
	st, err := s.Desk.Redis.Status(ctx, s.Plan.ID, s.Plan.LevelNames())
	if err != nil {
		return load.Sample{}, err
	}
	out := load.Sample{At: st.Now, Used: map[string]int{}, Caps: map[string]int{}, Free: map[string]int{}, Total: st.Used, TotalCap: st.TotalCap, Pending: st.Pending}
	for _, l := range st.Levels {
		out.Used[l.Name], out.Caps[l.Name], out.Free[l.Name] = l.Used, l.Cap, l.Free
	}
	return out, nil
}

// Rest adds what is under way. The gateway's books and the ledger are walked only
// when the cheap figures are at rest: a look must not be part of the load.
func (s *Sight) Rest(ctx context.Context) (load.Sample, error) {
	out, err := s.Probe(ctx)
	if err != nil {
		return out, err
	}
	if s.Alone {
		depth, err := s.Desk.Queue.Depth(ctx)
		if err != nil {
			return out, err
		}
		out.Queued = depth.Visible + depth.InFlight
	}
	if out.Pending+out.Queued > 0 {
		return out, nil
	}
	if s.Moving != nil {
		webhooks, money := s.Moving()
		out.Queued, out.Held = out.Queued+webhooks, money
	}
	if out.Pending+out.Queued+out.Held > 0 {
		return out, nil
	}
	err = s.Desk.Store.Scan(ctx, s.Plan.ID, ledger.Visitor{
		Booking: func(b ledger.Booking) error {
			if b.State == ledger.Held {
				out.Held++
			}
			if b.UndoOwed {
				out.Undos++
			}
			return nil
		},
		Payment: func(p ledger.PaymentRecord) error {
			if p.Resolution == ledger.Refund && p.Refund != ledger.RefundDone {
				out.Refunds++
			}
			return nil
		},
	})
	return out, err
}

// Holders reads which hold or booking has which named seats. Holds past their
// deadline hold nothing. It is nil for a sale without named seats.
func (s *Sight) Holders() func(context.Context) (map[string][]string, error) {
	var seated []string
	for _, l := range s.Plan.Levels {
		if l.Kind == sale.KindSeated {
			seated = append(seated, l.Name)
		}
	}
	seats, ok := s.Desk.Redis.(admission.SeatReader)
	if !ok || seated == nil {
		return nil
	}
	return func(ctx context.Context) (map[string][]string, error) {
		m, err := seats.Seats(ctx, s.Plan.ID, seated)
		if err != nil {
			return nil, err
		}
		all := make(map[string][]string, len(m.Holders))
		for _, h := range m.Holders {
			if h.Stage != admission.StageSoft || h.Until.After(m.Now) {
				all[h.ID] = h.Seats
			}
		}
		return all, nil
	}
}

// Judge adds to what a client can see what only the stores can say.
func (s *Sight) Judge(ctx context.Context, r load.Result) ([]load.Check, error) {
	checks := load.Judge(r)
	if s.Alone {
		depth, err := s.Desk.Queue.Depth(ctx)
		if err != nil {
			return nil, err
		}
		checks = append(checks, load.Check{Name: "nothing parked in the dead letter queue", OK: depth.Dead == 0, Detail: fmt.Sprintf("%d messages", depth.Dead)})
	}
	audit, err := s.audit(ctx, r.Quiet)
	return append(checks, audit), err
}

// auditName is the check that every other one leans on.
const auditName = "audit: every invariant, Redis = ledger by id"

// audit runs the auditor, and gives every line of what it found.
func (s *Sight) audit(ctx context.Context, quiet bool) (load.Check, error) {
	a, err := s.Audit(ctx, s.Plan.ID, reaper.AuditOptions{AtRest: quiet && s.Alone})
	if err != nil {
		return load.Check{Name: auditName}, errors.Join(errors.New("the audit could not be made"), err)
	}
	lines := []string{fmt.Sprintf("%d violations in %d looks, %d captured payments, %d bookings in Redis", len(a.Violations), a.Looks, a.Captured, a.InRedis)}
	for _, state := range []ledger.State{ledger.Held, ledger.Paid, ledger.Released} {
		if n := a.Bookings[string(state)]; n > 0 {
			lines = append(lines, fmt.Sprintf("%d bookings %s", n, strings.ToLower(string(state))))
		}
	}
	if a.Frozen {
		lines = append(lines, "not judged: Redis is lost or being rebuilt")
	}
	for _, v := range a.Violations {
		lines = append(lines, fmt.Sprintf("BROKEN %s, %s: %s", v.Invariant, v.ID, v.Detail))
	}
	for _, n := range a.NotJudged {
		lines = append(lines, "not judged: "+n)
	}
	for _, w := range a.Work {
		lines = append(lines, fmt.Sprintf("open %s, %s: %s", w.Kind, w.ID, w.Detail))
	}
	return load.Check{Name: auditName, OK: a.OK, Detail: strings.Join(lines, "\n")}, nil
}

package reaper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
	"github.com/holdfast/holdfast/payment"
)

// look is one reading of everything.
type look struct {
	*tools
	control  ledger.Control
	status   admission.Status
	snapshot *invariant.Snapshot
	result   AuditResult
}

// look reads Redis before the ledger, as the diff does and for its reason: what
// is in Redis and not pending must then be in the scan of the ledger. Gateways
// come last: money that they have by then may still be on its way.
func (a *Auditor) look(ctx context.Context, saleID string) (*look, error) {
	c, err := a.store.Control(ctx, saleID)
	if err != nil {
		return nil, fmt.Errorf("reaper: read the control item of sale %s: %w", saleID, err)
	}
	l := &look{tools: a.tools, control: c, snapshot: invariant.New(c.Plan)}
	l.result.Frozen = c.Frozen
	if !c.Frozen {
		if err := l.redis(ctx); err != nil {
			return nil, err
		}
	}
	if err := l.store.Scan(ctx, saleID, l.snapshot.Visitor()); err != nil {
		return nil, fmt.Errorf("reaper: the audit of sale %s read the ledger only in part: %w", saleID, err)
	}
	if err := l.gateways(ctx); err != nil {
		return nil, err
	}
	return l, l.summary(ctx)
}

// redis fills the snapshot's view of Redis between two readings of the
// counters; if they differ the sale moved, and counters prove nothing.
func (l *look) redis(ctx context.Context) error {
	before, err := l.Redis.Status(ctx, l.control.Sale, l.control.Plan.LevelNames())
	if errors.Is(err, admission.ErrNotFound) {
		l.result.NotJudged = append(l.result.NotJudged, "redis: it does not know the sale")
		l.result.Frozen = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("reaper: the audit of sale %s can't read Redis: %w", l.control.Sale, err)
	}
	v := &invariant.RedisView{Gen: before.Gen, Records: map[string]invariant.Record{}, Seen: map[string]string{}, Seats: map[string]string{},
		Free: map[string]int{}, Levels: map[string]int{}, Pending: map[string]invariant.Pending{}, Soft: map[string]time.Time{}}
	l.snapshot.Redis = v
	if err := l.records(ctx, v); err != nil {
		return fmt.Errorf("reaper: the audit of sale %s read Redis only in part: %w", l.control.Sale, err)
	}
	if l.status, err = l.Redis.Status(ctx, l.control.Sale, l.control.Plan.LevelNames()); err != nil {
		return fmt.Errorf("reaper: the audit of sale %s can't read Redis: %w", l.control.Sale, err)
	}
	l.result.InRedis = len(v.Records)
	l.counters(v, before)
	return nil
}

func (l *look) records(ctx context.Context, v *invariant.RedisView) error {
	err := l.Redis.ScanRecords(ctx, l.control.Sale, func(r admission.Record, pending bool) error {
		rec := invariant.Record{Candidate: r.Candidate, Level: r.Level, Tokens: r.Tokens, Stage: invariant.Stage(r.Stage)}
		v.Records[r.BookingID] = rec
		if r.Stage == admission.StageSoft {
			v.Soft[r.BookingID] = r.HoldUntil
		}
		if pending {
			v.Pending[r.Candidate] = invariant.Pending{BookingID: r.BookingID, Level: r.Level, At: r.AdmittedAt}
		}
		if l.Seats == nil {
			v.Seen[r.Candidate] = r.BookingID
			for _, token := range r.Tokens {
				v.Seats[token] = r.BookingID
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = l.Redis.ScanPending(ctx, l.control.Sale, func(p admission.Pending) error {
		if _, ok := v.Pending[p.Candidate]; !ok {
			v.Pending[p.Candidate] = invariant.Pending{BookingID: p.BookingID, Level: p.Level}
		}
		return nil
	})
	if err != nil || l.Seats == nil {
		l.result.NotJudged = append(l.result.NotJudged, "redis: the maps of seats and candidates, taken from the records")
		return err
	}
	if err := l.Seats.ScanSeats(ctx, l.control.Sale, func(token, id string) error { v.Seats[token] = id; return nil }); err != nil {
		return err
	}
	return l.Seats.ScanCandidates(ctx, l.control.Sale, func(candidate, id string) error { v.Seen[candidate] = id; return nil })
}

// counters takes the published counters into the view. Of a sale that moved
// they are taken from the records instead, and what one script read of used,
// free and cap is judged by itself.
func (l *look) counters(v *invariant.RedisView, before admission.Status) {
	l.result.Moving = before.Used != l.status.Used || before.Bookings != l.status.Bookings || before.Pending != l.status.Pending ||
		!slices.Equal(before.Levels, l.status.Levels)
	v.Total = l.status.Used
	for _, s := range l.status.Levels {
		v.Levels[s.Name], v.Free[s.Name] = s.Used, s.Free
	}
	if !l.result.Moving {
		return
	}
	given, owned, total := map[string]int{}, map[string]string{}, 0
	for id, r := range v.Records {
		given[r.Level] += len(r.Tokens)
		total += len(r.Tokens)
		for _, token := range r.Tokens {
			owned[token] = id
		}
	}
	v.Total, v.Seats = total, owned
	for _, s := range l.status.Levels {
		v.Levels[s.Name], v.Free[s.Name] = given[s.Name], s.Cap-given[s.Name]
	}
}

// gateways lists what was captured. A gateway that has no list is believed as
// far as the ledger goes.
func (l *look) gateways(ctx context.Context) error {
	l.snapshot.Captured = []invariant.CapturedPayment{}
	silent := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(l.Steps.Gateways)) {
		lister, ok := l.Steps.Gateways[name].(CapturedLister)
		if !ok {
			silent[name] = true
			l.result.NotJudged = append(l.result.NotJudged, "gateway "+name+": it lists no captured payments")
			continue
		}
		err := lister.ListCaptured(ctx, l.control.Sale, func(p payment.Payment) error {
			l.capture(ledger.PaymentKey{Gateway: name, ID: p.PaymentID}, p.AmountMinor, p.Currency)
			return nil
		})
		if err != nil {
			return fmt.Errorf("reaper: the audit of sale %s got no list from gateway %s: %w", l.control.Sale, name, err)
		}
	}
	l.result.Captured = len(l.snapshot.Captured)
	for k, p := range l.snapshot.Payments {
		if _, here := l.Steps.Gateways[k.Gateway]; p.Resolution == ledger.Applied && (silent[k.Gateway] || !here) {
			l.capture(k, p.AmountMinor, p.Currency)
		}
	}
	return nil
}

func (l *look) capture(k ledger.PaymentKey, amount int64, currency string) {
	l.snapshot.Captured = append(l.snapshot.Captured, invariant.CapturedPayment{Key: k, AmountMinor: amount, Currency: currency})
}

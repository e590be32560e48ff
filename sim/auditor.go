package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
	"github.com/holdfast/holdfast/lifecycle"
)

// auditor looks at the stores themselves, with no network in between.
type auditor struct {
	town   *town
	acked  []string
	states map[string]ledger.State // as seen last
	// lossy: Redis has lost data that was acknowledged, so until it is healed it
	// may lack what the ledger has, and have what the ledger has released. The
	// ledger's own promises stand.
	lossy bool
	looks int
	// highest are the greatest caps so far: a Redis that has lost bookings grants a
	// cut that it would have refused.
	highest map[string]int
}

// acknowledged notes that a client was told of a booking.
func (a *auditor) acknowledged(bookingID string) {
	a.acked = append(a.acked, bookingID)
	a.town.log.printf("acknowledged %s", bookingID)
}

// errBroken is a promise that does not hold.
var errBroken = errors.New("sim: promises are broken")

func broken(found []invariant.Violation) error {
	if len(found) == 0 {
		return nil
	}
	lines := make([]string, len(found))
	for i, v := range found {
		lines[i] = fmt.Sprintf("%s %s: %s", v.Invariant, v.ID, v.Detail)
	}
	return fmt.Errorf("%w:\n  %s", errBroken, strings.Join(lines, "\n  "))
}

// step holds the running sale to what is true at every instant.
func (a *auditor) step() error {
	a.looks++
	s, err := a.look()
	if err != nil {
		return err
	}
	s.Earlier = a.states
	found := append(invariant.Caps(*s), invariant.OneLive(*s)...)
	found = append(found, invariant.TokenOwner(*s)...)
	found = append(found, invariant.Terminal(*s)...)
	if s.Redis != nil {
		found = append(found, invariant.Conserve(*s)...)
		if a.town.seated() {
			found = append(found, softHolds(s, a.town.redis.Dump(theSale), a.lossy)...)
		}
		found = append(found, invariant.PendHasSeat(*s)...)
		if !a.lossy {
			found = append(found, invariant.LsubR(*s)...)
			found = append(found, invariant.NoOrphan(*s)...)
		}
	}
	for id, b := range s.Bookings {
		a.states[id] = b.State
	}
	return broken(found)
}

// rest holds the sale to everything, when nothing is under way any more.
func (a *auditor) rest() error {
	s, err := a.look()
	if err != nil {
		return err
	}
	s.Earlier, s.Acked = a.states, a.acked
	s.Captured = []invariant.CapturedPayment{}
	parked, err := a.inbox()
	if err != nil {
		return err
	}
	for _, e := range a.town.pay.Payments() {
		k := ledger.PaymentKey{Gateway: e.Account, ID: e.PaymentID}
		if e.Captures > 1 {
			return fmt.Errorf("%w: payment %s was captured %d times", errBroken, k, e.Captures)
		}
		if e.CapturedMinor > 0 && !parked[k] {
			s.Captured = append(s.Captured, invariant.CapturedPayment{Key: k, AmountMinor: e.CapturedMinor, Currency: e.Currency})
		}
		if err := moneyBack(s.Payments[k], e.CapturedMinor, e.RefundedMinor); err != nil {
			return fmt.Errorf("%w: payment %s: %w", errBroken, k, err)
		}
	}
	if err := broken(invariant.CheckQuiet(*s)); err != nil {
		return err
	}
	if err := a.sameGates(); err != nil {
		return err
	}
	return a.alarms()
}

// sameGates holds Redis to the ledger's plan: what operators decided is what is
// sold, and no cap change is left half done (protocol.md 3.8.5c).
func (a *auditor) sameGates() error {
	c, err := a.town.ledger.Control(a.town.ctx, theSale)
	if err != nil {
		return err
	}
	d := a.town.redis.Dump(theSale)
	if c.CapIntent != nil {
		return fmt.Errorf("%w: the cap change %+v is half done", errBroken, *c.CapIntent)
	}
	for _, l := range c.Plan.Levels {
		if d.Levels[l.Name].Cap != l.Cap {
			return fmt.Errorf("%w: level %s has cap %d in the plan and %d in Redis", errBroken, l.Name, l.Cap, d.Levels[l.Name].Cap)
		}
	}
	if has, plan := seatsOf(d), slices.Sorted(slices.Values(namesOf(c.Plan))); !slices.Equal(has, plan) {
		return fmt.Errorf("%w: Redis has seats %v, the plan %v", errBroken, has, plan)
	}
	if d.TotalCap != c.Plan.TotalCap || d.Open != c.Open || d.RosterVersion != c.RosterVersion || len(d.Roster) != c.RosterSize {
		return fmt.Errorf("%w: Redis has total %d, open %t, roster %s of %d; the ledger %d, %t, %s of %d", errBroken,
			d.TotalCap, d.Open, d.RosterVersion, len(d.Roster), c.Plan.TotalCap, c.Open, c.RosterVersion, c.RosterSize)
	}
	return nil
}

// moneyBack: what went back is what the ledger says went back.
func moneyBack(p ledger.PaymentRecord, captured, refunded int64) error {
	switch {
	case refunded != 0 && p.Refund != ledger.RefundDone:
		return fmt.Errorf("%d of it went back, and its refund is %q", refunded, p.Refund)
	case p.Refund == ledger.RefundDone && refunded != captured:
		return fmt.Errorf("%d of %d went back, and its refund is DONE", refunded, captured)
	}
	return nil
}

// never are the alarms that a sale without lost data must not raise.
var never = []lifecycle.AlarmKind{lifecycle.AlarmConflict, lifecycle.AlarmOwnership, lifecycle.AlarmForeign, lifecycle.AlarmApplied,
	lifecycle.AlarmMismatch}

func (a *auditor) alarms() error {
	if a.lossy {
		return nil
	}
	for _, k := range never {
		if n := a.town.alarms[k]; n > 0 {
			return fmt.Errorf("%w: alarm %s was raised %d times, and nothing was lost", errBroken, k, n)
		}
	}
	return nil
}

// inbox are the payments that wait for a person.
func (a *auditor) inbox() (map[ledger.PaymentKey]bool, error) {
	parked := map[ledger.PaymentKey]bool{}
	err := a.town.ledger.Parked(a.town.ctx, theSale, func(it ledger.InboxItem) error {
		if !it.Done && it.Reason != "frozen" {
			parked[it.Payment] = true
		}
		return nil
	})
	return parked, err
}

// look reads both stores. Redis is left out while it does not have the sale.
func (a *auditor) look() (*invariant.Snapshot, error) {
	t := a.town
	c, err := t.ledger.Control(t.ctx, theSale)
	if err != nil {
		return nil, err
	}
	s := invariant.New(c.Plan)
	if err := t.ledger.Scan(t.ctx, theSale, s.Visitor()); err != nil {
		return nil, err
	}
	a.ceiling(s, c)
	d := t.redis.Dump(theSale)
	if d.Gen == 0 || d.Gen != c.Gen || c.Frozen {
		return s, nil
	}
	s.Redis = redisView(d)
	for i := range s.Plan.Levels { // conservation is judged by Redis's own caps: see ceiling
		l := &s.Plan.Levels[i]
		own := d.Levels[l.Name].Cap
		l.Cap = max(l.Cap, own)
		s.Redis.Free[l.Name] += l.Cap - own
	}
	return s, nil
}

// ceiling raises the caps to what an act under way may have given already: the
// ledger's plan is behind Redis while a cut is half done (protocol.md 3.4).
func (a *auditor) ceiling(s *invariant.Snapshot, c ledger.Control) {
	s.Plan.Levels = append(s.Plan.Levels[:0:0], s.Plan.Levels...)
	if a.highest == nil {
		a.highest = map[string]int{}
	}
	for n := range s.Plan.Levels {
		l := &s.Plan.Levels[n]
		a.highest[l.Name] = max(a.highest[l.Name], l.Cap)
		if a.lossy {
			l.Cap = a.highest[l.Name]
		}
	}
	if a.lossy { // the ledger knows whose a seat is, and counts nothing: a total below all the levels is Redis's to keep
		s.Plan.TotalCap = sumOf(s.Plan.Levels)
	}
	i := c.CapIntent
	if i == nil {
		return
	}
	for n := range s.Plan.Levels {
		if l := &s.Plan.Levels[n]; l.Name == i.Level {
			l.Cap = max(l.Cap, i.From, i.To)
		}
	}
	if i.Level == "" {
		s.Plan.TotalCap = max(s.Plan.TotalCap, i.From, i.To)
	}
}

// redisView is what Redis holds, as the invariants want it.
func redisView(d admissiontest.Dump) *invariant.RedisView {
	v := &invariant.RedisView{Gen: d.Gen, Records: make(map[string]invariant.Record, len(d.Records)), Seen: d.Seen, Seats: d.Seats,
		Free: map[string]int{}, Levels: map[string]int{}, Total: d.Total, Pending: make(map[string]invariant.Pending, len(d.Pending)), Soft: map[string]time.Time{}}
	for name, l := range d.Levels {
		for id, ms := range l.Soft {
			v.Soft[id] = time.UnixMilli(ms)
		}
		v.Levels[name], v.Free[name] = l.Used, len(l.Free)
	}
	for id, r := range d.Records {
		v.Records[id] = invariant.Record{Candidate: r.Candidate, Level: r.Level, Tokens: r.Tokens, Stage: invariant.Stage(r.Stage)}
	}
	for candidate, p := range d.Pending {
		v.Pending[candidate] = invariant.Pending{BookingID: p.BookingID, Level: p.Level}
	}
	return v
}

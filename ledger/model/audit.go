package model

import (
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger/invariant"
)

// audited is all of a world that the invariants look at.
type audited struct {
	redis  redis
	ledger packed
	acked  uint8
}

// audit is what is wrong in w at any moment, by the production's invariants.
// Their answer is remembered for each combination of what they look at.
func (m *Model) audit(w *world) []string {
	q := audited{w.redis, w.ledger, w.acked}
	found, known := m.audits[q]
	if !known {
		found = m.check(q)
		m.audits[q] = found
	}
	return found
}

func (m *Model) check(q audited) []string {
	s := m.view(q)
	if !m.cfg.Stale || m.rules.StaleClaimed {
		return append(texts(invariant.Check(*s)), m.undoneStays(q)...)
	}
	// A stale replica may lack what is live (INV3) until the diff reseeds it; the
	// ledger's own promises hold all the same (protocol.md 5.5, P9).
	var all []invariant.Violation
	for _, holds := range []func(invariant.Snapshot) []invariant.Violation{
		invariant.Caps, invariant.OneLive, invariant.TokenOwner, invariant.Conserve, invariant.PendHasSeat, invariant.PayOnce, invariant.Terminal,
	} {
		all = append(all, holds(*s)...)
	}
	return append(texts(all), m.noStray(q)...)
}

// auditQuiet is what is wrong in w at rest.
func (m *Model) auditQuiet(w *world) []string {
	s := m.view(audited{w.redis, w.ledger, w.acked})
	s.Captured = []invariant.CapturedPayment{}
	for i, at := range w.session {
		if open := w.ledger.payment(uint8(i)) <= paymentOpen; at == captured && !(open && w.queue[moneyMessage(bid(i))] == parked) {
			s.Captured = append(s.Captured, invariant.CapturedPayment{Key: paymentKey(uint8(i)), AmountMinor: price.AmountMinor, Currency: price.Currency})
		}
	}
	return texts(invariant.CheckQuiet(*s))
}

// undoneStays: a booking whose undo is noted as done (T5) is not in Redis, and
// never will be again.
func (m *Model) undoneStays(q audited) []string {
	for b := range bid(bookings) {
		if q.ledger.released(b) && !q.ledger.undoOwed(b) && q.redis.stage(b) != absent {
			return []string{fmt.Sprintf("UndoneStays: %s: its undo is done, and Redis holds it", bidNames[b])}
		}
	}
	return nil
}

// noStray is INV4 as it holds under a stale replica: what Redis has and is not
// pending is known to the ledger.
func (m *Model) noStray(q audited) []string {
	for b := range bid(bookings) {
		if q.redis.stage(b) != absent && q.redis.pending(m.candidate(b)) != b && !q.ledger.known(b) {
			return []string{fmt.Sprintf("NoStray: %s: Redis holds it, it is not pending, and the ledger does not know it", bidNames[b])}
		}
	}
	return nil
}

var stages = map[stage]invariant.Stage{admitted: invariant.Admitted, attached: invariant.Attached, settled: invariant.Settled}

// view is the snapshot that the production's invariants judge.
func (m *Model) view(q audited) *invariant.Snapshot {
	s := m.snapshot(m.unpack(q.ledger))
	r := q.redis
	v := &invariant.RedisView{
		Gen: 1, Records: map[string]invariant.Record{}, Seen: map[string]string{}, Seats: map[string]string{},
		Free: map[string]int{level: int(r.unsold())}, Levels: map[string]int{level: int(r.count())}, Total: int(r.count()),
		Pending: map[string]invariant.Pending{}, Soft: map[string]time.Time{},
	}
	for b := range bid(bookings) {
		if at := r.stage(b); at != absent {
			v.Records[bidNames[b]] = invariant.Record{Candidate: candidateNames[m.candidate(b)], Level: level, Tokens: tokensOf(m.group(b)), Stage: stages[at]}
		}
	}
	for h := holdOf(0); h.isHold(); h++ {
		if r.hold(h) != noHold {
			v.Records[bidNames[h]] = invariant.Record{Candidate: candidateNames[m.candidate(h.promotion())], Level: level, Tokens: tokensOf(r.owned(h)), Stage: invariant.SoftHeld}
			v.Soft[bidNames[h]] = noon
		}
	}
	for c, name := range candidateNames {
		if b := r.seen(uint8(c)); b != noBid {
			v.Seen[name] = bidNames[b]
		}
		if b := r.pending(uint8(c)); b != noBid {
			v.Pending[name] = invariant.Pending{BookingID: bidNames[b], Level: level, At: noon}
		}
	}
	for i, name := range tokens {
		if b := r.seat(uint(i)); b != noBid {
			v.Seats[name] = bidNames[b]
		}
	}
	s.Redis = v
	for b := range bid(attempts) {
		if q.acked&(1<<b) != 0 {
			s.Acked = append(s.Acked, bidNames[b])
		}
	}
	return s
}

func texts(found []invariant.Violation) []string {
	var all []string
	for _, v := range found {
		all = append(all, v.Invariant+": "+v.ID+": "+v.Detail)
	}
	return all
}

package admissiontest

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast/holdfast/admission"
)

var (
	_ admission.SoftHolder = (*Redis)(nil)
	_ admission.SeatReader = (*Redis)(nil)
)

// Hold is S6.
func (r *Redis) Hold(ctx context.Context, q admission.HoldRequest) (a admission.HoldAnswer, err error) {
	err = r.do(ctx, "Hold", func(Fault) error {
		r.script(q.Sale, true, func(s *saleState, ms int64) { a = s.hold(q, ms) })
		return nil
	})
	if err != nil {
		return admission.HoldAnswer{}, err
	}
	if a.HoldID == "" {
		a.HoldID = q.HoldID
	}
	return a, nil
}

// hold is S6, check by check in the script's order.
func (s *saleState) hold(q admission.HoldRequest, ms int64) admission.HoldAnswer {
	sorted := slices.Sorted(slices.Values(q.Seats))
	if n := len(q.Seats); n < 1 || n > maxSeats || len(slices.Compact(sorted)) != n || q.HoldID == "" || q.Candidate == "" ||
		q.EmailHash == "" || q.AmountMinor < 0 || q.For < time.Millisecond || q.Max < time.Millisecond {
		return admission.HoldAnswer{Outcome: admission.BadArgument}
	}
	if s.cfg.gen == 0 || s.cfg.gen != q.Gen {
		return admission.HoldAnswer{Outcome: admission.StaleGen}
	}
	if _, dead := s.dead[q.HoldID]; dead {
		return admission.HoldAnswer{Outcome: admission.Dead}
	}
	old, a := s.presentHold(q, ms)
	if a.Outcome != 0 {
		return a
	}
	if a := s.mayHold(q, ms); a.Outcome != 0 {
		return a
	}
	s.dropExpired(admission.Request{Level: q.Level, Seats: q.Seats}, ms)
	if old != nil && s.without.DropFirst {
		s.drop(old.Level, old.BookingID)
		old = nil
	}
	if s.level[q.Level]+len(s.free[q.Level]) != s.cfg.levels[q.Level].cap {
		return admission.HoldAnswer{Outcome: admission.Corrupt}
	}
	return s.choose(q, old, ms)
}

// presentHold finds the candidate's live hold, or answers in its place.
func (s *saleState) presentHold(q admission.HoldRequest, ms int64) (*admission.Record, admission.HoldAnswer) {
	gone := admission.HoldAnswer{Outcome: admission.HoldGone}
	cur, ok := s.seen[q.Candidate]
	if !ok {
		if q.Change {
			return nil, gone
		}
		return nil, admission.HoldAnswer{}
	}
	rec, ok := s.bk[cur]
	switch {
	case !ok:
		return nil, admission.HoldAnswer{Outcome: admission.Corrupt}
	case rec.Stage != admission.StageSoft && q.Change, q.Change && cur != q.HoldID:
		return nil, gone
	case rec.Stage != admission.StageSoft:
		return nil, admission.HoldAnswer{Outcome: admission.Duplicate, BookingID: cur, Stage: rec.Stage,
			EmailMatches: rec.EmailHash == q.EmailHash, HoldUntil: rec.HoldUntil, Level: rec.Level}
	case toMS(rec.HoldUntil) <= ms:
		s.drop(rec.Level, cur)
		if q.Change {
			return nil, gone
		}
		return nil, admission.HoldAnswer{}
	case cur != q.HoldID && q.Key != "" && rec.Key == q.Key && rec.InputHash != q.InputHash:
		return nil, admission.HoldAnswer{Outcome: admission.Mismatch}
	case cur != q.HoldID && q.Key != "" && rec.Key == q.Key:
		c := copyRecord(rec)
		return nil, admission.HoldAnswer{Outcome: admission.Same, HoldID: cur, Until: rec.HoldUntil, Record: &c}
	}
	return &rec, admission.HoldAnswer{}
}

// mayHold: roster, opening flag and times, then level and kind.
func (s *saleState) mayHold(q admission.HoldRequest, ms int64) admission.HoldAnswer {
	a := s.entitled(admission.Request{Candidate: q.Candidate, Level: q.Level, EmailHash: q.EmailHash}, ms)
	if a.Outcome != 0 {
		return admission.HoldAnswer{Outcome: a.Outcome, OpensAt: a.OpensAt}
	}
	l, ok := s.cfg.levels[q.Level]
	if !ok {
		return admission.HoldAnswer{Outcome: admission.UnknownLevel}
	}
	if l.kind != "s" {
		return admission.HoldAnswer{Outcome: admission.BadArgument}
	}
	return admission.HoldAnswer{}
}

// freedAtTheCap bounds how many expired holds are freed for the total's sake.
const freedAtTheCap = 200

// choose takes the wanted seats in place of the old ones, all or none.
func (s *saleState) choose(q admission.HoldRequest, old *admission.Record, ms int64) admission.HoldAnswer {
	var back []token
	have := map[string]token{}
	if old != nil {
		for i, name := range old.Tokens {
			t := token{old.Scores[i], name}
			if s.seat[name] != old.BookingID {
				return admission.HoldAnswer{Outcome: admission.Corrupt}
			}
			if old.Level == q.Level && slices.Contains(q.Seats, name) {
				have[name] = t
			} else {
				back = append(back, t)
			}
		}
	}
	a := admission.HoldAnswer{Outcome: admission.Taken}
	var chosen, fresh []token
	for _, name := range q.Seats {
		t, ok := have[name]
		if !ok {
			if t, ok = s.find(q.Level, name); !ok {
				a.Taken = append(a.Taken, name)
				continue
			}
			fresh = append(fresh, t)
		}
		chosen = append(chosen, t)
	}
	if a.Taken != nil && (!s.without.HoldFreePart || chosen == nil) {
		return a
	}
	full := func() bool { return len(fresh) > len(back) && s.total+len(fresh)-len(back) > s.cfg.cap }
	if full() {
		s.lapse(q.Level, freedAtTheCap, ms, true)
	}
	if full() {
		return admission.HoldAnswer{Outcome: admission.SoldOut}
	}
	return s.writeHold(q, old, chosen, fresh, back, ms)
}

func (s *saleState) writeHold(q admission.HoldRequest, old *admission.Record, chosen, fresh, back []token, ms int64) admission.HoldAnswer {
	first, until := ms, ms+q.For.Milliseconds()
	kept := int64(0)
	if old != nil {
		first, kept = toMS(old.AdmittedAt), toMS(old.HoldUntil)
		for _, t := range back {
			delete(s.seat, t.name)
			s.put(old.Level, t)
		}
		s.level[old.Level] -= len(back)
		s.total -= len(back)
		delete(s.soft[old.Level], old.BookingID)
		if old.BookingID != q.HoldID {
			delete(s.bk, old.BookingID)
			s.bar(old.BookingID, ms)
		}
	}
	if !s.without.ExtendForEver {
		until = min(until, first+q.Max.Milliseconds())
	}
	until = max(until, kept)
	rec := admission.Record{BookingID: q.HoldID, Candidate: q.Candidate, Level: q.Level, Key: q.Key, InputHash: q.InputHash, EmailHash: q.EmailHash,
		AdmittedAt: fromMS(first), DriverAt: fromMS(ms), Stage: admission.StageSoft, Driver: 1, AmountMinor: q.AmountMinor, Currency: q.Currency,
		HoldUntil: fromMS(until), Gen: q.Gen}
	for _, t := range fresh {
		s.take(q.Level, t.name)
	}
	for _, t := range chosen {
		s.seat[t.name] = q.HoldID
		rec.Tokens, rec.Scores = append(rec.Tokens, t.name), append(rec.Scores, t.score)
	}
	s.level[q.Level] += len(fresh)
	s.total += len(fresh)
	s.seen[q.Candidate], s.bk[q.HoldID] = q.HoldID, rec
	if s.soft[q.Level] == nil {
		s.soft[q.Level] = map[string]int64{}
	}
	s.soft[q.Level][q.HoldID] = until
	c := copyRecord(rec)
	c.Scores = nil // the adapter does not learn them
	return admission.HoldAnswer{Outcome: admission.Admitted, HoldID: q.HoldID, Record: &c, Until: rec.HoldUntil, First: rec.AdmittedAt,
		Now: fromMS(ms), Version: s.raise()}
}

// bar marks an id as dead.
func (s *saleState) bar(bid string, ms int64) {
	s.dead[bid] = ms
	for old, at := range s.dead {
		if at <= ms-deadMS {
			delete(s.dead, old)
		}
	}
}

// Extend is S7.
func (r *Redis) Extend(ctx context.Context, q admission.Extension) (a admission.HoldAnswer, err error) {
	err = r.do(ctx, "Extend", func(Fault) error {
		r.script(q.Sale, true, func(s *saleState, ms int64) { a = s.extend(q, ms) })
		return nil
	})
	if err != nil {
		return admission.HoldAnswer{}, err
	}
	return a, nil
}

func (s *saleState) extend(q admission.Extension, ms int64) admission.HoldAnswer {
	a := admission.HoldAnswer{HoldID: q.HoldID}
	rec, ok := s.bk[q.HoldID]
	switch {
	case s.cfg.gen == 0 || s.cfg.gen != q.Gen:
		a.Outcome = admission.StaleGen
		return a
	case !ok || rec.Stage != admission.StageSoft || toMS(rec.HoldUntil) <= ms:
		a.Outcome = admission.HoldGone
		return a
	}
	until := ms + q.For.Milliseconds()
	if !s.without.ExtendForEver {
		until = min(until, toMS(rec.AdmittedAt)+q.Max.Milliseconds())
	}
	if !s.without.ExtendBack {
		until = max(until, toMS(rec.HoldUntil))
	}
	if until != toMS(rec.HoldUntil) {
		rec.HoldUntil = fromMS(until)
		s.bk[q.HoldID], s.soft[rec.Level][q.HoldID] = rec, until
		a.Version = s.raise()
	}
	c := copyRecord(rec)
	a.Outcome, a.Record, a.Until, a.First, a.Now = admission.Admitted, &c, rec.HoldUntil, rec.AdmittedAt, fromMS(ms)
	return a
}

// Promote is S8 + WAIT.
func (r *Redis) Promote(ctx context.Context, q admission.Request, holdID string) (a admission.Answer, err error) {
	err = r.do(ctx, "Promote", func(f Fault) error {
		r.script(q.Sale, true, func(s *saleState, ms int64) { a = s.promote(q, holdID, ms) })
		if a.Outcome != admission.Admitted && a.Outcome != admission.Replayed {
			if a.BookingID == "" {
				a.BookingID = q.BookingID
			}
			return nil
		}
		if r.wait(f) {
			return nil
		}
		if f == ShortWait {
			r.script(q.Sale, true, func(s *saleState, ms int64) {
				s.undo(admission.Undo{BookingID: q.BookingID, Level: a.Level, Mode: admission.UndoQuick, Driver: a.Driver, HoldID: holdID}, ms)
			})
		}
		return admission.ErrUnacknowledged
	})
	if err != nil {
		return admission.Answer{}, err
	}
	return a, nil
}

// promote is S8, check by check in the script's order.
func (s *saleState) promote(q admission.Request, holdID string, ms int64) admission.Answer {
	if q.BookingID == "" || holdID == "" || q.Candidate == "" || q.BookingID == holdID {
		return admission.Answer{Outcome: admission.BadArgument}
	}
	if s.cfg.gen == 0 || s.cfg.gen != q.Gen {
		return admission.Answer{Outcome: admission.StaleGen}
	}
	if _, dead := s.dead[q.BookingID]; dead {
		return admission.Answer{Outcome: admission.Dead}
	}
	cur, seen := s.seen[q.Candidate]
	rec, ok := s.bk[cur]
	if seen && !ok {
		return admission.Answer{Outcome: admission.Corrupt}
	}
	if seen && rec.Stage != admission.StageSoft || !seen {
		if a := s.seenBefore(q, ms); a.Outcome != 0 {
			return s.withRecord(a)
		}
	} else if a := s.lastOf(q); a.Outcome != 0 {
		return a
	}
	switch {
	case cur != holdID, toMS(rec.HoldUntil) <= ms && !s.without.PromoteExpired:
		return admission.Answer{Outcome: admission.HoldGone}
	case q.EmailHash != rec.EmailHash:
		return admission.Answer{Outcome: admission.EmailMismatch}
	}
	q.Level = rec.Level
	if a := s.entitled(q, ms); a.Outcome != 0 {
		return a
	}
	return s.writePromotion(q, rec, ms)
}

// lastOf answers a key of the candidate's last released booking.
func (s *saleState) lastOf(q admission.Request) admission.Answer {
	o, ok := s.last[q.Candidate]
	switch {
	case !ok || q.Key == "" || o.key != q.Key:
		return admission.Answer{}
	case o.input != q.InputHash:
		return admission.Answer{Outcome: admission.Mismatch}
	}
	return admission.Answer{Outcome: admission.Released, BookingID: o.bid}
}

// withRecord adds what a replayed promotion says beside a replayed admission.
func (s *saleState) withRecord(a admission.Answer) admission.Answer {
	if a.Outcome == admission.Replayed {
		c := copyRecord(s.bk[a.BookingID])
		a.Record, a.Level = &c, c.Level
	}
	return a
}

func (s *saleState) writePromotion(q admission.Request, hold admission.Record, ms int64) admission.Answer {
	for _, name := range hold.Tokens {
		if s.seat[name] != hold.BookingID {
			return admission.Answer{Outcome: admission.Corrupt}
		}
	}
	rec := copyRecord(hold)
	rec.BookingID, rec.Stage, rec.Key, rec.InputHash, rec.Gen = q.BookingID, admission.StageAdmitted, q.Key, q.InputHash, q.Gen
	rec.AdmittedAt, rec.DriverAt, rec.HoldUntil = fromMS(ms), fromMS(ms), fromMS(ms+s.cfg.holdMS)
	if s.without.PromotePart {
		rec.Tokens, rec.Scores = rec.Tokens[:1], rec.Scores[:1]
		s.release(hold.BookingID, hold)
		s.take(rec.Level, rec.Tokens[0])
		s.total, s.level[rec.Level] = s.total+1, s.level[rec.Level]+1
	}
	for _, name := range rec.Tokens {
		s.seat[name] = q.BookingID
	}
	s.seen[q.Candidate], s.bk[q.BookingID] = q.BookingID, rec
	if !s.without.PromoteKeepsHold {
		delete(s.bk, hold.BookingID)
		delete(s.soft[hold.Level], hold.BookingID)
	}
	s.bar(hold.BookingID, ms)
	s.was[q.BookingID] = hold
	s.pending[q.Candidate] = pending{q.BookingID, hold.Level, ms}
	c := copyRecord(rec)
	return admission.Answer{Outcome: admission.Admitted, BookingID: q.BookingID, Tokens: slices.Clone(rec.Tokens), Stage: rec.Stage, Driver: 1,
		AdmittedAt: rec.AdmittedAt, HoldUntil: rec.HoldUntil, Level: rec.Level, Record: &c, Version: s.raise()}
}

// demote gives the seats of a booking without a payment back to the hold that it
// was made of; done is false if that is no more.
func (s *saleState) demote(u admission.Undo, ms int64) (a admission.UndoAnswer, done bool) {
	rec, ok := s.bk[u.BookingID]
	if u.HoldID == "" || u.Mode != admission.UndoQuick || !ok {
		return a, false
	}
	if rec.Stage != admission.StageAdmitted {
		return admission.UndoAnswer{Outcome: admission.Armed}, true
	}
	if rec.Driver != u.Driver {
		return admission.UndoAnswer{Outcome: admission.Superseded}, true
	}
	old, ok := s.was[u.BookingID]
	if !ok || old.BookingID != u.HoldID || toMS(old.HoldUntil) <= ms || !slices.Equal(old.Tokens, rec.Tokens) || s.seen[rec.Candidate] != u.BookingID {
		return a, false
	}
	s.bar(u.BookingID, ms)
	delete(s.dead, u.HoldID)
	for _, name := range old.Tokens {
		s.seat[name] = u.HoldID
	}
	delete(s.bk, u.BookingID)
	delete(s.was, u.BookingID)
	s.seen[rec.Candidate], s.bk[u.HoldID] = u.HoldID, old
	s.soft[old.Level][u.HoldID] = toMS(old.HoldUntil)
	if s.pending[rec.Candidate].bid == u.BookingID {
		delete(s.pending, rec.Candidate)
	}
	return admission.UndoAnswer{Outcome: admission.Undone, Version: s.raise()}, true
}

// Lapse releases expired holds.
func (r *Redis) Lapse(ctx context.Context, sale, level string, limit int) (n int, version int64, err error) {
	err = r.do(ctx, "Lapse", func(Fault) error {
		r.script(sale, true, func(s *saleState, ms int64) {
			if n = s.lapse(level, limit, ms, false); n > 0 {
				version = s.raise()
			}
		})
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	return n, version, nil
}

// lapse drops at most limit expired holds; each raises the version if told to.
func (s *saleState) lapse(level string, limit int, ms int64, each bool) int {
	var due []token
	for bid, end := range s.soft[level] {
		if end <= ms {
			due = append(due, token{end, bid})
		}
	}
	slices.SortFunc(due, byScore)
	n := min(len(due), limit)
	before := s.cfg.ver
	for _, d := range due[:n] {
		s.drop(level, d.name)
	}
	if !each {
		s.cfg.ver = before
	}
	return n
}

package admissiontest

import (
	"context"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// maxSeats is the most seats of one booking.
const maxSeats = 10

// Admit is S1 + WAIT; a short acknowledgement is undone at once (protocol.md
// 3.5 step 2), unless the booking id is not the caller's alone.
func (r *Redis) Admit(ctx context.Context, q admission.Request) (a admission.Answer, err error) {
	err = r.do(ctx, "Admit", func(f Fault) error {
		r.script(q.Sale, true, func(s *saleState, ms int64) { a = s.admit(q, ms) })
		if a.Outcome != admission.Admitted && a.Outcome != admission.Replayed {
			if a.BookingID == "" { // every refusal names the booking that it refuses
				a.BookingID = q.BookingID
			}
			return nil
		}
		if r.wait(f) {
			return nil
		}
		if f == ShortWait && !shared(q) {
			r.script(q.Sale, true, func(s *saleState, ms int64) {
				s.undo(admission.Undo{BookingID: q.BookingID, Mode: admission.UndoQuick, Driver: a.Driver}, ms)
			})
		}
		a = admission.Answer{}
		return admission.ErrUnacknowledged
	})
	if err != nil {
		return admission.Answer{}, err
	}
	return a, nil
}

// shared is the adapter's rule: two workers on one message derive the same id,
// so nobody may undo it without the ledger (protocol.md 3.6, 3.7).
func shared(q admission.Request) bool {
	return q.RosterVersion == admission.ProvenRoster || strings.HasPrefix(q.BookingID, sale.LateBookingID(""))
}

// admit is S1, check by check in the script's order.
func (s *saleState) admit(q admission.Request, ms int64) admission.Answer {
	n := q.Count
	if len(q.Seats) > 0 {
		n = len(q.Seats)
	}
	sorted := slices.Sorted(slices.Values(q.Seats))
	if n < 1 || n > maxSeats || q.BookingID == "" || q.Candidate == "" || len(slices.Compact(sorted)) != len(q.Seats) {
		return admission.Answer{Outcome: admission.BadArgument}
	}
	if s.cfg.gen == 0 || s.cfg.gen != q.Gen {
		return admission.Answer{Outcome: admission.StaleGen}
	}
	if _, dead := s.dead[q.BookingID]; dead {
		return admission.Answer{Outcome: admission.Dead}
	}
	if a := s.seenBefore(q, ms); a.Outcome != 0 {
		return a
	}
	if a := s.entitled(q, ms); a.Outcome != 0 {
		return a
	}
	return s.takeSeats(q, n, ms)
}

// seenBefore: replay, same key, duplicate, then the last released booking.
func (s *saleState) seenBefore(q admission.Request, ms int64) admission.Answer {
	if cur, ok := s.seen[q.Candidate]; ok {
		rec, ok := s.bk[cur]
		switch {
		case !ok:
			return admission.Answer{Outcome: admission.Corrupt}
		case rec.Stage == admission.StageSoft && toMS(rec.HoldUntil) <= ms && rec.Level == q.Level && cur != q.BookingID:
			s.drop(rec.Level, cur)
		case cur == q.BookingID && rec.Stage != admission.StageSoft:
			s.cfg.replays++
			return admission.Answer{Outcome: admission.Replayed, BookingID: cur, Tokens: slices.Clone(rec.Tokens), Stage: rec.Stage,
				Driver: rec.Driver, AdmittedAt: rec.AdmittedAt, HoldUntil: rec.HoldUntil}
		case q.Key != "" && rec.Key == q.Key:
			if rec.InputHash != q.InputHash {
				return admission.Answer{Outcome: admission.Mismatch}
			}
			c := copyRecord(rec)
			return admission.Answer{Outcome: admission.Same, BookingID: cur, Stage: rec.Stage, HoldUntil: rec.HoldUntil, Record: &c}
		default:
			return admission.Answer{Outcome: admission.Duplicate, BookingID: cur, Stage: rec.Stage,
				EmailMatches: rec.EmailHash == q.EmailHash, HoldUntil: rec.HoldUntil, Level: rec.Level}
		}
	}
	if o, ok := s.last[q.Candidate]; ok && q.Key != "" && o.key == q.Key {
		if o.input != q.InputHash {
			return admission.Answer{Outcome: admission.Mismatch}
		}
		return admission.Answer{Outcome: admission.Released, BookingID: o.bid}
	}
	return admission.Answer{}
}

// entitled: roster, opening flag and times; skipped for ProvenRoster.
func (s *saleState) entitled(q admission.Request, ms int64) admission.Answer {
	if q.RosterVersion == admission.ProvenRoster {
		return admission.Answer{}
	}
	if q.RosterVersion == "" || q.RosterVersion != s.cfg.roster {
		row, ok := s.roster[q.Candidate]
		switch {
		case !ok:
			return admission.Answer{Outcome: admission.UnknownCode}
		case q.EmailHash != "" && row.EmailHash != q.EmailHash:
			return admission.Answer{Outcome: admission.EmailMismatch}
		case len(row.Levels) > 0 && !slices.Contains(row.Levels, q.Level):
			return admission.Answer{Outcome: admission.NotAllowed}
		}
	}
	if !s.cfg.open || s.cfg.opensMS == 0 || s.cfg.closes == 0 || ms < s.cfg.opensMS || ms >= s.cfg.closes {
		return admission.Answer{Outcome: admission.Closed, OpensAt: fromMS(s.cfg.opensMS)}
	}
	return admission.Answer{}
}

// takeSeats: level, kind, conservation, seats, caps; then the writes.
func (s *saleState) takeSeats(q admission.Request, n int, ms int64) admission.Answer {
	l, ok := s.cfg.levels[q.Level]
	if !ok {
		return admission.Answer{Outcome: admission.UnknownLevel}
	}
	named := len(q.Seats) > 0
	if (l.kind == "s") != named {
		return admission.Answer{Outcome: admission.BadArgument}
	}
	if named {
		s.dropExpired(q, ms)
	}
	left := len(s.free[q.Level])
	if s.level[q.Level]+left != l.cap {
		return admission.Answer{Outcome: admission.Corrupt}
	}
	chosen := make([]token, 0, n)
	for _, name := range q.Seats {
		t, ok := s.find(q.Level, name)
		if !ok {
			return admission.Answer{Outcome: admission.Taken, TakenSeat: name}
		}
		chosen = append(chosen, t)
	}
	if left < n {
		return admission.Answer{Outcome: admission.LevelFull}
	}
	if s.total+n > s.cfg.cap {
		return admission.Answer{Outcome: admission.SoldOut}
	}
	if !named {
		chosen = append(chosen, s.free[q.Level][:n]...)
	}
	return s.write(q, chosen, named || left == n || s.total+n == s.cfg.cap, ms)
}

func (s *saleState) write(q admission.Request, chosen []token, public bool, ms int64) admission.Answer {
	rec := admission.Record{BookingID: q.BookingID, Candidate: q.Candidate, Level: q.Level, Key: q.Key, InputHash: q.InputHash,
		EmailHash: q.EmailHash, AdmittedAt: fromMS(ms), DriverAt: fromMS(ms), Stage: admission.StageAdmitted, Driver: 1,
		AmountMinor: q.AmountMinor, Currency: q.Currency, HoldUntil: fromMS(ms + s.cfg.holdMS), Gen: q.Gen}
	for _, t := range chosen {
		s.take(q.Level, t.name)
		s.seat[t.name] = q.BookingID
		rec.Tokens, rec.Scores = append(rec.Tokens, t.name), append(rec.Scores, t.score)
	}
	s.total += len(chosen)
	s.level[q.Level] += len(chosen)
	s.seen[q.Candidate] = q.BookingID
	s.bk[q.BookingID] = rec
	s.pending[q.Candidate] = pending{q.BookingID, q.Level, ms}
	a := admission.Answer{Outcome: admission.Admitted, BookingID: q.BookingID, Tokens: slices.Clone(rec.Tokens), Stage: rec.Stage,
		Driver: 1, AdmittedAt: rec.AdmittedAt, HoldUntil: rec.HoldUntil}
	if public {
		a.Version = s.raise()
	}
	return a
}

// freedAtOnce bounds how many other expired soft holds one admission frees.
const freedAtOnce = 20

// dropExpired frees expired soft holds of a seated level: of the wanted seats,
// then a few others.
func (s *saleState) dropExpired(q admission.Request, ms int64) {
	if s.without.ExpiredRefuse {
		return
	}
	for _, name := range q.Seats {
		if end, ok := s.soft[q.Level][s.seat[name]]; ok && end <= ms {
			s.drop(q.Level, s.seat[name])
		}
	}
	var due []token
	for bid, end := range s.soft[q.Level] {
		if end <= ms {
			due = append(due, token{end, bid})
		}
	}
	slices.SortFunc(due, byScore)
	for _, d := range due[:min(len(due), freedAtOnce)] {
		s.drop(q.Level, d.name)
	}
}

// drop releases a soft hold of the level past its deadline.
func (s *saleState) drop(level, bid string) {
	delete(s.soft[level], bid)
	rec, ok := s.bk[bid]
	if !ok || rec.Stage != admission.StageSoft {
		return
	}
	delete(s.bk, bid)
	if s.seen[rec.Candidate] == bid {
		delete(s.seen, rec.Candidate)
	}
	s.release(bid, rec)
	s.raise()
}

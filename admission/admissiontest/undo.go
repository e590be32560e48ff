package admissiontest

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// deadMS is how long an undone id is barred (protocol.md 3.8, lifetimes).
const deadMS = 600_000

// Undo is S2 + WAIT; no promise depends on a quick one, so it waits for nobody.
func (r *Redis) Undo(ctx context.Context, u admission.Undo) (a admission.UndoAnswer, err error) {
	err = r.do(ctx, "Undo", func(f Fault) error {
		r.script(u.Sale, true, func(s *saleState, ms int64) { a = s.undo(u, ms) })
		a.Acknowledged = u.Mode != admission.UndoQuick && (a.Outcome == admission.Undone || a.Outcome == admission.Gone) && r.wait(f)
		return nil
	})
	if err != nil {
		return admission.UndoAnswer{}, err
	}
	return a, nil
}

func (s *saleState) undo(u admission.Undo, ms int64) admission.UndoAnswer {
	if a, done := s.demote(u, ms); done {
		return a
	}
	rec, ok := s.bk[u.BookingID]
	if id := s.seen[u.Candidate]; s.without.ReleaseByCandidate && !ok && s.bk[id].Stage == admission.StageSoft {
		u.BookingID, rec, ok = id, s.bk[id], true
	}
	if ok && u.Mode == admission.UndoQuick && rec.Stage != admission.StageSoft {
		if rec.Stage != admission.StageAdmitted {
			return admission.UndoAnswer{Outcome: admission.Armed}
		}
		if rec.Driver != u.Driver {
			return admission.UndoAnswer{Outcome: admission.Superseded}
		}
	}
	s.dead[u.BookingID] = ms
	for bid, at := range s.dead {
		if at <= ms-deadMS {
			delete(s.dead, bid)
		}
	}
	if !ok {
		return admission.UndoAnswer{Outcome: admission.Gone}
	}
	edge := s.cfg.levels[rec.Level].kind == "s" || len(s.free[rec.Level]) == 0 || s.total == s.cfg.cap
	delete(s.bk, u.BookingID)
	if s.seen[rec.Candidate] == u.BookingID {
		delete(s.seen, rec.Candidate)
	}
	if s.pending[rec.Candidate].bid == u.BookingID {
		delete(s.pending, rec.Candidate)
	}
	delete(s.soft[rec.Level], u.BookingID)
	delete(s.stash, u.BookingID)
	if u.Mode == admission.UndoRelease && rec.Key != "" {
		s.last[rec.Candidate] = lastReleased{u.BookingID, rec.Key, rec.InputHash}
	}
	a := admission.UndoAnswer{Outcome: admission.Undone, Seats: s.release(u.BookingID, rec)}
	if edge {
		a.Version = s.raise()
	}
	return a
}

// Settle is S3.
func (r *Redis) Settle(ctx context.Context, sale, bookingID, candidate string, paid bool) (went bool, err error) {
	err = r.do(ctx, "Settle", func(Fault) error {
		r.script(sale, true, func(s *saleState, _ int64) {
			rec, ok := s.bk[bookingID]
			if ok && s.pending[rec.Candidate].bid == bookingID {
				delete(s.pending, rec.Candidate)
				went = true
			}
			if ok && paid {
				s.pay(rec)
				delete(s.stash, bookingID)
			}
		})
		return nil
	})
	return went && err == nil, err
}

// pay moves a booking to stage P. A soft hold is never in the ledger.
func (s *saleState) pay(rec admission.Record) {
	if rec.Stage != admission.StageAdmitted && rec.Stage != admission.StageAttached {
		return
	}
	rec.Stage = admission.StagePaid
	s.bk[rec.BookingID] = rec
	if l := s.cfg.levels[rec.Level]; l.kind == "s" || s.paid(rec.Level) == l.cap || s.paid("") == s.cfg.cap {
		s.raise()
	}
}

// Attach is S5, with WAIT if asked for.
func (r *Redis) Attach(ctx context.Context, q admission.Attachment) (a admission.AttachAnswer, err error) {
	err = r.do(ctx, "Attach", func(f Fault) error {
		r.script(q.Sale, true, func(s *saleState, ms int64) { a = s.attach(q, ms) })
		attached := a.Outcome == admission.Attached || a.Outcome == admission.AlreadyAttached
		if q.Acknowledge && attached && !r.wait(f) {
			return admission.ErrUnacknowledged
		}
		return nil
	})
	if err != nil {
		return admission.AttachAnswer{}, err
	}
	return a, nil
}

func (s *saleState) attach(q admission.Attachment, ms int64) admission.AttachAnswer {
	rec, ok := s.bk[q.BookingID]
	switch {
	case !ok:
		return admission.AttachAnswer{Outcome: admission.AttachGone}
	case rec.Stage == admission.StageAttached || rec.Stage == admission.StagePaid:
		a := admission.AttachAnswer{Outcome: admission.AlreadyAttached, PaymentID: rec.PaymentID, HoldUntil: rec.HoldUntil}
		if rec.PaymentID == q.PaymentID { // the adapter's reading of HAVE: a repeat of our own
			a.Outcome = admission.Attached
		}
		return a
	case rec.Stage != admission.StageAdmitted || rec.Driver != q.Driver:
		return admission.AttachAnswer{Outcome: admission.AttachSuperseded}
	}
	rec.Stage, rec.PaymentID = admission.StageAttached, q.PaymentID
	rec.HoldUntil = fromMS(max(toMS(rec.HoldUntil), toMS(q.HoldUntil)))
	s.bk[q.BookingID] = rec
	s.stash[q.BookingID] = stash{q.URL, ms + q.StashFor.Milliseconds()}
	return admission.AttachAnswer{Outcome: admission.Attached, PaymentID: q.PaymentID, HoldUntil: rec.HoldUntil}
}

// Resume is S10 + WAIT.
func (r *Redis) Resume(ctx context.Context, sale, bookingID, key, inputHash string, silent time.Duration) (a admission.ResumeAnswer, err error) {
	err = r.do(ctx, "Resume", func(f Fault) error {
		r.script(sale, true, func(s *saleState, ms int64) { a = s.resume(bookingID, key, inputHash, silent, ms) })
		if a.Outcome == admission.Resumed && !r.wait(f) {
			return admission.ErrUnacknowledged
		}
		return nil
	})
	if err != nil {
		return admission.ResumeAnswer{}, err
	}
	return a, nil
}

func (s *saleState) resume(bookingID, key, inputHash string, silent time.Duration, ms int64) admission.ResumeAnswer {
	rec, ok := s.bk[bookingID]
	switch {
	case !ok:
		return admission.ResumeAnswer{Outcome: admission.ResumeGone}
	case key == "" || rec.Key != key || rec.InputHash != inputHash:
		return admission.ResumeAnswer{Outcome: admission.ResumeMismatch}
	case rec.Stage != admission.StageAdmitted:
		return admission.ResumeAnswer{Outcome: admission.ResumeHave, Stage: rec.Stage}
	case ms-toMS(rec.DriverAt) < silent.Milliseconds():
		return admission.ResumeAnswer{Outcome: admission.ResumeBusy}
	}
	rec.Driver++
	rec.DriverAt = fromMS(ms)
	s.bk[bookingID] = rec
	c := copyRecord(rec)
	return admission.ResumeAnswer{Outcome: admission.Resumed, Stage: rec.Stage, Record: &c}
}

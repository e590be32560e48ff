package admissiontest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// read runs f on the sale without changing it.
func (r *Redis) read(ctx context.Context, op, sale string, f func(s *saleState, ms int64) error) error {
	return r.do(ctx, op, func(Fault) (err error) {
		r.script(sale, false, func(s *saleState, ms int64) { err = f(s, ms) })
		return err
	})
}

// Record implements admission.Lookup.
func (r *Redis) Record(ctx context.Context, sale, bookingID string) (rec admission.Record, err error) {
	err = r.read(ctx, "Record", sale, func(s *saleState, _ int64) error {
		found, ok := s.bk[bookingID]
		if !ok {
			return admission.ErrNotFound
		}
		rec = copyRecord(found)
		return nil
	})
	return rec, err
}

// CandidateBooking implements admission.Lookup.
func (r *Redis) CandidateBooking(ctx context.Context, sale, candidate string) (id string, err error) {
	err = r.read(ctx, "CandidateBooking", sale, func(s *saleState, _ int64) error {
		found, ok := s.seen[candidate]
		if !ok {
			return admission.ErrNotFound
		}
		id = found
		return nil
	})
	return id, err
}

// Stash implements admission.Lookup.
func (r *Redis) Stash(ctx context.Context, sale, bookingID string) (url string, err error) {
	err = r.read(ctx, "Stash", sale, func(s *saleState, ms int64) error {
		found, ok := s.stash[bookingID]
		if !ok || found.end <= ms {
			return admission.ErrNotFound
		}
		url = found.url
		return nil
	})
	return url, err
}

// ScanPending implements admission.Sweepable, in the order of the candidates.
func (r *Redis) ScanPending(ctx context.Context, sale string, each func(admission.Pending) error) error {
	var all []admission.Pending
	err := r.read(ctx, "ScanPending", sale, func(s *saleState, ms int64) error {
		for _, ch := range slices.Sorted(maps.Keys(s.pending)) {
			p := s.pending[ch]
			all = append(all, admission.Pending{Candidate: ch, BookingID: p.bid, Level: p.level, Age: time.Duration(ms-p.ms) * time.Millisecond})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// ScanRecords implements admission.Sweepable, in the order of the booking ids.
func (r *Redis) ScanRecords(ctx context.Context, sale string, each func(rec admission.Record, pending bool) error) error {
	var all []admission.Record
	pending := map[string]bool{}
	err := r.read(ctx, "ScanRecords", sale, func(s *saleState, _ int64) error {
		for _, bid := range slices.Sorted(maps.Keys(s.bk)) {
			rec := s.bk[bid]
			all = append(all, copyRecord(rec))
			pending[bid] = s.pending[rec.Candidate].bid == bid
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, rec := range all {
		if err := each(rec, pending[rec.BookingID]); err != nil {
			return err
		}
	}
	return nil
}

// Missing implements admission.Sweepable.
func (r *Redis) Missing(ctx context.Context, sale string, bookingIDs []string) (missing []string, err error) {
	err = r.read(ctx, "Missing", sale, func(s *saleState, _ int64) error {
		for _, id := range bookingIDs {
			if _, ok := s.bk[id]; !ok {
				missing = append(missing, id)
			}
		}
		return nil
	})
	return missing, err
}

// Status implements admission.StatusReader.
func (r *Redis) Status(ctx context.Context, sale string, levels []string) (st admission.Status, err error) {
	err = r.read(ctx, "Status", sale, func(s *saleState, ms int64) error {
		if s.cfg.gen == 0 {
			return admission.ErrNotFound
		}
		st = admission.Status{Sale: sale, Gen: s.cfg.gen, Version: s.cfg.ver, Open: s.cfg.open, OpensAt: fromMS(s.cfg.opensMS),
			ClosesAt: fromMS(s.cfg.closes), Hold: time.Duration(s.cfg.holdMS) * time.Millisecond, Now: fromMS(ms), TotalCap: s.cfg.cap, Used: s.total, RosterVersion: s.cfg.roster,
			RosterSize: len(s.roster), Paid: s.paid(""), Bookings: len(s.bk), Pending: len(s.pending)}
		for _, l := range levels {
			c := s.cfg.levels[l]
			st.Levels = append(st.Levels, admission.LevelStatus{Name: l, Kind: c.kind, Cap: c.cap, Used: s.level[l], Free: len(s.free[l]), Paid: s.paid(l)})
		}
		return nil
	})
	return st, err
}

// AcquireExecute is the execute guard (protocol.md 2.2.4).
func (r *Redis) AcquireExecute(ctx context.Context, sale, paymentID, bookingID string, ttl time.Duration) (granted bool, err error) {
	err = r.do(ctx, "AcquireExecute", func(f Fault) error {
		r.script(sale, true, func(s *saleState, ms int64) {
			if g, held := s.guards[paymentID]; held && g.end > ms {
				return
			}
			s.guards[paymentID] = guard{bookingID, ms + ttl.Milliseconds()}
			granted = true
		})
		if !granted || r.wait(f) {
			return nil
		}
		if f == ShortWait { // the guard is let go
			r.script(sale, true, func(s *saleState, _ int64) { delete(s.guards, paymentID) })
		}
		return admission.ErrUnacknowledged
	})
	return granted && err == nil, err
}

// ReleaseExecute lets the guard go if it is this booking's.
func (r *Redis) ReleaseExecute(ctx context.Context, sale, paymentID, bookingID string) error {
	return r.do(ctx, "ReleaseExecute", func(Fault) error {
		r.script(sale, true, func(s *saleState, _ int64) {
			if s.guards[paymentID].bid == bookingID {
				delete(s.guards, paymentID)
			}
		})
		return nil
	})
}

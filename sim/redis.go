package sim

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
)

// redis is the simulated Redis as one process sees it: each method is a turn.
// It is everything that the doors ask of admission's adapter.
type redis struct {
	p  *process
	in *admissiontest.Redis
}

func (r redis) Admit(ctx context.Context, q admission.Request) (admission.Answer, error) {
	a, err := call(ctx, r.p, "redis.Admit", q.BookingID+" of "+short8(q.Candidate), func(ctx context.Context) (admission.Answer, error) {
		return r.admitted(ctx, q)
	})
	return r.p.town.mutant.admitted(r, q, a, err)
}

func (r redis) Undo(ctx context.Context, u admission.Undo) (admission.UndoAnswer, error) {
	return call(ctx, r.p, "redis.Undo", u.BookingID+" "+string(u.Mode), func(ctx context.Context) (admission.UndoAnswer, error) {
		a, err := r.undone(ctx, u)
		if r.p.town.mutant == mutantUndoUnacknowledged {
			a.Acknowledged = true
		}
		return a, err
	})
}

func (r redis) Settle(ctx context.Context, sale, bookingID, candidate string, paid bool) (bool, error) {
	return call(ctx, r.p, "redis.Settle", bookingID, func(ctx context.Context) (bool, error) {
		return r.in.Settle(ctx, sale, bookingID, candidate, paid)
	})
}

func (r redis) Attach(ctx context.Context, q admission.Attachment) (admission.AttachAnswer, error) {
	return call(ctx, r.p, "redis.Attach", q.BookingID, func(ctx context.Context) (admission.AttachAnswer, error) { return r.in.Attach(ctx, q) })
}

func (r redis) Resume(ctx context.Context, sale, bookingID, key, inputHash string, silent time.Duration) (admission.ResumeAnswer, error) {
	return call(ctx, r.p, "redis.Resume", bookingID, func(ctx context.Context) (admission.ResumeAnswer, error) {
		return r.in.Resume(ctx, sale, bookingID, key, inputHash, silent)
	})
}

func (r redis) Reseed(ctx context.Context, sale string, rec admission.Record) (admission.ReseedAnswer, error) {
	return call(ctx, r.p, "redis.Reseed", rec.BookingID, func(ctx context.Context) (admission.ReseedAnswer, error) {
		return r.in.Reseed(ctx, sale, rec)
	})
}

func (r redis) SetCap(ctx context.Context, c admission.CapChange) (admission.CapAnswer, error) {
	return call(ctx, r.p, "redis.SetCap", c.Level+" "+strconv.Itoa(c.Cap), func(ctx context.Context) (admission.CapAnswer, error) { return r.in.SetCap(ctx, c) })
}

func (r redis) Record(ctx context.Context, sale, bookingID string) (admission.Record, error) {
	return call(ctx, r.p, "redis.Record", bookingID, func(ctx context.Context) (admission.Record, error) { return r.in.Record(ctx, sale, bookingID) })
}

func (r redis) CandidateBooking(ctx context.Context, sale, candidate string) (string, error) {
	return call(ctx, r.p, "redis.CandidateBooking", short8(candidate), func(ctx context.Context) (string, error) {
		return r.in.CandidateBooking(ctx, sale, candidate)
	})
}

func (r redis) Stash(ctx context.Context, sale, bookingID string) (string, error) {
	return call(ctx, r.p, "redis.Stash", bookingID, func(ctx context.Context) (string, error) { return r.in.Stash(ctx, sale, bookingID) })
}

func (r redis) Missing(ctx context.Context, sale string, ids []string) ([]string, error) {
	return call(ctx, r.p, "redis.Missing", "", func(ctx context.Context) ([]string, error) { return r.in.Missing(ctx, sale, ids) })
}

func (r redis) Status(ctx context.Context, sale string, levels []string) (admission.Status, error) {
	return call(ctx, r.p, "redis.Status", "", func(ctx context.Context) (admission.Status, error) { return r.in.Status(ctx, sale, levels) })
}

// walk collects what a listing shows in one turn and hands it out after it.
func walk[T any](ctx context.Context, p *process, op string, list func(ctx context.Context, each func(T) error) error, each func(T) error) error {
	all, err := call(ctx, p, op, "", func(ctx context.Context) ([]T, error) {
		var all []T
		err := list(ctx, func(one T) error { all = append(all, one); return nil })
		return all, err
	})
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := each(one); err != nil {
			return err
		}
	}
	return nil
}

func (r redis) ScanPending(ctx context.Context, sale string, each func(admission.Pending) error) error {
	return walk(ctx, r.p, "redis.ScanPending", func(ctx context.Context, each func(admission.Pending) error) error {
		return r.in.ScanPending(ctx, sale, each)
	}, each)
}

func (r redis) ScanRecords(ctx context.Context, sale string, each func(rec admission.Record, pending bool) error) error {
	type row struct {
		rec     admission.Record
		pending bool
	}
	return walk(ctx, r.p, "redis.ScanRecords", func(ctx context.Context, each func(row) error) error {
		return r.in.ScanRecords(ctx, sale, func(rec admission.Record, pending bool) error { return each(row{rec, pending}) })
	}, func(w row) error { return each(w.rec, w.pending) })
}

func (r redis) ScanRoster(ctx context.Context, sale string, each func(admission.RosterEntry) error) error {
	return walk(ctx, r.p, "redis.ScanRoster", func(ctx context.Context, each func(admission.RosterEntry) error) error {
		return r.in.ScanRoster(ctx, sale, each)
	}, each)
}

// Install is two turns around the rebuild, as the adapter's are.
func (r redis) Install(ctx context.Context, p admission.Plan, rebuild func(ctx context.Context) error) error {
	if v := r.p.town.sched.stand(r.p, "redis.InstallBegin", p.Sale); v.kind == crashed {
		return errCrashed
	}
	r.p.town.touched = true
	return r.in.Install(ctx, p, func(ctx context.Context) error {
		if rebuild != nil {
			if err := rebuild(ctx); err != nil {
				return err
			}
		}
		v := r.p.town.sched.stand(r.p, "redis.InstallFinish", p.Sale)
		if v.kind == crashed {
			return errCrashed
		}
		r.p.town.touched = true
		return nil
	})
}

func (r redis) PutRoster(ctx context.Context, sale string, rows []admission.RosterEntry) error {
	return act(ctx, r.p, "redis.PutRoster", "", func(ctx context.Context) error { return r.in.PutRoster(ctx, sale, rows) })
}

func (r redis) DropRoster(ctx context.Context, sale string, candidates []string) error {
	return act(ctx, r.p, "redis.DropRoster", "", func(ctx context.Context) error { return r.in.DropRoster(ctx, sale, candidates) })
}

func (r redis) SetRosterVersion(ctx context.Context, sale string, gen int64, version string) error {
	return act(ctx, r.p, "redis.SetRosterVersion", version, func(ctx context.Context) error {
		return r.in.SetRosterVersion(ctx, sale, gen, version)
	})
}

func (r redis) SetOpen(ctx context.Context, sale string, gen int64, open bool) (int64, error) {
	return call(ctx, r.p, "redis.SetOpen", strconv.FormatBool(open), func(ctx context.Context) (int64, error) { return r.in.SetOpen(ctx, sale, gen, open) })
}

func (r redis) SetTimes(ctx context.Context, sale string, gen int64, opensAt, closesAt time.Time) (int64, error) {
	return call(ctx, r.p, "redis.SetTimes", "", func(ctx context.Context) (int64, error) { return r.in.SetTimes(ctx, sale, gen, opensAt, closesAt) })
}

func (r redis) SetHold(ctx context.Context, sale string, gen int64, hold time.Duration) error {
	return act(ctx, r.p, "redis.SetHold", hold.String(), func(ctx context.Context) error { return r.in.SetHold(ctx, sale, gen, hold) })
}

func (r redis) AcquireExecute(ctx context.Context, sale, paymentID, bookingID string, ttl time.Duration) (bool, error) {
	return call(ctx, r.p, "redis.AcquireExecute", paymentID, func(ctx context.Context) (bool, error) {
		return r.in.AcquireExecute(ctx, sale, paymentID, bookingID, ttl)
	})
}

func (r redis) ReleaseExecute(ctx context.Context, sale, paymentID, bookingID string) error {
	return act(ctx, r.p, "redis.ReleaseExecute", paymentID, func(ctx context.Context) error {
		return r.in.ReleaseExecute(ctx, sale, paymentID, bookingID)
	})
}

func (r redis) SetMark(ctx context.Context, m admission.Mark) (admission.MarkAnswer, error) {
	return call(ctx, r.p, "redis.SetMark", "", func(ctx context.Context) (admission.MarkAnswer, error) { return r.in.SetMark(ctx, m) })
}

func (r redis) CorrectPaid(ctx context.Context, sale string, gen int64, have, want admission.PaidCounts) (int64, error) {
	return call(ctx, r.p, "redis.CorrectPaid", "", func(ctx context.Context) (int64, error) { return r.in.CorrectPaid(ctx, sale, gen, have, want) })
}

// Health says which primary answers; the nemesis changes it.
func (r redis) Health(ctx context.Context, _ string) (admission.Health, error) {
	return call(ctx, r.p, "redis.Health", "", func(context.Context) (admission.Health, error) { return r.p.town.health, nil })
}

// CheckServer finds the simulated deployment as safe as it is configured.
func (r redis) CheckServer(context.Context, string) error { return nil }

// short8 is enough of a hash to tell candidates apart.
func short8(hash string) string { return hash[:min(len(hash), 8)] }

package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/seats"
	"github.com/holdfast/holdfast/operator"
)

var (
	_ admission.SoftHolder = redis{}
	_ admission.SeatReader = seats.Options{Redis: redis{}}.Redis
	_ admission.SeatEditor = redis{}
	_ operator.Redis       = redis{}
)

func (r redis) Hold(ctx context.Context, q admission.HoldRequest) (admission.HoldAnswer, error) {
	return call(ctx, r.p, "redis.Hold", q.HoldID+" of "+short8(q.Candidate)+" "+strings.Join(q.Seats, ","), func(ctx context.Context) (admission.HoldAnswer, error) {
		w := r.p.town.holds.begin()
		a, err := r.in.Hold(ctx, q)
		w.held(q, a, err)
		return a, err
	})
}

func (r redis) Extend(ctx context.Context, e admission.Extension) (admission.HoldAnswer, error) {
	return call(ctx, r.p, "redis.Extend", e.HoldID, func(ctx context.Context) (admission.HoldAnswer, error) {
		w := r.p.town.holds.begin()
		a, err := r.in.Extend(ctx, e)
		w.extended(e, a)
		return a, err
	})
}

func (r redis) Promote(ctx context.Context, q admission.Request, holdID string) (admission.Answer, error) {
	a, err := call(ctx, r.p, "redis.Promote", q.BookingID+" from "+holdID, func(ctx context.Context) (admission.Answer, error) {
		w := r.p.town.holds.begin()
		a, err := r.in.Promote(ctx, q, holdID)
		w.promoted(q, holdID, a, err)
		return a, err
	})
	return r.p.town.mutant.promoted(r, q, a, err)
}

func (r redis) Lapse(ctx context.Context, sale, level string, limit int) (int, int64, error) {
	type lapsed struct {
		n       int
		version int64
	}
	l, err := call(ctx, r.p, "redis.Lapse", level, func(ctx context.Context) (l lapsed, err error) {
		w := r.p.town.holds.begin()
		l.n, l.version, err = r.in.Lapse(ctx, sale, level, limit)
		w.nobodys("Lapse")
		return l, err
	})
	return l.n, l.version, err
}

func (r redis) SeatVersion(ctx context.Context, sale string) (gen, version int64, err error) {
	type versions struct{ gen, version int64 }
	v, err := call(ctx, r.p, "redis.SeatVersion", "", func(ctx context.Context) (v versions, err error) {
		v.gen, v.version, err = r.in.SeatVersion(ctx, sale)
		return v, err
	})
	return v.gen, v.version, err
}

func (r redis) Seats(ctx context.Context, sale string, levels []string) (admission.SeatMap, error) {
	return call(ctx, r.p, "redis.Seats", "", func(ctx context.Context) (admission.SeatMap, error) { return r.in.Seats(ctx, sale, levels) })
}

func (r redis) ScanFree(ctx context.Context, sale, level string, each func(string) error) error {
	return walk(ctx, r.p, "redis.ScanFree", func(ctx context.Context, each func(string) error) error { return r.in.ScanFree(ctx, sale, level, each) }, each)
}

func (r redis) EditSeats(ctx context.Context, e admission.SeatEdit) (admission.SeatEditAnswer, error) {
	return call(ctx, r.p, "redis.EditSeats", string(e.Op)+" "+strings.Join(e.Seats, ","), func(ctx context.Context) (admission.SeatEditAnswer, error) {
		w := r.p.town.holds.begin()
		a, err := r.in.EditSeats(ctx, e)
		if !errors.Is(err, admission.ErrMoved) {
			w.edited(e, a)
		}
		return a, err
	})
}

// undone watches an undo, by whomever: it may end the hold of its own id alone.
func (r redis) undone(ctx context.Context, u admission.Undo) (admission.UndoAnswer, error) {
	w := r.p.town.holds.begin()
	a, err := r.in.Undo(ctx, u)
	w.ended(u.BookingID, "Undo")
	return a, err
}

// admitted watches an admission: no expired hold may refuse it.
func (r redis) admitted(ctx context.Context, q admission.Request) (admission.Answer, error) {
	w := r.p.town.holds.begin()
	a, err := r.in.Admit(ctx, q)
	w.nobodys("Admit")
	if a.Outcome == admission.Taken {
		w.refusedBy([]string{a.TakenSeat})
	}
	return a, err
}

// moment is the simulated Redis TIME.
func moment() int64 { return time.Now().UnixMilli() }

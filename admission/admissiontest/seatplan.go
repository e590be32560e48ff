package admissiontest

import (
	"context"

	"github.com/holdfast/holdfast/admission"
)

var _ admission.SeatEditor = (*Redis)(nil)

// EditSeats implements admission.SeatEditor.
func (r *Redis) EditSeats(ctx context.Context, e admission.SeatEdit) (a admission.SeatEditAnswer, err error) {
	err = r.do(ctx, "EditSeats", func(f Fault) (err error) {
		r.script(e.Sale, e.Op != admission.CheckSeats, func(s *saleState, _ int64) { a, err = s.editSeats(e) })
		if err == nil && a.Held == nil && e.Op != admission.CheckSeats && !r.wait(f) {
			return admission.ErrUnacknowledged
		}
		return err
	})
	return a, err
}

func (s *saleState) editSeats(e admission.SeatEdit) (a admission.SeatEditAnswer, err error) {
	l, ok := s.cfg.levels[e.Level]
	switch {
	case s.cfg.gen == 0 || s.cfg.gen != e.Gen:
		return a, admission.ErrStaleGen
	case !ok || l.kind != "s":
		return a, admission.ErrNotFound
	case s.level[e.Level]+len(s.free[e.Level]) != l.cap:
		return a, admission.ErrCorrupt
	}
	if e.Op != admission.AddSeats {
		for _, name := range e.Seats {
			if _, owned := s.seat[name]; owned {
				a.Held = append(a.Held, name)
			}
		}
		if a.Held != nil || e.Op == admission.CheckSeats {
			a.Cap = l.cap
			return a, nil
		}
	}
	for i, name := range e.Seats {
		_, free := s.find(e.Level, name)
		_, owned := s.seat[name]
		switch {
		case e.Op == admission.DropSeats && free:
			s.take(e.Level, name)
			l.cap--
			a.Changed++
		case e.Op == admission.AddSeats && free:
			s.take(e.Level, name)
			s.put(e.Level, token{e.Scores[i], name})
		case e.Op == admission.AddSeats && !owned:
			s.put(e.Level, token{e.Scores[i], name})
			l.cap++
			a.Changed++
		}
	}
	a.Cap = l.cap
	if a.Changed > 0 {
		s.cfg.levels[e.Level] = l
		a.Version = s.raise()
	}
	return a, nil
}

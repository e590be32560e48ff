package admissiontest

import (
	"context"

	"github.com/holdfast/holdfast/admission"
)

var (
	_ admission.SeatEditor  = (*Redis)(nil)
	_ admission.FreeScanner = (*Redis)(nil)
)

// EditSeats implements admission.SeatEditor.
func (r *Redis) EditSeats(ctx context.Context, e admission.SeatEdit) (a admission.SeatEditAnswer, err error) {
	writes := e.Op == admission.DropSeats || e.Op == admission.AddSeats
	err = r.do(ctx, "EditSeats", func(f Fault) (err error) {
		r.script(e.Sale, writes, func(s *saleState, _ int64) { a, err = s.editSeats(e) })
		if err == nil && a.Held == nil && writes && !r.wait(f) {
			return admission.ErrUnacknowledged
		}
		return err
	})
	return a, err
}

func (s *saleState) missingSeats(e admission.SeatEdit, levelCap int) admission.SeatEditAnswer {
	a := admission.SeatEditAnswer{Cap: levelCap}
	for _, name := range e.Seats {
		_, free := s.find(e.Level, name)
		if _, owned := s.seat[name]; !free && !owned {
			a.Missing = append(a.Missing, name)
		}
	}
	return a
}

// ScanFree implements admission.FreeScanner.
func (r *Redis) ScanFree(ctx context.Context, saleID, level string, each func(token string) error) (err error) {
	var free []token
	err = r.do(ctx, "ScanFree", func(Fault) error {
		r.script(saleID, false, func(s *saleState, _ int64) { free = s.free[level] })
		return nil
	})
	for _, t := range free {
		if err == nil {
			err = each(t.name)
		}
	}
	return err
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
	case e.Op == admission.MissingSeats:
		return s.missingSeats(e, l.cap), nil
	case e.Op != admission.CheckSeats && e.Serial < s.cfg.edit:
		return a, admission.ErrMoved
	}
	if e.Op != admission.AddSeats {
		for _, name := range e.Seats {
			if _, owned := s.seat[name]; owned {
				a.Held = append(a.Held, name)
			}
		}
		if a.Held != nil {
			return a, nil
		}
	}
	if e.Op == admission.CheckSeats {
		a.Cap = l.cap
		return a, nil
	}
	s.cfg.edit = e.Serial
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

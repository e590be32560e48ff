package admissiontest

import (
	"context"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// Reseed is S4 + WAIT.
func (r *Redis) Reseed(ctx context.Context, saleID string, rec admission.Record) (a admission.ReseedAnswer, err error) {
	err = r.do(ctx, "Reseed", func(f Fault) error {
		r.script(saleID, true, func(s *saleState, _ int64) { a = s.reseed(rec) })
		a.Acknowledged = a.Outcome == admission.Reseeded && r.wait(f)
		return nil
	})
	if err != nil {
		return admission.ReseedAnswer{}, err
	}
	return a, nil
}

func (s *saleState) reseed(rec admission.Record) admission.ReseedAnswer {
	if _, dead := s.dead[rec.BookingID]; dead {
		return admission.ReseedAnswer{Outcome: admission.ReseedDead}
	}
	if _, have := s.bk[rec.BookingID]; have {
		return admission.ReseedAnswer{Outcome: admission.ReseedHave}
	}
	if cur, ok := s.seen[rec.Candidate]; ok {
		return admission.ReseedAnswer{Outcome: admission.ReseedCandidate, Other: cur}
	}
	l, known := s.cfg.levels[rec.Level]
	left := len(s.free[rec.Level])
	if !known || s.level[rec.Level]+left != l.cap {
		return admission.ReseedAnswer{Outcome: admission.ReseedCorrupt}
	}
	var own []string
	nowhere := 0
	for _, name := range rec.Tokens {
		if o, taken := s.seat[name]; taken {
			return admission.ReseedAnswer{Outcome: admission.ReseedSeat, Other: o}
		}
		if _, free := s.find(rec.Level, name); free {
			own = append(own, name)
		} else {
			nowhere++
		}
	}
	n := len(rec.Tokens)
	if left < n {
		return admission.ReseedAnswer{Outcome: admission.ReseedNoFree}
	}
	for _, name := range own {
		s.take(rec.Level, name)
	}
	s.free[rec.Level] = s.free[rec.Level][:len(s.free[rec.Level])-nowhere]
	s.total += n
	s.level[rec.Level] += n
	for _, name := range rec.Tokens {
		s.seat[name] = rec.BookingID
	}
	s.seen[rec.Candidate] = rec.BookingID
	s.bk[rec.BookingID] = copyRecord(rec)
	return admission.ReseedAnswer{Outcome: admission.Reseeded, Retired: nowhere, Version: s.raise()}
}

// mintAtOnce bounds the tokens that one call of S9 mints.
const mintAtOnce = 1000

// SetCap is S9 + WAIT.
func (r *Redis) SetCap(ctx context.Context, c admission.CapChange) (a admission.CapAnswer, err error) {
	err = r.do(ctx, "SetCap", func(f Fault) error {
		r.script(c.Sale, true, func(s *saleState, _ int64) { a = s.setCap(c) })
		a.Acknowledged = a.Outcome == admission.CapSet && r.wait(f)
		return nil
	})
	if err != nil {
		return admission.CapAnswer{}, err
	}
	return a, nil
}

func (s *saleState) setCap(c admission.CapChange) admission.CapAnswer {
	if c.Cap < 0 {
		return admission.CapAnswer{Outcome: admission.CapBad}
	}
	if s.cfg.gen == 0 || s.cfg.gen != c.Gen {
		return admission.CapAnswer{Outcome: admission.CapGen}
	}
	if c.Serial < s.cfg.change {
		return admission.CapAnswer{Outcome: admission.CapLate}
	}
	if c.Level == "" {
		if c.Cap < s.total {
			return admission.CapAnswer{Outcome: admission.CapUsed, Used: s.total, Cap: s.cfg.cap}
		}
		s.cfg.cap, s.cfg.change = c.Cap, c.Serial
		return admission.CapAnswer{Outcome: admission.CapSet, Cap: c.Cap, Version: s.raise()}
	}
	l, ok := s.cfg.levels[c.Level]
	if ok && l.kind == "s" {
		return admission.CapAnswer{Outcome: admission.CapSeated}
	}
	if !ok {
		return admission.CapAnswer{Outcome: admission.CapNoLevel}
	}
	used, left := s.level[c.Level], len(s.free[c.Level])
	if used+left != l.cap {
		return admission.CapAnswer{Outcome: admission.CapCorrupt}
	}
	if c.Cap < used {
		return admission.CapAnswer{Outcome: admission.CapUsed, Used: used, Cap: l.cap}
	}
	if c.Cap < l.cap {
		s.free[c.Level] = s.free[c.Level][:left-(l.cap-c.Cap)]
		l.cap = c.Cap
	} else if c.Cap > l.cap {
		step, first := min(c.Cap-l.cap, mintAtOnce), max(l.next, max(c.First, 1))
		for n := first; n < first+step; n++ {
			s.put(c.Level, token{int64(n), sale.TokenName(c.Level, n)})
		}
		l.cap, l.next = l.cap+step, first+step
	}
	s.cfg.levels[c.Level], s.cfg.change = l, c.Serial
	return admission.CapAnswer{Outcome: admission.CapSet, Cap: l.cap, Next: l.next, Version: s.raise()}
}

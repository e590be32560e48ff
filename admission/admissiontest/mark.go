package admissiontest

import (
	"context"

	"github.com/holdfast/holdfast/admission"
)

var _ admission.Marker = (*Redis)(nil)

// SetMark implements admission.Marker.
func (r *Redis) SetMark(ctx context.Context, m admission.Mark) (a admission.MarkAnswer, err error) {
	err = r.do(ctx, "SetMark", func(f Fault) error {
		cfg := r.state.sale(m.Sale).cfg
		if cfg.gen == 0 || cfg.gen != m.Gen {
			a.Acknowledged = r.wait(f)
			return admission.ErrStaleGen
		}
		r.script(m.Sale, true, func(s *saleState, _ int64) {
			if s.cfg.mark == m.Known {
				s.cfg.mark, s.cfg.marked = m.Next, m.Known
			}
			if s.cfg.marked == m.Known {
				a.Mark = s.cfg.mark
			}
		})
		a.Acknowledged = r.wait(f)
		return nil
	})
	return a, err
}

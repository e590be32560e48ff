package admissiontest

import (
	"context"

	"github.com/holdfast/holdfast/admission"
)

var _ admission.PaidCorrector = (*Redis)(nil)

// CorrectPaid implements admission.PaidCorrector. Here the numbers are those of
// the records at any time: nothing is ever to be put right.
func (r *Redis) CorrectPaid(ctx context.Context, sale string, gen int64, have, want admission.PaidCounts) (version int64, err error) {
	err = r.do(ctx, "CorrectPaid", func(Fault) error {
		if cfg := r.state.sale(sale).cfg; cfg.gen == 0 || cfg.gen != gen {
			return admission.ErrStaleGen
		}
		return admission.ErrMoved
	})
	return version, err
}

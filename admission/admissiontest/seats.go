package admissiontest

import (
	"context"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/admission"
)

// SeatVersion implements admission.SeatReader.
func (r *Redis) SeatVersion(ctx context.Context, sale string) (gen, version int64, err error) {
	err = r.read(ctx, "SeatVersion", sale, func(s *saleState, _ int64) error {
		if gen, version = s.cfg.gen, s.cfg.ver; gen == 0 {
			return admission.ErrNotFound
		}
		return nil
	})
	return gen, version, err
}

// Seats implements admission.SeatReader, in the order of the ids.
func (r *Redis) Seats(ctx context.Context, sale string, levels []string) (m admission.SeatMap, err error) {
	err = r.read(ctx, "Seats", sale, func(s *saleState, ms int64) error {
		if s.cfg.gen == 0 {
			return admission.ErrNotFound
		}
		m = admission.SeatMap{Gen: s.cfg.gen, Version: s.cfg.ver, Now: fromMS(ms)}
		for _, id := range slices.Sorted(maps.Keys(s.bk)) {
			if rec := s.bk[id]; slices.Contains(levels, rec.Level) {
				m.Holders = append(m.Holders, admission.Holder{ID: id, Level: rec.Level, Stage: rec.Stage, Until: rec.HoldUntil, Seats: slices.Clone(rec.Tokens)})
			}
		}
		return nil
	})
	return m, err
}

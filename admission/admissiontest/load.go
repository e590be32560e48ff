package admissiontest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// Install implements admission.Loader.
func (r *Redis) Install(ctx context.Context, p admission.Plan, rebuild func(ctx context.Context) error) error {
	err := r.do(ctx, "Install", func(Fault) error {
		if r.state.sale(p.Sale).cfg.gen >= p.Gen {
			return admission.ErrInstalled
		}
		r.script(p.Sale, true, func(s *saleState, _ int64) {
			s.clear()
			s.installLevels(p)
		})
		return nil
	})
	if err != nil {
		return err
	}
	if rebuild != nil {
		if err := rebuild(ctx); err != nil {
			return err
		}
	}
	return r.do(ctx, "InstallFinish", func(f Fault) error {
		r.script(p.Sale, true, func(s *saleState, _ int64) {
			s.cfg.gen, s.cfg.open, s.cfg.roster, s.cfg.cap = p.Gen, p.Open, p.RosterVersion, p.TotalCap
			s.cfg.opensMS, s.cfg.closes, s.cfg.holdMS = toMS(p.OpensAt), toMS(p.ClosesAt), p.Hold.Milliseconds()
			s.raise()
		})
		if !r.wait(f) {
			return admission.ErrUnacknowledged
		}
		return nil
	})
}

// clear is install_begin: all keys of the sale go but those that belong to one
// payment or booking, and what the public sees never goes back.
func (s *saleState) clear() {
	fresh := newSaleState()
	fresh.cfg.ver, fresh.cfg.replays = s.cfg.ver, s.cfg.replays
	fresh.stash, fresh.guards = s.stash, s.guards
	*s = *fresh
}

// installLevels mints the Cap tokens before Next, or takes the names of a seated
// level.
func (s *saleState) installLevels(p admission.Plan) {
	for _, l := range p.Levels {
		s.cfg.levels[l.Name] = levelConfig{cap: l.Cap, next: l.Next, kind: l.Kind}
		if l.Kind == string(sale.KindSeated) {
			for i, name := range l.Tokens {
				s.put(l.Name, token{int64(i + 1), name})
			}
			continue
		}
		for n := l.Next - l.Cap; n < l.Next; n++ {
			s.put(l.Name, token{int64(n), sale.TokenName(l.Name, n)})
		}
	}
}

// PutRoster implements admission.Loader.
func (r *Redis) PutRoster(ctx context.Context, saleID string, rows []admission.RosterEntry) error {
	return r.do(ctx, "PutRoster", func(Fault) error {
		r.script(saleID, true, func(s *saleState, _ int64) {
			for _, row := range rows {
				row.Levels = slices.Clone(row.Levels)
				s.roster[row.Candidate] = row
			}
		})
		return nil
	})
}

// DropRoster implements admission.Loader.
func (r *Redis) DropRoster(ctx context.Context, saleID string, candidates []string) error {
	return r.do(ctx, "DropRoster", func(Fault) error {
		r.script(saleID, true, func(s *saleState, _ int64) {
			for _, ch := range candidates {
				delete(s.roster, ch)
			}
		})
		return nil
	})
}

// ScanRoster implements admission.Loader, in the order of the candidates.
func (r *Redis) ScanRoster(ctx context.Context, saleID string, each func(admission.RosterEntry) error) error {
	var all []admission.RosterEntry
	err := r.read(ctx, "ScanRoster", saleID, func(s *saleState, _ int64) error {
		for _, ch := range slices.Sorted(maps.Keys(s.roster)) {
			all = append(all, s.roster[ch])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range all {
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}

// SetRosterVersion implements admission.Loader.
func (r *Redis) SetRosterVersion(ctx context.Context, saleID string, gen int64, version string) error {
	_, err := r.control(ctx, "SetRosterVersion", saleID, gen, func(c *config) { c.roster = version })
	return err
}

// SetOpen implements admission.Loader.
func (r *Redis) SetOpen(ctx context.Context, saleID string, gen int64, open bool) (int64, error) {
	return r.control(ctx, "SetOpen", saleID, gen, func(c *config) { c.open = open; c.ver++ })
}

// SetTimes implements admission.Loader.
func (r *Redis) SetTimes(ctx context.Context, saleID string, gen int64, opensAt, closesAt time.Time) (int64, error) {
	return r.control(ctx, "SetTimes", saleID, gen, func(c *config) {
		c.opensMS, c.closes = toMS(opensAt), toMS(closesAt)
		c.ver++
	})
}

// SetHold implements admission.Loader.
func (r *Redis) SetHold(ctx context.Context, saleID string, gen int64, hold time.Duration) error {
	_, err := r.control(ctx, "SetHold", saleID, gen, func(c *config) { c.holdMS = hold.Milliseconds() })
	return err
}

func (r *Redis) control(ctx context.Context, op, saleID string, gen int64, change func(*config)) (version int64, err error) {
	err = r.do(ctx, op, func(f Fault) error {
		if have := r.state.sale(saleID).cfg.gen; have == 0 || have != gen {
			return admission.ErrStaleGen
		}
		r.script(saleID, true, func(s *saleState, _ int64) {
			change(&s.cfg)
			version = s.cfg.ver
		})
		if !r.wait(f) {
			return admission.ErrUnacknowledged
		}
		return nil
	})
	return version, err
}

package main

import (
	"context"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
)

// gated is how a storm's requests pass the roster and the opening.
type gated int

const (
	proven gated = iota // not at all, as an admission that its own event proves
	folded              // in the script, with a row of the roster each
	local               // by the snapshot of the process
)

// gatedRate is admissions per second with gates. All of them meet the same
// roster, so that the primary holds as much in each case.
func (g *ground) gatedRate(how gated) func(context.Context) (float64, error) {
	return func(ctx context.Context) (rate float64, err error) {
		err = g.ours(ctx, g.primary(), stormSeats, stormSeats, groupDefaults, func(admitter) error {
			s, err := g.store(g.primary())
			if err != nil {
				return err
			}
			defer s.Close()
			if err := s.PutRoster(ctx, g.sale, g.nextRows(stormSeats/2)); err != nil {
				return err
			}
			t, err := storm(ctx, 1024, second, g.gatedAdmitter(ctx, s, how))
			rate = t.rate
			return err
		})
		return rate, err
	}
}

// nextRows are the rows of the candidates that a storm will have.
func (g *ground) nextRows(n int) []admission.RosterEntry {
	from := candidates.Load()
	rows := make([]admission.RosterEntry, n)
	for i := range rows {
		r := g.request(candidateName(from + int64(i) + 1))
		rows[i] = admission.RosterEntry{Candidate: r.Candidate, EmailHash: r.EmailHash}
	}
	return rows
}

func (g *ground) gatedAdmitter(ctx context.Context, s *admredis.Store, how gated) admitter {
	var next admission.Admitter = admredis.NewCommitter(s, groupDefaults)
	version := admission.ProvenRoster
	switch how {
	case folded:
		version = ""
	case local:
		gates := admredis.NewGates(s, next)
		gates.Watch(g.sale, []string{level})
		if err := gates.Refresh(ctx, g.sale); err != nil {
			return func(context.Context, string) (bool, error) { return false, err }
		}
		next, version = gates, ""
	}
	return func(ctx context.Context, candidate string) (bool, error) {
		r := g.request(candidate)
		r.RosterVersion = version
		a, err := next.Admit(ctx, r)
		return err == nil && a.Outcome == admission.Admitted, err
	}
}

func (g *ground) gateContests() []contest {
	const persec = "admissions/s"
	return []contest{
		{"gates, local snapshot / none, 1,024 callers", persec, 0.8, 0.97, false, g.gatedRate(local), g.gatedRate(proven)},
		{"gates, folded into the script / none, 1,024 callers", persec, 0.8, 0.97, false, g.gatedRate(folded), g.gatedRate(proven)},
	}
}

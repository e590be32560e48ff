package reaper

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
)

// Auditor reads everything and holds it to the invariants (protocol.md 5.3). It
// writes nothing.
type Auditor struct{ *tools }

// auditLooks is how often everything is read before a violation is believed.
const auditLooks = 3

// Audit audits a running sale. See AuditWith.
func (a *Auditor) Audit(ctx context.Context, saleID string) (AuditResult, error) {
	return a.AuditWith(ctx, saleID, AuditOptions{})
}

// AuditWith reads ledger, Redis and gateways and runs every invariant. What is
// read is not of one instant, so a violation is only a suspicion: all is read
// again, and only what is violated for the same id every time is reported. An
// error means that something could be read only in part, and nothing is said.
func (a *Auditor) AuditWith(ctx context.Context, saleID string, o AuditOptions) (AuditResult, error) {
	r, err := a.audit(ctx, saleID, o)
	a.Metrics.Audited(r, err)
	return r, err
}

func (a *Auditor) audit(ctx context.Context, saleID string, o AuditOptions) (AuditResult, error) {
	began := a.now()
	var r AuditResult
	var suspects []invariant.Violation
	var earlier map[string]ledger.State
	for n := 1; n <= auditLooks; n++ {
		l, err := a.look(ctx, saleID)
		if err != nil {
			return AuditResult{Sale: saleID, At: began}, err
		}
		l.snapshot.Earlier, l.snapshot.Acked = earlier, o.Acked
		found := l.violations(o.AtRest)
		r = l.result
		r.Looks = n
		if n > 1 {
			found = same(suspects, found)
		}
		if suspects = found; len(suspects) == 0 {
			break
		}
		earlier = states(l.snapshot)
	}
	r.Sale, r.At, r.Took = saleID, began, a.now().Sub(began)
	for _, v := range suspects {
		r.Violations = append(r.Violations, violation(v))
	}
	r.OK = len(r.Violations) == 0 && !r.Frozen
	if len(r.Violations) > 0 {
		first := r.Violations[0]
		a.alarm(AlarmAudit, saleID, "", fmt.Sprintf("%d violations, the first: %s %s: %s", len(r.Violations), first.Invariant, first.ID, first.Detail))
	}
	return r, nil
}

// same keeps the violations of now that were found for the same thing before.
func same(before, now []invariant.Violation) []invariant.Violation {
	type about struct{ invariant, id string }
	known := map[about]bool{}
	for _, v := range before {
		known[about{v.Invariant, v.ID}] = true
	}
	return slices.DeleteFunc(now, func(v invariant.Violation) bool { return !known[about{v.Invariant, v.ID}] })
}

func states(s *invariant.Snapshot) map[string]ledger.State {
	m := make(map[string]ledger.State, len(s.Bookings))
	for id, b := range s.Bookings {
		m[id] = b.State
	}
	return m
}

// violations runs the invariants. Conservation of a sale that moved while it was
// read is judged by the counters of one script alone.
func (l *look) violations(atRest bool) []invariant.Violation {
	check := invariant.Check
	if atRest {
		check = invariant.CheckQuiet
	}
	found := check(*l.snapshot)
	for _, s := range l.status.Levels {
		if s.Used+s.Free != s.Cap {
			found = append(found, invariant.Violation{Invariant: "Conserve", ID: s.Name,
				Detail: fmt.Sprintf("%d given and %d free are not the cap of %d in Redis", s.Used, s.Free, s.Cap)})
		}
	}
	return found
}

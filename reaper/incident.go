package reaper

import (
	"context"

	"github.com/holdfast/holdfast/ledger"
)

// What the watch, the sweep and the rebuild write into the sale's trail, beside the acts of
// operators, so that people see it on the console and in the report.
const (
	IncidentFailover = "failover"
	IncidentFrozen   = "frozen"
	IncidentRebuilt  = "rebuilt"

	IncidentBreakerOpened = "breaker_opened"
	IncidentBreakerClosed = "breaker_closed"
)

// incident is for people alone: what it tells of has been done, and goes on if
// the ledger does not take it.
func (t *tools) incident(ctx context.Context, saleID, what, why, before, after string) {
	e := ledger.AuditEntry{At: t.now(), Actor: Actor, Action: what, Reason: why, Before: before, After: after}
	if err := t.store.AppendAudit(ctx, saleID, e); err != nil {
		t.log.WarnContext(ctx, "an incident is missing in the trail", "sale", saleID, "incident", what, "err", err)
	}
}
